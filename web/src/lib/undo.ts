// A person's own undo: done at once, and told with the way back.
import { ask, type Reply } from './api';
import { lock } from './lock.svelte';
import { router, pathTo } from './router.svelte';
import { server } from './server.svelte';
import { toasts } from './toasts.svelte';
import { waits, type Pending, type Result } from './types';

/** undo takes a change back, and reports whether that was done. What was written since elsewhere in the note stays. */
export function undo(operation: string): Promise<boolean> {
  return revert(lock.open(() => ask('undoOperation', { path: { id: operation }, query: { meant: 1 }, body: { merge: true } })), 'Undone.', () => redo(operation), 'Redo');
}

/** redo makes a change again that was undone. */
export function redo(operation: string): Promise<boolean> {
  return revert(lock.open(() => ask('redoOperation', { path: { id: operation }, query: { meant: 1 }, body: { merge: true } })), 'Redone.', () => undo(operation), 'Undo');
}

/** undoRun takes back everything that a run of an assistant did. */
export function undoRun(run: string): Promise<boolean> {
  return revert(server.act('take-back', { run }) as Promise<Reply<Result | Pending>>, 'Undone.');
}

async function revert(sent: Promise<Reply<Result | Pending> | { ok: true; value: Result | Pending } | { ok: false; problem: Parameters<typeof server.tell>[0] }>, words: string, back?: () => Promise<boolean>, label = ''): Promise<boolean> {
  const r = await sent;
  if (!r.ok) {
    server.tell(r.problem);
    return false;
  }
  if (waits(r.value)) {
    toasts.say('This needs your approval.', 'info', { about: r.value.pending_operation_id });
    router.go(pathTo('approvals', r.value.pending_operation_id));
    return false;
  }
  toasts.say(words, 'good', back ? { act: { label, run: () => void back() } } : {});
  return true;
}

/** done tells of a person's own act, with its undo. What gave notes other paths says with undone how to follow them back. */
export function done(text: string, operation: string | undefined, undone?: () => Promise<void>): void {
  if (!operation) return toasts.say(text, 'good');
  const back = async (): Promise<void> => void ((await undo(operation)) && (await undone?.()));
  toasts.say(text, 'good', { act: { label: 'Undo', run: () => void (undone ? server.move(back) : back()) } });
}

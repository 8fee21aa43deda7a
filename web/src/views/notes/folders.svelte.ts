// Notes and folders that a person moves, renames, creates and deletes in the tree.
import { words } from '../../lib/api';
import { router, pathTo } from '../../lib/router.svelte';
import { server } from '../../lib/server.svelte';
import { tabs } from '../../lib/tabs.svelte';
import { done } from '../../lib/undo';
import { waits } from '../../lib/types';
import { count } from '../../lib/when';
import { folderOf } from './tree';

const key = 'lore.folders';

/** Empty folders: a vault has only folders with files in them, so these are kept here until a note is in them. */
class Empty {
  list = $state.raw<readonly string[]>([]);
  constructor() {
    try {
      const v: unknown = JSON.parse(sessionStorage.getItem(key) ?? '[]');
      if (Array.isArray(v)) this.list = v.filter((f): f is string => typeof f === 'string' && !!f);
    } catch {
      // a browser that stores nothing has none
    }
  }
  set(list: readonly string[]): void {
    this.list = list;
    try {
      sessionStorage.setItem(key, JSON.stringify(list));
    } catch {
      // they last until the page is closed
    }
  }
}
export const empty = new Empty();

/** Something in the tree. */
export interface Thing {
  kind: 'folder' | 'note';
  path: string;
}

/** placed is the path that a thing has in a folder; nothing when it is there already, or cannot be. */
export function placed(t: Thing, folder: string): string | undefined {
  const to = (folder ? folder + '/' : '') + t.path.slice(t.path.lastIndexOf('/') + 1);
  if (to === t.path || (t.kind === 'folder' && (folder === t.path || folder.startsWith(t.path + '/')))) return undefined;
  return to;
}

/** cleaned is a path of a folder as it was typed, without what it cannot begin or end with. */
export function cleaned(typed: string): string {
  return typed.split('/').map((p) => p.trim()).filter(Boolean).join('/');
}

/** planned says what a move comes to, in words. */
export async function planned(t: Thing, to: string): Promise<{ ok: boolean; text: string }> {
  if (empty.list.includes(t.path)) return { ok: true, text: 'This folder has no notes yet.' };
  const r = await server.plan<{ preview?: { details?: { links_updated: number; moved?: number } } }>(...call(t, to));
  if (!r.ok) return { ok: false, text: words(r.problem) };
  const d = r.value.preview?.details;
  return { ok: true, text: `${t.kind === 'folder' ? `Moves ${count(d?.moved ?? 0, 'file')} and updates` : 'Updates'} ${count(d?.links_updated ?? 0, 'link')}.` };
}

function call(t: Thing, to: string): [role: string, args: Record<string, unknown>] {
  return t.kind === 'folder' ? ['move-folder', { folder: t.path, to }] : ['rename-note', { path: t.path, new_path: to }];
}

/** move gives a note or a folder another path, and tells what followed, with the way back. follow is told where each note went. */
export async function move(t: Thing, to: string, follow: (to: (path: string) => string) => Promise<void>): Promise<string> {
  const isIn = (p: string): boolean => p === t.path || (t.kind === 'folder' && p.startsWith(t.path + '/'));
  const moved = (p: string): string => (isIn(p) ? to + p.slice(t.path.length) : p);
  const back = (p: string): string => (p === to || (t.kind === 'folder' && p.startsWith(to + '/')) ? t.path + p.slice(to.length) : p);
  const went = (where: typeof moved): Promise<void> => (tabs.move(where), follow(where));
  if (t.kind === 'folder' && empty.list.includes(t.path)) {
    empty.set(empty.list.map(moved)); // nothing of it is on disk yet
    return '';
  }
  return server.move(() => send());

  async function send(): Promise<string> {
    const r = await server.act<{ new_path: string; links_updated: number }>(...call(t, to));
    if (!r.ok) return words(r.problem);
    if (waits(r.value)) {
      router.go(pathTo('approvals', r.value.pending_operation_id));
      return '';
    }
    const where = folderOf(to);
    const name = to.slice(to.lastIndexOf('/') + 1).replace(/\.md$/i, '');
    done(folderOf(t.path) === where ? `Renamed to ${name}. ${count(r.value.links_updated, 'link')} updated.` : `Moved ${name} to ${where || 'the top folder'}. ${count(r.value.links_updated, 'link')} updated.`, r.value.operation_id, () => went(back));
    await went(moved);
    return '';
  }
}

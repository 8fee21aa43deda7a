// What was done, as a person tells it: by day, by who did it, one sentence each.
// Pure, so that it can be proved.
import type { Called } from '../../lib/types';
import { count } from '../../lib/when';

/** A Run is what one caller did in a row. */
export interface Run {
  /** Of its newest call: it stays the same when earlier ones are loaded. */
  key: number;
  kind: string;
  id: string;
  time: string;
  calls: Called[];
}

export interface Day {
  day: string;
  runs: Run[];
}

/** isTold leaves out reads that succeeded: they changed nothing. */
export function isTold(c: Called, reads: ReadonlySet<string>): boolean {
  return !reads.has(c.tool) || !!c.operation_id || !['done', 'dry_run'].includes(c.status);
}

/** withoutAnswered leaves out questions that were answered: what came of them is told. */
export function withoutAnswered(calls: readonly Called[]): Called[] {
  const over = new Set(calls.filter((c) => c.status !== 'pending').map((c) => c.pending_operation_id));
  return calls.filter((c) => c.status !== 'pending' || !c.pending_operation_id || !over.has(c.pending_operation_id));
}

// A caller that was away for longer begins anew.
const pause = 30 * 60_000;

/** daysOf puts calls together, the newest first. */
export function daysOf(calls: readonly Called[], dayOf = localDay): Day[] {
  const out: Day[] = [];
  for (const c of calls) {
    const day = dayOf(c.time);
    let d = out.at(-1);
    if (d?.day !== day) out.push((d = { day, runs: [] }));
    let r = d.runs.at(-1);
    const last = r?.calls.at(-1);
    if (!r || !last || r.id !== c.run || r.kind !== c.initiated_by || new Date(last.time).getTime() - new Date(c.time).getTime() > pause) d.runs.push((r = { key: c.seq, kind: c.initiated_by, id: c.run, time: c.time, calls: [] }));
    r.calls.push(c);
  }
  return out;
}

/** localDay is the day of a moment by the clock of the person, as 2026-01-31. */
export function localDay(iso: string): string {
  const d = new Date(iso);
  return `${d.getFullYear()}-${String(d.getMonth() + 1).padStart(2, '0')}-${String(d.getDate()).padStart(2, '0')}`;
}

/** dayName is a day in words. */
export function dayName(day: string, today = localDay(new Date().toISOString())): string {
  const at = (s: string): number => new Date(`${s}T12:00:00`).getTime();
  const ago = Math.round((at(today) - at(day)) / 86_400_000);
  if (ago === 0) return 'Today';
  if (ago === 1) return 'Yesterday';
  return new Date(`${day}T12:00:00`).toLocaleDateString(undefined, { dateStyle: 'full' });
}

/** titleOf is a note without its folder and its ending. */
function titleOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/\.(md|markdown)$/i, '');
}

/** What a call did to its notes, by how its summary begins. */
const verbs: [RegExp, string][] = [
  [/^create\b/i, 'created'],
  [/^delete\b/i, 'deleted'],
  [/^(rename|move)\b/i, 'renamed'],
  [/^undo\b/i, 'undid changes to'],
  [/^redo\b/i, 'redid changes to'],
];

/** verbOf is the word for what a call did. */
export function verbOf(c: Called): string {
  return verbs.find(([begins]) => begins.test(c.result_summary ?? ''))?.[1] ?? 'changed';
}

/** sentence says what a run did: "changed 2 notes: Sencha, Matcha". */
export function sentence(r: Run): string {
  const of = (...status: string[]): Called[] => r.calls.filter((c) => status.includes(c.status));
  const changed = r.calls.filter((c) => c.operation_id && c.status === 'done');
  const parts: string[] = [];
  const done = new Map<string, Set<string>>();
  for (const c of changed) {
    const verb = verbOf(c);
    const notes = done.get(verb) ?? new Set();
    // What was renamed is told by its new name.
    for (const n of verb === 'renamed' ? (c.target ?? []).slice(-1) : (c.target ?? [])) notes.add(n);
    done.set(verb, notes);
  }
  for (const [verb, notes] of done) if (notes.size) parts.push(`${verb} ${count(notes.size, 'note')}: ${[...notes].slice(0, 3).map(titleOf).join(', ')}${notes.size > 3 ? ` and ${notes.size - 3} more` : ''}`);
  if (!parts.length && changed.length) parts.push(`made ${count(changed.length, 'change')}`);
  const plain = of('done', 'started', 'dry_run').filter((c) => !c.operation_id);
  if (plain.length) parts.push(`made ${count(plain.length, 'call')}`);
  if (of('pending').length) parts.push(`asked for approval${of('pending').length > 1 ? ` ${of('pending').length} times` : ''}`);
  if (of('denied').length) parts.push(`was denied${of('denied').length > 1 ? ` ${of('denied').length} times` : ''}`);
  const failed = of('failed', 'cancelled');
  if (failed.length) parts.push(`had ${count(failed.length, 'failed call')}`);
  return parts.length > 1 ? `${parts.slice(0, -1).join('; ')} and ${parts.at(-1)}` : (parts[0] ?? '');
}

/** changesOf are the changes of a run that may be undone. */
export function changesOf(r: Run): string[] {
  return [...new Set(r.calls.filter((c) => c.operation_id && c.status === 'done' && !c.undone).map((c) => c.operation_id!))];
}

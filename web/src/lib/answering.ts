// What a person chose on a card, as the answer that is sent. Pure, so that it
// can be proved.
import type { Answer, Approval, FileChange } from './types';

/** A Choice is what of a question's files is taken: the numbers of the places, or all. */
export type Choice = Record<string, { on: boolean; hunks: number[] }>;

/** choiceOf takes everything. */
export function choiceOf(changes: FileChange[]): Choice {
  return Object.fromEntries(changes.map((c) => [c.path, { on: true, hunks: Array.from({ length: c.hunks ?? 0 }, (_, i) => i + 1) }]));
}

/** partial reports whether the places of a file can be chosen one by one. */
export function partial(c: FileChange): boolean {
  return !c.from && (c.hunks ?? 0) > 1 && c.action === 'change';
}

/** taken are the files of which anything is taken. */
export function taken(changes: FileChange[], choice: Choice): FileChange[] {
  return changes.filter((c) => choice[c.path]?.on && !(partial(c) && choice[c.path]?.hunks.length === 0));
}

/** labelOf is what the button says that takes what was chosen. */
export function labelOf(changes: FileChange[], choice: Choice): string {
  const files = taken(changes, choice).length;
  if (files < changes.length) return `Allow ${files} of ${changes.length}`;
  const places = changes.filter(partial);
  const all = places.reduce((n, c) => n + (c.hunks ?? 0), 0);
  const some = places.reduce((n, c) => n + (choice[c.path]?.hunks.length ?? 0), 0);
  return some < all ? `Allow ${some} of ${all} changes` : 'Allow once';
}

/** some reports whether an answer took a part of what was asked. */
export function some(a: Approval['answer']): boolean {
  return !!a?.approve && ((a.paths?.length ?? 0) > 0 || Object.keys(a.hunks ?? {}).length > 0);
}

/** yes is the answer that takes what was chosen. */
export function yes(q: Approval, choice: Choice, word: string): Answer {
  const changes = q.changes ?? [];
  const chosen = taken(changes, choice);
  const hunks: Record<string, number[]> = {};
  for (const c of chosen) {
    const h = choice[c.path]?.hunks ?? [];
    if (partial(c) && h.length < (c.hunks ?? 0)) hunks[c.path] = h;
  }
  const out: Answer = { approve: true, revision: q.revision };
  if (chosen.length < changes.length) out.paths = chosen.map((c) => c.path);
  if (Object.keys(hunks).length > 0) out.hunks = hunks;
  if (word) out.word = word;
  return out;
}

/** A Scope is how far a standing answer reaches. */
export interface Scope {
  label: string;
  paths: string;
  run?: string;
}

/** scopes lists what can be allowed from now on. What destroys or runs commands, and what may come from outside, is answered each time. */
export function scopes(q: Approval): Scope[] {
  if (q.risk === 'destroy' || q.risk === 'exec' || q.who.wary) return [];
  const paths = (q.changes ?? []).map((c) => c.path);
  const run = q.who.id;
  const whom = q.who.kind === 'agent' ? 'this run' : q.who.name || q.who.client ? `“${q.who.name || q.who.client}”` : 'this app';
  const out: Scope[] = [];
  if (paths.length === 0) return [{ label: `This tool, for ${whom}`, paths: '', run }];
  const [first = ''] = paths;
  // A pattern without a slash would fit the name in every folder.
  if (paths.length === 1) out.push({ label: `This tool on ${first}, for everyone`, paths: (first.includes('/') ? '' : '/') + literal(first) });
  const folder = first.includes('/') ? first.slice(0, first.lastIndexOf('/')) : '';
  if (folder && paths.every((p) => p.startsWith(folder + '/'))) {
    out.push({ label: `This tool in ${folder}/, for ${whom}`, paths: literal(folder) + '/**', run }, { label: `This tool in ${folder}/, for everyone`, paths: literal(folder) + '/**' });
  }
  out.push({ label: `This tool on every note, for ${whom}`, paths: '**', run });
  return out;
}

/** literal keeps the signs of a pattern in a name from being read as one. */
function literal(path: string): string {
  return path.replace(/[\\*?[\]{}!]/g, '\\$&');
}

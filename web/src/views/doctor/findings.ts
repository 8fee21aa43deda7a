// What the doctor found, in the order in which a person wants to know it. Pure,
// so that it can be proved.
import type { Finding } from '../../api.gen';
import { pathTo } from '../../lib/router.svelte';

export const levels: { level: string; title: string; one: string; many: string }[] = [
  { level: 'error', title: 'Errors', one: 'error', many: 'errors' },
  { level: 'warning', title: 'Warnings', one: 'warning', many: 'warnings' },
  { level: 'note', title: 'Information', one: 'notice', many: 'notices' },
  { level: 'ok', title: 'Passed', one: 'check passed', many: 'checks passed' },
];

/** byLevel puts findings under their level; a level that nobody knows counts as a warning. */
export function byLevel(all: Finding[]): Map<string, Finding[]> {
  const out = new Map<string, Finding[]>(levels.map((l) => [l.level, []]));
  for (const f of all) (out.get(f.level) ?? out.get('warning'))?.push(f);
  return out;
}

/** unrepeated leaves out the number of notes with problems where each of them is listed. */
export function unrepeated(all: Finding[]): Finding[] {
  const listed = new Set(all.filter((f) => f.topic === 'note').map((f) => f.path)).size;
  return all.filter((f) => !(f.level === 'note' && f.topic === 'notes' && listed > 0 && f.text.startsWith(`${listed} note`)));
}

// Of these the text says only in which state they are.
const subjects: Record<string, string> = { vault: 'Vault', index: 'Search index' };

/** sentenceOf is what was found: in one sentence, and a second one that explains it. */
export function sentenceOf(f: Finding): { title: string; more: string } {
  const upper = (t: string): string => t.charAt(0).toUpperCase() + t.slice(1);
  if (f.path) return { title: f.text.replace(/^broken yaml: /, 'the properties are not valid YAML: '), more: '' };
  const subject = subjects[f.topic];
  if (subject) return { title: `${subject}: ${f.text}`, more: '' };
  const [, title, more] = f.topic === 'meaning' ? (/^([^:]+): (\D.*)$/.exec(f.text) ?? []) : [];
  return title && more ? { title: upper(title), more: upper(more) + '.' } : { title: upper(f.text), more: '' };
}

/** placeOf is where a person sees or mends what was found; '' is nowhere on this page. */
export function placeOf(f: Finding): { href: string; label: string } | null {
  if (f.path) return /\.(md|markdown)$/i.test(f.path) ? { href: pathTo('notes', f.path, { line: f.line || undefined }), label: f.line ? `${f.path}, line ${f.line}` : f.path } : null;
  switch (f.topic) {
    case 'approve':
      return { href: pathTo('approvals'), label: 'Review approvals' };
    case 'meaning':
    case 'model':
      return { href: pathTo('settings', 'models'), label: f.level === 'ok' ? 'Model settings' : 'Choose a model' };
    case 'audit':
    case 'trash':
      return { href: pathTo('activity'), label: 'View activity' };
  }
  return null;
}

/** commandOf is the command that a piece of advice names, if it names one. */
export function commandOf(fix: string): { before: string; command: string } | null {
  const m = /^(?:(.*): )?(lore [a-z][^;]*)$/.exec(fix);
  return m?.[2] ? { before: m[1] ?? '', command: m[2] } : null;
}

/** exampleOf takes an example of the health apart: a path, or path:line. */
export function exampleOf(text: string): { path: string; line: number } {
  const m = /^(.*\.[a-z]+):(\d+)$/i.exec(text);
  return m?.[1] ? { path: m[1], line: Number(m[2]) } : { path: text, line: 0 };
}

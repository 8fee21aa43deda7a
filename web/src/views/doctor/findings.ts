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

/** placeOf is where a person sees or mends what was found; '' is nowhere on this page. */
export function placeOf(f: Finding): { href: string; label: string } | null {
  if (f.path) return /\.(md|markdown)$/i.test(f.path) ? { href: pathTo('notes', f.path, { line: f.line || undefined }), label: f.line ? `${f.path}, line ${f.line}` : f.path } : null;
  switch (f.topic) {
    case 'approve':
      return { href: pathTo('approvals'), label: 'Approvals' };
    case 'meaning':
    case 'model':
      return { href: pathTo('settings', 'models'), label: 'Model settings' };
    case 'audit':
    case 'trash':
      return { href: pathTo('activity'), label: 'Activity' };
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

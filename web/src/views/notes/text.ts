// The text of a note: read whole, and looked at for what is in it.
import type { Problem } from '../../lib/types';

export interface Read {
  path: string;
  title: string;
  hash: string;
  text: string;
  /** All of it came, byte for byte: only then may it be written back. */
  whole: boolean;
}

interface Piece {
  path: string;
  title: string;
  hash: string;
  text: string;
  line: number;
  lines: number;
}

type Call = (args: { path: string; offset: number; limit: number }) => Promise<{ ok: true; value: Piece } | { ok: false; problem: Problem }>;

/** isWorkflow says that a text may be a workflow: a block of YAML with steps. */
export function isWorkflow(text: string): boolean {
  return /^(?:```|~~~)[ \t]*ya?ml\b(?:(?!\n(?:```|~~~))[\s\S])*?\nsteps:/m.test(text);
}

/** linesOf counts the lines of a text as files have them. */
export function linesOf(text: string): number {
  let n = 0;
  for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) n++;
  return text && !text.endsWith('\n') ? n + 1 : n;
}

async function sum(text: string): Promise<string | undefined> {
  if (!globalThis.crypto?.subtle) return undefined; // not on this machine
  const b = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  return Array.from(b, (x) => x.toString(16).padStart(2, '0')).join('');
}

/** readWhole reads a note piece by piece. One that changes meanwhile is read again. */
export async function readWhole(path: string, call: Call): Promise<{ ok: true; value: Read } | { ok: false; problem: Problem }> {
  for (let tries = 0; ; tries++) {
    const parts: string[] = [];
    let first: Piece | undefined;
    let whole = true;
    let changed = false;
    for (let offset = 1; ; ) {
      const r = await call({ path: first?.path ?? path, offset, limit: 5000 });
      if (!r.ok) return r;
      first ??= r.value;
      changed = r.value.hash !== first.hash;
      if (changed) break;
      parts.push(r.value.text);
      const next = r.value.line + linesOf(r.value.text);
      if (next > r.value.lines || next <= offset) break;
      if (!r.value.text.endsWith('\n')) {
        whole = false; // a line that is too long for one answer
        parts.push('\n');
      }
      offset = next;
    }
    if (changed && tries < 3) continue;
    const text = parts.join('');
    const have = await sum(text);
    return { ok: true, value: { path: first.path, title: first.title, hash: first.hash, text, whole: whole && !changed && (have === undefined || have === first.hash) } };
  }
}

/** plain is a text with the line ends that editors have. */
export function plain(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}

export interface Heading {
  level: number;
  text: string;
  line: number;
}

/** headings lists those of a text; what looks like one in code or front matter is none. */
export function headings(text: string): Heading[] {
  const out: Heading[] = [];
  const lines = text.split('\n');
  let from = 0;
  if (/^\ufeff?---\s*$/.test(lines[0] ?? '')) {
    const end = lines.findIndex((l, i) => i > 0 && /^(---|\.\.\.)\s*$/.test(l));
    if (end > 0) from = end + 1;
  }
  let fence = '';
  for (let i = from; i < lines.length; i++) {
    const l = lines[i] ?? '';
    const f = /^ {0,3}(`{3,}|~{3,})/.exec(l)?.[1];
    if (fence) {
      if (f && f[0] === fence[0] && f.length >= fence.length && !l.trim().slice(f.length).trim()) fence = '';
      continue;
    }
    if (f) {
      fence = f;
      continue;
    }
    const m = /^ {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$/.exec(l);
    if (m?.[1] && m[2]) out.push({ level: m[1].length, text: m[2], line: i + 1 });
  }
  return out;
}

/** valueOf reads what was typed for a property: numbers, yes and no, and lists stay what they were. */
export function valueOf(typed: string, before: unknown): unknown {
  const t = typed.trim();
  if (Array.isArray(before)) return listOf(t, before);
  if (isNumber(t) && typeof before !== 'string') return Number(t);
  if (/^(true|false)$/.test(t) && typeof before !== 'string') return t === 'true';
  return t;
}

/** isNumber tells a number from signs that only look like one: 01067 and 1.10 would come back as others. */
function isNumber(t: string): boolean {
  return /^-?\d+(\.\d+)?$/.test(t) && String(Number(t)) === t;
}

/** listOf reads a list; what was in it before stays what it was. */
function listOf(t: string, before: unknown[]): unknown[] {
  if (!simple(before)) {
    try {
      const all: unknown = JSON.parse(t);
      if (Array.isArray(all)) return all;
    } catch {
      // then it is words
    }
  }
  const numbers = before.length > 0 && before.every((x) => typeof x === 'number');
  return t
    .split(',')
    .map((x) => x.trim())
    .filter(Boolean)
    .map((x) => before.find((b) => String(b) === x) ?? (numbers && isNumber(x) ? Number(x) : x));
}

/** simple lists can be typed with commas between. */
function simple(list: unknown[]): boolean {
  return list.every((x) => (typeof x === 'string' && x.trim() !== '' && !x.includes(',') && !x.startsWith('[')) || typeof x === 'number' || typeof x === 'boolean');
}

/** shownValue is a property as it is typed: a list whose parts hold commas, or are no words, as JSON. */
export function shownValue(v: unknown): string {
  if (v === null || v === undefined) return '';
  if (Array.isArray(v)) return simple(v) ? v.join(', ') : JSON.stringify(v);
  return typeof v === 'object' ? JSON.stringify(v) : String(v);
}

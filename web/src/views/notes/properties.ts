// The kinds of properties, by what a value is, or by what the vault has under a name.
import { server } from '../../lib/server.svelte';

export const kinds = { text: 'Text', number: 'Number', date: 'Date', checkbox: 'Checkbox', list: 'List' } as const;
export type Kind = keyof typeof kinds;

/** Known is what the vault has under a name. */
export interface Known {
  name: string;
  notes: number;
  kind: Kind;
  values: string[];
}

const date = /^\d{4}-\d{2}-\d{2}$/;
const moment = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2})?$/;

/** kindOf is what a value is; an empty one is what the vault has under its name. */
export function kindOf(v: unknown, known?: Kind): Kind | 'time' | 'other' {
  if (Array.isArray(v)) return v.every((x) => typeof x !== 'object' || x === null) ? 'list' : 'other';
  if (typeof v === 'boolean') return 'checkbox';
  if (typeof v === 'number') return known === 'text' ? 'text' : 'number';
  if (v === null || v === undefined || v === '') return known ?? 'text';
  if (typeof v === 'object') return 'other';
  if (typeof v === 'string' && date.test(v)) return 'date';
  if (typeof v === 'string' && moment.test(v)) return 'time';
  return known === 'list' ? 'list' : 'text';
}

/** read makes a value of what was typed for a new property. */
export function read(typed: string, kind: Kind, checked: boolean): unknown {
  const t = typed.trim();
  if (kind === 'checkbox') return checked;
  if (kind === 'list') return t.split(',').map((x) => x.trim()).filter(Boolean);
  if (kind === 'number') return t === '' ? null : Number(t);
  return t;
}

/** items are the parts of a list; one value is a list of one. */
export function items(v: unknown): unknown[] {
  return Array.isArray(v) ? v : v === null || v === undefined || v === '' ? [] : [v];
}

let at = -1;
let asked: Promise<Known[]> = Promise.resolve([]);
/** known asks what the vault has, once after each change in it. */
export function known(): Promise<Known[]> {
  if (at === server.changes) return asked;
  at = server.changes;
  asked = Promise.all([
    server.call<{ properties?: Known[] }>('list-notes', { limit: 1, properties: true }),
    server.call<{ tags?: { tag: string }[] }>('list-tags', { limit: 500 }),
  ]).then(([p, t]) => {
    const list = p.ok ? (p.value.properties ?? []) : [];
    const tags = t.ok ? (t.value.tags ?? []).map((x) => x.tag) : [];
    return list.map((k) => (k.name.toLowerCase() === 'tags' ? { ...k, values: tags } : k));
  });
  return asked;
}

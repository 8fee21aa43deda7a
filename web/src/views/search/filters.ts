// What a search is narrowed to. It stands in the address and nowhere else, so
// that a search can be kept, shared and gone back to.
import { dayOf } from '../../lib/when';

export interface Filters {
  q: string;
  folder: string;
  tags: string[];
  /** One of the tags is enough. */
  any: boolean;
  type: string;
  after: string;
  before: string;
  /** Properties; without a value it is enough that a note has it. */
  props: [name: string, value: string][];
  /** Words, meaning, or both (''). */
  mode: '' | 'lexical' | 'semantic';
}

/** readFrom takes the filters out of an address. */
export function readFrom(q: URLSearchParams): Filters {
  const mode = q.get('mode') ?? '';
  return {
    q: q.get('q') ?? '',
    folder: q.get('folder') ?? '',
    tags: q.getAll('tag').map((t) => t.replace(/^#/, '').trim()).filter(Boolean),
    any: q.get('tags') === 'any',
    type: q.get('type') ?? '',
    after: q.get('after') ?? '',
    before: q.get('before') ?? '',
    props: q.getAll('prop').flatMap((p): [string, string][] => {
      const [, name = '', value = ''] = /^([^:]*):?(.*)$/s.exec(p) ?? [];
      return name.trim() ? [[name.trim(), value.trim()]] : [];
    }),
    mode: mode === 'lexical' || mode === 'semantic' ? mode : '',
  };
}

/** addressOf is where a search stands. */
export function addressOf(f: Filters): string {
  const q = new URLSearchParams();
  const put = (name: string, value: string): void => {
    if (value) q.append(name, value);
  };
  put('q', f.q);
  put('folder', f.folder);
  for (const t of f.tags) put('tag', t);
  put('tags', f.any && f.tags.length > 1 ? 'any' : '');
  put('type', f.type);
  put('after', f.after);
  put('before', f.before);
  for (const [name, value] of f.props) put('prop', value ? `${name}:${value}` : name);
  put('mode', f.mode);
  const text = q.toString();
  return text ? `/search?${text}` : '/search';
}

/** A Chip is one filter that is on, and the search without it. */
export interface Chip {
  label: string;
  without: Filters;
}

export function chipsOf(f: Filters): Chip[] {
  const out: Chip[] = [];
  const add = (on: unknown, label: string, change: Partial<Filters>): void => {
    if (on) out.push({ label, without: { ...f, ...change } });
  };
  add(f.folder, `In ${f.folder}`, { folder: '' });
  for (const t of f.tags) add(true, `#${t}`, { tags: f.tags.filter((x) => x !== t) });
  add(f.type, `Type: ${f.type}`, { type: '' });
  add(f.after, `After ${dayOf(f.after)}`, { after: '' });
  add(f.before, `Before ${dayOf(f.before)}`, { before: '' });
  f.props.forEach(([name, value], i) => add(true, value ? `${name}: ${value}` : `Has ${name}`, { props: f.props.filter((_, j) => j !== i) }));
  add(f.mode, f.mode === 'lexical' ? 'Keywords only' : 'Meaning only', { mode: '' });
  return out;
}

/** bare is a search without filters. */
export function bare(f: Filters): Filters {
  return { ...readFrom(new URLSearchParams()), q: f.q };
}

/** asked reports whether there is anything to search for. */
export function asked(f: Filters): boolean {
  return f.q.trim() !== '' || chipsOf({ ...f, mode: '' }).length > 0;
}

/** isHalf reports whether a question is still being written: one letter, a phrase or a property that is open, or a condition without its value. */
export function isHalf(q: string): boolean {
  return /^[\u0020-\u024f]$/.test(q) || (q.match(/"/g)?.length ?? 0) % 2 === 1 || /\[[^\]]*$/.test(q) || /(^|\s)(-|\w+:)$/.test(q);
}

/** argsOf is what the tool that searches is called with. */
export function argsOf(f: Filters): Record<string, unknown> {
  const filter = {
    ...(f.folder ? { folder: f.folder } : {}),
    ...(f.tags.length ? { tags: f.tags } : {}),
    ...(f.any && f.tags.length > 1 ? { tags_match: 'any' } : {}),
    ...(f.type ? { type: f.type } : {}),
    ...(f.after ? { date_after: f.after } : {}),
    ...(f.before ? { date_before: f.before } : {}),
    ...(f.props.length ? { properties: Object.fromEntries(f.props) } : {}),
  };
  return { query: f.q, ...(Object.keys(filter).length ? { filter } : {}), ...(f.mode ? { mode: f.mode } : {}) };
}

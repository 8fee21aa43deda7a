// What the editor of a note can complete: asked for when it is first needed, and
// again after something changed in the vault.
import { score } from '../../lib/fuzzy';
import { server } from '../../lib/server.svelte';
import type { Knowledge, Offer } from '../../parts/editor/offers';
import { headings } from './text';
import { folderOf, name, offers, type Listed } from './tree';

/** once remembers an answer until the vault changes. */
function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let at = -1;
  let known: Promise<T>;
  return () => {
    if (at !== server.changes) known = ask();
    at = server.changes;
    return known;
  };
}

const files = once(async () => {
  const out: string[] = [];
  for (;;) {
    const r = await server.call<{ entries?: { path: string; is_folder: boolean }[]; total: number }>('list-files', { attachments: true, depth: 20, limit: 1000, offset: out.length });
    if (!r.ok) return [];
    const page = r.value.entries ?? [];
    out.push(...page.map((e) => (e.is_folder ? '' : e.path)));
    if (!page.length || out.length >= r.value.total) return out.filter(Boolean);
  }
});

const tags = once(async () => {
  const r = await server.call<{ tags?: { tag: string; with_nested: number }[] }>('list-tags', { limit: 1000 });
  return r.ok ? (r.value.tags ?? []).map((t) => ({ tag: t.tag, notes: t.with_nested })) : [];
});

const isPicture = (p: string): boolean => /\.(png|jpe?g|gif|webp|avif|bmp|svg)$/i.test(p);

/** fileOffers are the attachments that fit what was typed, pictures first. A name that two have is given with its folder. */
export function fileOffers(all: string[], typed: string): Offer[] {
  const last = (p: string): string => p.slice(p.lastIndexOf('/') + 1);
  const found = all.map((path) => ({ path, s: typed ? score(typed, path) : 1 })).filter((f) => f.s > 0);
  found.sort((a, b) => Number(isPicture(b.path)) - Number(isPicture(a.path)) || b.s - a.s || a.path.localeCompare(b.path));
  return found.slice(0, 20).map(({ path }) => ({ label: last(path), detail: folderOf(path), insert: all.some((o) => o !== path && last(o).toLowerCase() === last(path).toLowerCase()) ? path : last(path) }));
}

/** blocksOf lists the blocks of a text that have a name, with how they begin. */
export function blocksOf(text: string): { id: string; text: string }[] {
  const out: { id: string; text: string }[] = [];
  for (const line of text.split('\n')) {
    const m = /(?:^|\s)\^([\p{L}\p{N}-]+)\s*$/u.exec(line);
    if (m?.[1]) out.push({ id: m[1], text: line.slice(0, m.index).replace(/^[\s>*+-]+/, '').trim() });
  }
  return out;
}

/** filled is a template with its fields filled in, as Obsidian does it. */
export function filled(template: string, title: string, now = new Date()): string {
  const two = (n: number): string => String(n).padStart(2, '0');
  const date = `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
  return template.replace(/\{\{\s*(date|time|title)\s*\}\}/gi, (_, field: string) => ({ date, time: `${two(now.getHours())}:${two(now.getMinutes())}`, title })[field.toLowerCase()] ?? '');
}

/** knowledge is what an editor of a note is told; here are its path and its text as they are now. */
export function knowledge(all: () => Listed[], here: () => { path: string; text: string }): Knowledge {
  const textOf = async (note: string): Promise<string> => {
    if (!note) return here().text;
    const known = offers(all(), note).find((o) => o.insert.toLowerCase() === note.toLowerCase())?.detail ?? note;
    const r = await server.call<{ text: string }>('read-note', { path: known, limit: 5000 });
    return r.ok ? r.value.text : '';
  };
  return {
    notes: (typed) => offers(all(), typed),
    files: async (typed) => fileOffers(await files(), typed),
    tags,
    parts: async (note) => {
      const text = await textOf(note);
      return { headings: headings(text), blocks: blocksOf(text) };
    },
    templates: () => all().filter((n) => n.path.split('/').slice(0, -1).some((f) => /^_?templates?$/i.test(f))).map((n) => ({ label: n.title || name(n.path), detail: n.path, insert: n.path })),
    template: async (path) => {
      const r = await server.call<{ text: string }>('read-note', { path, limit: 5000 });
      if (!r.ok) server.tell(r.problem);
      return r.ok ? filled(r.value.text.replace(/\r\n?/g, '\n'), name(here().path)) : '';
    },
  };
}

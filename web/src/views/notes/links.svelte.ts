// What the links of a note mean: where they lead, which lead nowhere, and where
// the pictures lie that it shows.
import { fileAddress, isFile, near } from '../../lib/files';
import { pathTo, router } from '../../lib/router.svelte';
import { server } from '../../lib/server.svelte';
import { safeAddress, split, type Embedded } from '../../parts/markdown';

export interface Link {
  target: string;
  target_path?: string;
  target_title?: string;
  unresolved?: boolean;
}

export class Links {
  #path: () => string;
  #to = $state.raw<Map<string, string> | null>(null);
  #nowhere = $state.raw(new Set<string>());
  #asked = 0;
  #last = '';
  /** The note whose links these are: what leads nowhere is not asked for. */
  known = $state('');
  list = $state.raw<Link[]>([]);

  /** path is the note as it is shown now. */
  constructor(path: () => string) {
    this.#path = path;
  }

  /** told says whether it was asked what they mean. */
  get told(): boolean {
    return this.#to !== null;
  }

  async learn(path: string): Promise<void> {
    const mine = ++this.#asked;
    const r = await server.call<{ links?: Link[] }>('list-links', { path, limit: 500 });
    if (mine !== this.#asked) return;
    const all = r.ok ? (r.value.links ?? []) : [];
    this.known = r.ok ? path : '';
    // What is as it was is not drawn again.
    const now = JSON.stringify(all);
    if (this.#to && now === this.#last) return;
    this.#last = now;
    this.list = all;
    this.#to = new Map(all.filter((l) => l.target_path).map((l) => [l.target, l.target_path!]));
    this.#nowhere = new Set(all.filter((l) => !l.target_path).map((l) => l.target));
  }
  close(): void {
    this.#asked++;
  }

  // These are other functions when they would answer otherwise: what was drawn with them is drawn again.
  there = $derived((target: string): boolean | undefined => (this.#nowhere.has(target.split('#')[0] ?? '') ? false : undefined));
  file = $derived((target: string): string | undefined => {
    if (!this.#to || !isFile(target)) return undefined;
    const found = this.#to.get(target) ?? (target.includes('/') ? near(this.#path(), target) : undefined);
    return found && fileAddress(found);
  });
  leads = $derived((target: string): string => {
    const [head = '', ...rest] = target.split('#');
    return pathTo('notes', [this.#to?.get(head) ?? (head || this.#path()), ...rest].join('#'));
  });

  open(target: string): void {
    const outside = safeAddress(target);
    if (outside) globalThis.open(outside, '_blank', 'noopener,noreferrer');
    else if (this.file(target)) globalThis.open(this.file(target), '_blank', 'noopener');
    else router.go(this.leads(target));
  }
}

/** embed reads a note, or a part of one, that another note shows. */
export function embed(target: string): Promise<Embedded | undefined> | undefined {
  const [name = '', ...parts] = target.split('#');
  return !name || isFile(name) ? undefined : readPart(name, parts);
}

async function readPart(name: string, parts: string[]): Promise<Embedded | undefined> {
  const section = parts.map((p) => p.trim()).filter(Boolean).join(' > ');
  const r = await server.call<{ path: string; title: string; text: string }>('read-note', { path: name, limit: 500, ...(section ? { section } : {}) });
  if (!r.ok) return undefined;
  const { path, title, text } = r.value;
  const links = new Links(() => path);
  await links.learn(path);
  return { title: section ? `${title} > ${section}` : title, text: section ? text : split(text).body, href: pathTo('notes', [path, ...parts].join('#')), more: { note: links.leads, file: links.file, there: links.there } };
}

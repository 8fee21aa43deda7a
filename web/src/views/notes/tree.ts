// Folders and notes as rows of a list: pure, so that twenty thousand of them are
// only as much work as those that are seen.
import { score, scorer } from '../../lib/fuzzy';
import type { Offer } from '../../parts/editor/offers';

export interface Listed {
  path: string;
  title: string;
  tags?: string[];
}

export interface Row {
  kind: 'folder' | 'note';
  path: string;
  name: string;
  level: number;
  /** Place among its siblings, counted from 1, and how many they are. */
  pos: number;
  size: number;
  open?: boolean;
  /** Notes in the folder, at any depth. */
  count?: number;
}

export interface Folder {
  path: string;
  name: string;
  folders: Map<string, Folder>;
  notes: Listed[];
  count: number;
}

const order = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

/** grow makes the tree of a list of notes; empty are folders that have none yet. */
export function grow(all: Listed[], empty: readonly string[] = []): Folder {
  const root: Folder = { path: '', name: '', folders: new Map(), notes: [], count: 0 };
  const down = (parts: string[], count: number): Folder => {
    let at = root;
    at.count += count;
    for (const name of parts) {
      let next = at.folders.get(name);
      if (!next) {
        next = { path: at.path ? `${at.path}/${name}` : name, name, folders: new Map(), notes: [], count: 0 };
        at.folders.set(name, next);
      }
      next.count += count;
      at = next;
    }
    return at;
  };
  for (const n of all) down(n.path.split('/').slice(0, -1), 1).notes.push(n);
  for (const f of empty) down(f.split('/'), 0);
  return root;
}

/** name is what a file is called, without its ending. */
export function name(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/\.(md|markdown)$/i, '');
}

/** folderOf is where a note lies; the root is nothing. */
export function folderOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
}

/** dayOf is the date that a file is named after: such notes come first, the newest on top, whatever their titles say. */
function dayOf(path: string): string {
  return /^\d{4}-\d{2}-\d{2}/.exec(name(path))?.[0] ?? '';
}

/** rows are what of a tree is shown when these folders stand open. */
export function rows(root: Folder, open: ReadonlySet<string>): Row[] {
  const out: Row[] = [];
  const walk = (f: Folder, level: number): void => {
    const folders = [...f.folders.values()].sort((a, b) => order.compare(a.name, b.name));
    const notes = f.notes.map((n) => ({ n, label: n.title || name(n.path), day: dayOf(n.path) })).sort((a, b) => (a.day < b.day ? 1 : a.day > b.day ? -1 : order.compare(a.label, b.label)));
    const size = folders.length + notes.length;
    let pos = 0;
    for (const d of folders) {
      const on = open.has(d.path);
      out.push({ kind: 'folder', path: d.path, name: d.name, level, pos: ++pos, size, open: on, count: d.count });
      if (on) walk(d, level + 1);
    }
    for (const { n, label } of notes) out.push({ kind: 'note', path: n.path, name: label, level, pos: ++pos, size });
  };
  walk(root, 1);
  return out;
}

// The texts that are searched, made once for each list.
const lowered = new WeakMap<Listed[], string[]>();
function loweredOf(all: Listed[]): string[] {
  let texts = lowered.get(all);
  if (!texts) lowered.set(all, (texts = all.map((n) => `${n.title} ${n.path}`.toLowerCase())));
  return texts;
}

/** prepare makes the texts of a large list before they are needed, a part at a time. */
export async function prepare(all: Listed[]): Promise<void> {
  const texts: string[] = [];
  while (texts.length < all.length) {
    for (const n of all.slice(texts.length, texts.length + 4000)) texts.push(`${n.title} ${n.path}`.toLowerCase());
    await new Promise((f) => setTimeout(f, 0));
  }
  if (!lowered.has(all)) lowered.set(all, texts);
}

/** fitting are the notes that fit what was typed, the best first, without folders. */
export function fitting(all: Listed[], typed: string): Row[] {
  const [points, texts] = [scorer(typed), loweredOf(all)];
  // By thousandths of a point: putting fifty thousand into few heaps takes a tenth of the time of comparing them.
  const heaps = new Map<number, number[]>();
  let size = 0;
  for (let i = 0; i < texts.length; i++) {
    const s = points(texts[i]!);
    if (s <= 0) continue;
    size++;
    const key = Math.round(s * 1000);
    const heap = heaps.get(key);
    if (heap) heap.push(i);
    else heaps.set(key, [i]);
  }
  const out: Row[] = [];
  for (const key of [...heaps.keys()].sort((a, b) => b - a)) for (const i of heaps.get(key)!) {
    const n = all[i]!;
    out.push({ kind: 'note', path: n.path, name: n.title || name(n.path), level: 1, pos: out.length + 1, size });
  }
  return out;
}

/** way lists the folders above a path, the outermost first. */
export function way(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, i) => parts.slice(0, i + 1).join('/'));
}

/** offers are notes for a link; a name that two have is given with its folder. */
export function offers(all: Listed[], typed: string): Offer[] {
  const found: { n: Listed; s: number }[] = [];
  for (const n of all) {
    const s = score(typed, `${name(n.path)} ${n.title} ${n.path}`);
    if (s > 0) found.push({ n, s });
  }
  found.sort((a, b) => b.s - a.s);
  return found.slice(0, 30).map(({ n }) => {
    const short = name(n.path);
    const twin = all.some((o) => o.path !== n.path && name(o.path).toLowerCase() === short.toLowerCase());
    return { label: n.title || short, detail: n.path, insert: twin ? n.path.replace(/\.md$/i, '') : short };
  });
}

// Folders and notes as rows of a list: pure, so that twenty thousand of them are
// only as much work as those that are seen.
import { score } from '../../lib/fuzzy';
import type { Offer } from '../../parts/editor/editor';

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

/** grow makes the tree of a list of notes. */
export function grow(all: Listed[]): Folder {
  const root: Folder = { path: '', name: '', folders: new Map(), notes: [], count: 0 };
  for (const n of all) {
    let at = root;
    const parts = n.path.split('/');
    parts.pop();
    at.count++;
    for (const name of parts) {
      let next = at.folders.get(name);
      if (!next) {
        next = { path: at.path ? `${at.path}/${name}` : name, name, folders: new Map(), notes: [], count: 0 };
        at.folders.set(name, next);
      }
      next.count++;
      at = next;
    }
    at.notes.push(n);
  }
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

/** rows are what of a tree is shown when these folders stand open. */
export function rows(root: Folder, open: ReadonlySet<string>): Row[] {
  const out: Row[] = [];
  const walk = (f: Folder, level: number): void => {
    const folders = [...f.folders.values()].sort((a, b) => order.compare(a.name, b.name));
    const notes = f.notes.map((n) => ({ n, label: name(n.path) })).sort((a, b) => order.compare(a.label, b.label));
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

/** fitting are the notes that fit what was typed, the best first, without folders. */
export function fitting(all: Listed[], typed: string): Row[] {
  const found = all
    .map((n) => ({ n, s: score(typed, `${n.title} ${n.path}`) }))
    .filter((x) => x.s > 0)
    .sort((a, b) => b.s - a.s);
  return found.map(({ n }, i) => ({ kind: 'note', path: n.path, name: name(n.path), level: 1, pos: i + 1, size: found.length }));
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

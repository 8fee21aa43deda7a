// A text cut at the marks that show why it was found.
import type { Item } from '../lib/types';

export interface Piece {
  text: string;
  on: boolean;
}

/** pieces cuts it; a mark that lies outside of the text marks nothing. */
export function pieces(it: Pick<Item, 'text' | 'marks'>): Piece[] {
  const text = it.text ?? '';
  const out: Piece[] = [];
  let at = 0;
  for (const m of it.marks ?? []) {
    const [start = 0, end = 0] = m ?? [];
    if (start < at || end > text.length) continue;
    out.push({ text: text.slice(at, start), on: false }, { text: text.slice(start, end), on: true });
    at = end;
  }
  out.push({ text: text.slice(at), on: false });
  return out.filter((p) => p.text);
}

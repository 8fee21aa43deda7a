// What a search answers, put together from what the tool says and how the server
// draws it.
import type { View } from '../../lib/types';
import { plainFields } from '../../parts/inlineFields';
import { pieces, type Piece } from '../../results/pieces';

export interface Reason {
  kind: string;
  points: number;
  detail: string;
}
export interface Found {
  path: string;
  title: string;
  heading?: string;
  line?: number;
  score: number;
  why?: Reason[];
}
export interface Answer {
  results?: Found[];
  mode?: string;
  more?: string;
  hints?: string[];
  view?: View;
}
export interface Hit extends Found {
  pieces: Piece[];
}
/** partsOf are the headings above a passage, without the title of its note. */
export function partsOf(h: Pick<Found, 'title' | 'heading'>): string[] {
  const parts = (h.heading ?? '').split(' > ').filter(Boolean);
  return parts[0] === h.title ? parts.slice(1) : parts;
}

/** placeOf is where a passage stands: the folder of its note, and the headings above it. */
export function placeOf(h: Pick<Found, 'path' | 'title' | 'heading'>): string {
  return [h.path.split('/').slice(0, -1).join('/'), ...partsOf(h)].filter(Boolean).join(' › ');
}

/** readable leaves out the heading that a passage begins with, for it is told above it, and writes fields as words. */
export function readable(list: Piece[], heads: string[]): Piece[] {
  const all = list.map((p) => p.text).join('');
  const head = heads.flatMap((t) => (t ? [t + ': ', t + ' '] : [])).find((t) => all.startsWith(t));
  let drop = head?.length ?? 0;
  const out: Piece[] = [];
  for (const p of list) {
    const text = p.text.slice(drop);
    drop = Math.max(0, drop - p.text.length);
    if (text) out.push({ ...p, text: p.on ? text : plainFields(text) });
  }
  return out;
}

/** hitsOf joins each note with its passage as it is drawn. */
export function hitsOf(a: Answer): Hit[] {
  return (a.results ?? []).map((r, i) => ({ ...r, pieces: readable(pieces(a.view?.items?.[i] ?? {}), [partsOf(r).at(-1) ?? '', r.title]) }));
}

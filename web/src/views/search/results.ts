// What a search answers, put together from what the tool says and how the server
// draws it.
import type { View } from '../../lib/types';
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
/** hitsOf joins each note with its passage as it is drawn. */
export function hitsOf(a: Answer): Hit[] {
  return (a.results ?? []).map((r, i) => ({ ...r, pieces: pieces(a.view?.items?.[i] ?? {}) }));
}

// What the palette shows for what was typed. Pure, so that its order can be proved.
import { scorer } from '../lib/fuzzy';

/** The sections of the palette, in their order. */
export const sections = ['note', 'action', 'command', 'tool'] as const;
export type Section = (typeof sections)[number];

export interface Choice {
  section: Section;
  label: string;
  detail: string;
  /** Further names that it is found by. */
  names?: string[];
  run: () => void;
}

// From this score on, every word that was typed stands in the name; below it, only its letters do.
const strong = 10;
// How many notes are shown before the rest: fewer before anything was typed.
const notes = 8;
const recentNotes = 5;

// What a choice is found by, made once.
const texts = new WeakMap<Choice, string[]>();
function textsOf(c: Choice): string[] {
  let known = texts.get(c);
  if (!known) texts.set(c, (known = [c.label, ...(c.names ?? [])].map((n) => `${n} ${c.detail}`.toLowerCase())));
  return known;
}

// How many notes are compared with each other: comparing fifty thousand would hold the keys up.
const enough = 400;

interface Scored {
  c: Choice;
  i: number;
  points: number;
  place: number;
  weak: boolean;
}

/** better orders notes by what fits best, and by where they stand. */
const better = (a: Scored, b: Scored): number => Number(a.weak) - Number(b.weak) || b.points - a.points || a.i - b.i;

/** A Best keeps the best of many: the worst of those that are kept lies on top, and goes first. */
class Best {
  list: Scored[] = [];

  /** add takes x unless enough are better. */
  add(x: Scored): void {
    const { list } = this;
    if (list.length < enough) {
      let at = list.push(x) - 1;
      for (let up = (at - 1) >> 1; at > 0 && better(list[up]!, x) < 0; at = up, up = (at - 1) >> 1) [list[at], list[up]] = [list[up]!, x];
      return;
    }
    if (better(x, list[0]!) >= 0) return;
    let at = 0;
    for (;;) {
      let down = 2 * at + 1;
      if (down >= enough) break;
      if (down + 1 < enough && better(list[down]!, list[down + 1]!) < 0) down++;
      if (better(x, list[down]!) >= 0) break;
      list[at] = list[down]!;
      at = down;
    }
    list[at] = x;
  }
}

// Who types on looks among what was found before: a longer word is in no other text.
let before: { all: readonly Choice[]; typed: string; found: number[] } | undefined;

/** rank orders choices: notes, actions on the open note, commands, tools. What has only the letters comes after what has the words. */
export function rank(all: readonly Choice[], typed: string, recent: readonly string[] = []): Choice[] {
  const words = typed.trim().split(/\s+/).filter(Boolean).length;
  const score = scorer(typed);
  const opened = new Map(recent.map((p, i) => [p, i]));
  const narrowed = before?.all === all && typed.startsWith(before.typed) ? before.found : undefined;
  const hits: number[] = [];
  const found: Scored[] = [];
  const many = new Best();
  const n = narrowed?.length ?? all.length;
  for (let k = 0; k < n; k++) {
    const i = narrowed ? narrowed[k]! : k;
    const c = all[i]!;
    let points = 0;
    for (const t of textsOf(c)) points = Math.max(points, score(t));
    if (points <= 0) continue;
    hits.push(i);
    const x = { c, i, points, place: opened.get(c.detail) ?? recent.length, weak: words > 0 && points < strong * words };
    if (c.section === 'note' && x.place === recent.length) many.add(x);
    else found.push(x);
  }
  before = { all, typed, found: hits };
  found.push(...many.list);
  const section = (x: Scored): number => sections.indexOf(x.c.section);
  const sure = (x: Scored): number => Math.round(x.points / 4); // a note that was just open counts more than a few letters
  found.sort((a, b) => Number(a.weak) - Number(b.weak) || section(a) - section(b) || (words ? sure(b) - sure(a) : 0) || (a.c.section === 'note' ? a.place - b.place : 0) || (words ? b.points - a.points : 0) || a.i - b.i);
  let shown = 0;
  const only = found.every((x) => x.c.section === 'note');
  return found.filter((x) => only || x.c.section !== 'note' || ++shown <= (words ? notes : recentNotes)).slice(0, 50).map((x) => x.c);
}

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
// How many notes are shown before the rest.
const notes = 8;

// What a choice is found by, made once.
const texts = new WeakMap<Choice, string[]>();
function textsOf(c: Choice): string[] {
  let known = texts.get(c);
  if (!known) texts.set(c, (known = [c.label, ...(c.names ?? [])].map((n) => `${n} ${c.detail}`.toLowerCase())));
  return known;
}

const enough = 400;

/** best leaves of very many those that can be among the first: the highest classes, and what is kept in any case. Comparing fifty thousand would hold the keys up. */
function best<T>(all: T[], classOf: (x: T) => number, isKept: (x: T) => boolean): T[] {
  if (all.length <= 5 * enough) return all;
  const classes = new Map<number, T[]>();
  const out: T[] = [];
  for (const x of all) {
    if (isKept(x)) {
      out.push(x);
      continue;
    }
    const list = classes.get(classOf(x));
    if (list) list.push(x);
    else classes.set(classOf(x), [x]);
  }
  let left = enough;
  for (const k of [...classes.keys()].sort((a, b) => b - a)) {
    if (left <= 0) break;
    const list = classes.get(k)!.slice(0, left); // alike: the first ones are the first
    for (const x of list) out.push(x);
    left -= list.length;
  }
  return out;
}

/** rank orders choices: notes, actions on the open note, commands, tools. What has only the letters comes after what has the words. */
export function rank(all: readonly Choice[], typed: string, recent: readonly string[] = []): Choice[] {
  const words = typed.trim().split(/\s+/).filter(Boolean).length;
  const score = scorer(typed);
  const opened = new Map(recent.map((p, i) => [p, i]));
  const scored = all.map((c, i) => {
    const points = textsOf(c).reduce((most, t) => Math.max(most, score(t)), 0);
    return { c, i, points, place: opened.get(c.detail) ?? recent.length, weak: words > 0 && points < strong * words };
  });
  type Scored = (typeof scored)[number];
  const section = (x: Scored): number => sections.indexOf(x.c.section);
  const sure = (x: Scored): number => Math.round(x.points / 4); // a note that was just open counts more than a few letters
  const found = best(scored.filter((x) => x.points > 0), (x) => (x.weak ? 0 : 1e6) + Math.round(x.points * 1000), (x) => x.c.section !== 'note' || x.place < recent.length);
  found.sort((a, b) => Number(a.weak) - Number(b.weak) || section(a) - section(b) || (words ? sure(b) - sure(a) : 0) || (a.c.section === 'note' ? a.place - b.place : 0) || (words ? b.points - a.points : 0) || a.i - b.i);
  let shown = 0;
  const only = found.every((x) => x.c.section === 'note');
  return found.filter((x) => only || x.c.section !== 'note' || ++shown <= notes).slice(0, 50).map((x) => x.c);
}

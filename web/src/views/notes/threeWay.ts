// Two texts that were made from one: what only one of them changed is merged, and
// what both changed at the same place is shown side by side. Line by line, and
// pure, so that it can be proved that no line of either is lost.

/** A Part is a run of lines that is settled, or a place that both texts changed. */
export type Part = { kind: 'merged'; lines: string[] } | { kind: 'overlap'; base: string[]; mine: string[]; theirs: string[] };

export interface Merged {
  parts: Part[];
  /** Places that both texts changed. */
  overlaps: number;
  /** The text with the changes of both. Of an overlap it has mine; where both only added lines, it has both. */
  text: string;
}

/** A Hunk replaces the lines from..to of the base with lines at..end of the other text. */
interface Hunk {
  from: number;
  to: number;
  at: number;
  end: number;
}

/** merge joins two texts that were made from the same base. */
export function merge(base: string, mine: string, theirs: string): Merged {
  const [b, m, t] = [base.split('\n'), mine.split('\n'), theirs.split('\n')];
  const parts: Part[] = [];
  const put = (lines: string[]): void => {
    const last = parts.at(-1);
    // One by one: the arguments of a call are limited, and a note has more lines.
    if (last?.kind === 'merged') for (const line of lines) last.lines.push(line);
    else if (lines.length) parts.push({ kind: 'merged', lines: [...lines] });
  };
  let done = 0; // lines of the base
  for (const g of groups(hunks(b, m), hunks(b, t))) {
    put(b.slice(done, g.from));
    done = g.to;
    const left = g.mine.length ? m.slice(...span(g, g.mine)) : undefined;
    const right = g.theirs.length ? t.slice(...span(g, g.theirs)) : undefined;
    if (!left || !right) put(left ?? right ?? []);
    else {
      const one = agreed(b.slice(g.from, g.to), left, right);
      if (one) put(one);
      else parts.push({ kind: 'overlap', base: b.slice(g.from, g.to), mine: left, theirs: right });
    }
  }
  put(b.slice(done));
  const lines = parts.flatMap((p) => (p.kind === 'merged' ? p.lines : p.base.length ? p.mine : [...p.theirs, ...p.mine]));
  return { parts, overlaps: parts.filter((p) => p.kind === 'overlap').length, text: lines.join('\n') };
}

/** agreed is what both mean, where one text has all that the other has. */
function agreed(base: string[], mine: string[], theirs: string[]): string[] | undefined {
  const starts = (a: string[], b: string[]): boolean => b.every((x, i) => a[i] === x);
  const ends = (a: string[], b: string[]): boolean => b.every((x, i) => a[a.length - b.length + i] === x);
  if (mine.length === theirs.length && starts(mine, theirs)) return mine;
  if (base.length > 0) return undefined;
  if (starts(mine, theirs) || ends(mine, theirs)) return mine;
  if (starts(theirs, mine) || ends(theirs, mine)) return theirs;
  return undefined;
}

interface Group {
  from: number;
  to: number;
  mine: Hunk[];
  theirs: Hunk[];
}

/** groups puts hunks together that touch the same lines of the base. */
function groups(mine: Hunk[], theirs: Hunk[]): Group[] {
  const all = [...mine.map((h) => ({ h, own: true })), ...theirs.map((h) => ({ h, own: false }))].sort((a, b) => a.h.from - b.h.from || a.h.to - b.h.to);
  const out: Group[] = [];
  for (const { h, own } of all) {
    let g = out.at(-1);
    if (!g || !meets(g, h)) out.push((g = { from: h.from, to: h.to, mine: [], theirs: [] }));
    g.to = Math.max(g.to, h.to);
    (own ? g.mine : g.theirs).push(h);
  }
  return out;
}

/** meets reports whether a hunk touches lines of a group, or adds lines at the very place where the group only adds some. */
function meets(g: Group, h: Hunk): boolean {
  return h.from < g.to || (g.from === g.to && h.from === h.to && h.from === g.from);
}

/** span is where the lines of a group are in a text. */
function span(g: Group, list: Hunk[]): [number, number] {
  const [first, last] = [list[0], list.at(-1)];
  return first && last ? [first.at - (first.from - g.from), last.end + (g.to - last.to)] : [0, 0];
}

// More than this is not compared line by line: all of it counts as changed.
const most = 3000;

/** hunks are the differences of two lists of lines, by the shortest way from one to the other (Myers). */
function hunks(a: string[], b: string[]): Hunk[] {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const [n, m] = [a.length - head - tail, b.length - head - tail];
  if (n === 0 && m === 0) return [];
  const pairs = matches(a.slice(head, head + n), b.slice(head, head + m));
  const out: Hunk[] = [];
  let [i, j] = [0, 0];
  for (const [x, y] of [...pairs, [n, m] as const]) {
    if (x > i || y > j) out.push({ from: head + i, to: head + x, at: head + j, end: head + y });
    [i, j] = [x + 1, y + 1];
  }
  return out;
}

/** matches are the lines that stay, as pairs of their places. */
function matches(a: string[], b: string[]): [number, number][] {
  const [n, m] = [a.length, b.length];
  const max = Math.min(n + m, most);
  const steps: Int32Array[] = [];
  let v = new Int32Array(2 * max + 3);
  const mid = max + 1;
  for (let d = 0; d <= max; d++) {
    steps.push(v.slice(mid - d - 1, mid + d + 2));
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || (k !== d && v[mid + k - 1]! < v[mid + k + 1]!) ? v[mid + k + 1]! : v[mid + k - 1]! + 1;
      while (x < n && x - k < m && a[x] === b[x - k]) x++;
      v[mid + k] = x;
      if (x >= n && x - k >= m) return way(steps, n, m);
    }
  }
  return [];
}

/** way goes back from the end, and keeps the lines that stayed. */
function way(steps: Int32Array[], n: number, m: number): [number, number][] {
  const out: [number, number][] = [];
  let [x, y] = [n, m];
  for (let d = steps.length - 1; d >= 0; d--) {
    const at = (k: number): number => steps[d]![k + d + 1] ?? 0;
    const k = x - y;
    const from = k === -d || (k !== d && at(k - 1) < at(k + 1)) ? k + 1 : k - 1;
    const [px, py] = d === 0 ? [0, 0] : [at(from), at(from) - from];
    while (x > px && y > py && (d === 0 || x > (from === k - 1 ? px + 1 : px))) out.push([--x, --y]);
    [x, y] = [px, py];
  }
  return out.reverse();
}

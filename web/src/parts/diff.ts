// Unified diffs, taken apart for people: places, lines, and in changed lines the
// words that changed.

export type Sort = 'same' | 'added' | 'removed' | 'mark';

/** A part of a line; changed parts are what differs from the line beside it. */
export interface Part {
  text: string;
  changed: boolean;
}

export interface Line {
  sort: Sort;
  parts: Part[];
  /** Numbers in the old and the new text; 0 where there is none. */
  old: number;
  new: number;
}

/** A Hunk is one place of a file. Its number is what an answer names. */
export interface Hunk {
  number: number;
  head: string;
  lines: Line[];
}

/** words cuts a line into words, spaces and signs. */
export function tokens(line: string): string[] {
  return line.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

// More than this is not compared word by word: the whole line is what changed.
const most = 400;

/** compare finds the words in which two lines differ. */
export function compare(a: string, b: string): [Part[], Part[]] {
  const x = tokens(a);
  const y = tokens(b);
  if (x.length > most || y.length > most) return [[{ text: a, changed: true }], [{ text: b, changed: true }]];
  const n = x.length;
  const m = y.length;
  const table = new Uint16Array((n + 1) * (m + 1));
  const at = (i: number, j: number): number => table[i * (m + 1) + j] ?? 0;
  for (let i = n - 1; i >= 0; i--) {
    for (let j = m - 1; j >= 0; j--) table[i * (m + 1) + j] = x[i] === y[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  }
  const left: Part[] = [];
  const right: Part[] = [];
  const add = (to: Part[], text: string, changed: boolean): void => {
    const last = to.at(-1);
    if (last && last.changed === changed) last.text += text;
    else to.push({ text, changed });
  };
  let i = 0;
  let j = 0;
  while (i < n || j < m) {
    if (i < n && j < m && x[i] === y[j]) {
      add(left, x[i] ?? '', false);
      add(right, y[j] ?? '', false);
      i++;
      j++;
    } else if (j >= m || (i < n && at(i + 1, j) >= at(i, j + 1))) add(left, x[i++] ?? '', true);
    else add(right, y[j++] ?? '', true);
  }
  return [left, right];
}

/** A Piece of two texts in one: in both, only in the old one, or only in the new one. */
export interface Piece {
  text: string;
  sort: 'same' | 'removed' | 'added';
}

/** weave writes two texts as one, word by word; a line that is too long for that is one piece. */
export function weave(a: string, b: string): Piece[] {
  const [x, y] = tokens(a).length > 1200 || tokens(b).length > 1200 ? [a.split(/(?<=\n)/), b.split(/(?<=\n)/)] : [tokens(a), tokens(b)];
  const [n, m] = [x.length, y.length];
  const out: Piece[] = [];
  const put = (sort: Piece['sort'], text: string): void => {
    const last = out.at(-1);
    if (last?.sort === sort) last.text += text;
    else out.push({ sort, text });
  };
  if (n * m > 4_000_000) return [{ sort: 'removed', text: a }, { sort: 'added', text: b }];
  const table = new Uint16Array((n + 1) * (m + 1));
  const at = (i: number, j: number): number => table[i * (m + 1) + j] ?? 0;
  for (let i = n - 1; i >= 0; i--) for (let j = m - 1; j >= 0; j--) table[i * (m + 1) + j] = x[i] === y[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  for (let i = 0, j = 0; i < n || j < m; ) {
    if (i < n && j < m && x[i] === y[j]) {
      put('same', x[i++] ?? '');
      j++;
    } else if (j >= m || (i < n && at(i + 1, j) >= at(i, j + 1))) put('removed', x[i++] ?? '');
    else put('added', y[j++] ?? '');
  }
  // Two texts that have little in common are read better one after the other.
  const same = out.reduce((n, p) => n + (p.sort === 'same' ? p.text.trim().length : 0), 0);
  return same * 4 < Math.min(a.trim().length, b.trim().length) ? [{ sort: 'removed', text: a }, { sort: 'added', text: b }] : out;
}

/** alike reports whether two lines share enough for their words to be compared. */
function alike(parts: Part[]): boolean {
  const same = parts.reduce((n, p) => n + (p.changed ? 0 : p.text.trim().length), 0);
  const all = parts.reduce((n, p) => n + p.text.trim().length, 0);
  return all === 0 || same * 3 >= all;
}

/** pair compares the lines that left with those that came, where there are as many. */
function pair(lines: Line[]): void {
  for (let i = 0; i < lines.length; ) {
    if (lines[i]?.sort !== 'removed') {
      i++;
      continue;
    }
    let j = i;
    while (lines[j]?.sort === 'removed') j++;
    let k = j;
    while (lines[k]?.sort === 'added') k++;
    if (j - i === k - j) {
      for (let p = 0; p < j - i; p++) {
        const gone = lines[i + p];
        const come = lines[j + p];
        if (!gone || !come) continue;
        const [l, r] = compare(gone.parts[0]?.text ?? '', come.parts[0]?.text ?? '');
        if (alike(l) || alike(r)) {
          gone.parts = l;
          come.parts = r;
        }
      }
    }
    i = Math.max(k, i + 1);
  }
}

/** parse takes a unified diff apart. */
export function parse(diff: string): Hunk[] {
  const out: Hunk[] = [];
  let old = 0;
  let now = 0;
  const lines = diff.split('\n');
  if (lines.at(-1) === '') lines.pop();
  for (const line of lines) {
    const m = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
    if (m) {
      old = Number(m[1]);
      now = Number(m[2]);
      out.push({ number: out.length + 1, head: line, lines: [] });
      continue;
    }
    const hunk = out.at(-1);
    if (!hunk) continue; // the names of the files
    const text = line.slice(1);
    const parts = [{ text, changed: false }];
    switch (line[0]) {
      case '+':
        hunk.lines.push({ sort: 'added', parts, old: 0, new: now++ });
        break;
      case '-':
        hunk.lines.push({ sort: 'removed', parts, old: old++, new: 0 });
        break;
      case '\\':
        hunk.lines.push({ sort: 'mark', parts: [{ text: line.slice(2), changed: false }], old: 0, new: 0 });
        break;
      default:
        hunk.lines.push({ sort: 'same', parts, old: old++, new: now++ });
    }
  }
  for (const h of out) pair(h.lines);
  return out;
}

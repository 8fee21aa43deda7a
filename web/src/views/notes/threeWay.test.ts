import { describe, expect, test } from 'vitest';
import { merge, type Part } from './threeWay';

const lines = (s: string): string => s.split(' ').join('\n');

describe('two texts of one', () => {
  const cases: [what: string, base: string, mine: string, theirs: string, text: string, overlaps: number][] = [
    ['nobody changed it', 'a b', 'a b', 'a b', 'a b', 0],
    ['only mine', 'a b c', 'a X c', 'a b c', 'a X c', 0],
    ['only theirs', 'a b c', 'a b c', 'a b c D', 'a b c D', 0],
    ['a paragraph from outside, and a word of mine elsewhere', 'a b c d e', 'a B c d e', 'a b c d e f g', 'a B c d e f g', 0],
    ['the last line and what follows it', 'a b', 'a B', 'a b c', 'a B c', 0],
    ['the first line and what comes before it', 'a b', 'A b', 'z a b', 'z A b', 0],
    ['neighboring lines', 'a b c', 'A b c', 'a B c', 'A B c', 0],
    ['the same change', 'a b c', 'a X c', 'a X c', 'a X c', 0],
    ['both removed a line', 'a b c', 'a c', 'a c', 'a c', 0],
    ['one removed, the other added', 'a b c d', 'a c d', 'a b c d e', 'a c d e', 0],
    ['the same line in two ways', 'a b c', 'a X c', 'a Y c', 'a X c', 1],
    ['changed and removed', 'a b c', 'a X c', 'a c', 'a X c', 1],
    ['lines added at one place: both stay', 'a b', 'a M b', 'a T b', 'a T M b', 1],
    ['the other addition and more', 'a b', 'a T M b', 'a T b', 'a T M b', 0],
    ['from nothing', '', 'm', 't', 'm', 1],
  ];
  test.each(cases)('%s', (_, base, mine, theirs, text, overlaps) => {
    const got = merge(lines(base), lines(mine), lines(theirs));
    expect([got.text, got.overlaps]).toEqual([lines(text), overlaps]);
    expect(merge(lines(base), lines(theirs), lines(mine)).overlaps, 'the other way round').toBe(overlaps);
  });
  test('both sides of an overlap are told', () => {
    expect(merge('a\nb\nc', 'a\nX\nc', 'a\nY\nc').parts).toEqual([
      { kind: 'merged', lines: ['a'] }, { kind: 'overlap', base: ['b'], mine: ['X'], theirs: ['Y'] }, { kind: 'merged', lines: ['c'] },
    ]);
  });
  test('a merged text merges again to itself', () => {
    const once = merge('a\nb\nc', 'a\nb\nc\nM', 'T\na\nb\nc').text;
    expect(merge('a\nb\nc', once, 'T\na\nb\nc')).toMatchObject({ text: once, overlaps: 0 });
  });
  test('long texts take no long time', () => {
    const base = Array.from({ length: 20_000 }, (_, i) => `line ${i}`);
    const mine = base.with(100, 'MINE').join('\n');
    const theirs = base.toSpliced(15_000, 2, 'THEIRS').join('\n');
    const got = merge(base.join('\n'), mine, theirs);
    expect(got.overlaps).toBe(0);
    expect(got.text).toBe(base.with(100, 'MINE').toSpliced(15_000, 2, 'THEIRS').join('\n'));
  });
});

/** random gives the same numbers at every run. */
function random(seed: number): (n: number) => number {
  return (n) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((seed / 2 ** 32) * n);
  };
}

test('no line of either side is ever lost, nor a line that both kept', () => {
  for (let seed = 1; seed <= 1500; seed++) {
    const of = random(seed);
    const base = Array.from({ length: of(9) }, () => 'abcd'[of(4)]!);
    let n = 0;
    // What one side writes is told apart from all else; lines of the base may stand there twice.
    const edit = (mark: string): { text: string[]; kept: boolean[] } => {
      const text: string[] = [];
      const kept: boolean[] = [];
      for (let i = 0; i <= base.length; i++) {
        while (of(5) === 0) text.push(of(3) ? `${mark}${n++}` : 'abcd'[of(4)]!);
        if (i === base.length) break;
        kept.push(of(5) !== 0);
        if (kept[i]) text.push(base[i]!);
      }
      return { text, kept };
    };
    const [mine, theirs] = [edit('m'), edit('t')];
    const got = merge(base.join('\n'), mine.text.join('\n'), theirs.text.join('\n'));
    const holds = (ok: boolean): void => {
      if (!ok) throw new Error(JSON.stringify({ seed, base, mine: mine.text, theirs: theirs.text, got }));
    };
    const same = (a: string[], b: string[]): void => holds(a.join('\n') === b.join('\n'));
    const side = (own: 'mine' | 'theirs'): string[] => got.parts.flatMap((p: Part) => (p.kind === 'merged' ? p.lines : p[own]));
    for (const l of mine.text) if (l.startsWith('m')) holds(side('mine').includes(l));
    for (const l of theirs.text) if (l.startsWith('t')) holds(side('theirs').includes(l));
    // In the order in which they were written.
    const order = (list: string[], mark: string): string[] => list.filter((l) => l.startsWith(mark));
    same(order(side('mine'), 'm'), order(mine.text, 'm'));
    same(order(side('theirs'), 't'), order(theirs.text, 't'));
    if (got.overlaps === 0) {
      const count = (list: string[], l: string): number => list.filter((x) => x === l).length;
      // Where nothing overlaps, a line is as often there as both sides together made it.
      const sides = new Set([...base, ...mine.text, ...theirs.text]);
      for (const l of sides) {
        const [b, m, t, all] = [count(base, l), count(mine.text, l), count(theirs.text, l), count(got.text.split('\n'), l)];
        holds(all >= Math.min(m, t, b, m + t - b) && all <= Math.max(m, t, b, m + t - b));
      }
    }
    holds(merge(base.join('\n'), mine.text.join('\n'), base.join('\n')).text === mine.text.join('\n'));
    holds(merge(base.join('\n'), base.join('\n'), theirs.text.join('\n')).text === theirs.text.join('\n'));
  }
});

test('a note may have more lines than a call has arguments', () => {
  const base = Array.from({ length: 300_000 }, (_, i) => `line ${i}`);
  const mine = ['first', ...base];
  const r = merge(base.join('\n'), mine.join('\n'), [...base, 'last'].join('\n'));
  expect(r.overlaps).toBe(0);
  expect(r.text).toBe([...mine, 'last'].join('\n'));
});

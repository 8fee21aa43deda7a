import { expect, test } from 'vitest';
import { compare, parse } from './diff';

const text = `--- a/Tea.md
+++ b/Tea.md
@@ -1,3 +1,3 @@
 # Tea
-Green tea is good.
+Green tea is very good.
 end
@@ -10,2 +10,3 @@
 a
+b
-c
\\ no line end
`;

test('a diff is taken apart into places, numbered from one', () => {
  const [one, two, ...more] = parse(text);
  expect(more).toEqual([]);
  expect(one?.number).toBe(1);
  expect(two?.number).toBe(2);
  expect(one?.lines.map((l) => [l.sort, l.old, l.new])).toEqual([['same', 1, 1], ['removed', 2, 0], ['added', 0, 2], ['same', 3, 3]]);
  expect(two?.lines.map((l) => l.sort)).toEqual(['same', 'added', 'removed', 'mark']);
});

test('the words that changed are marked', () => {
  const lines = parse(text)[0]?.lines ?? [];
  expect(lines[2]?.parts).toEqual([{ text: 'Green tea is ', changed: false }, { text: 'very ', changed: true }, { text: 'good.', changed: false }]);
  expect(lines[1]?.parts.some((p) => p.changed)).toBe(false);
});

test('nothing is lost or made up by comparing', () => {
  for (const [a, b] of [['', ''], ['a b c', 'a x c d'], ['Ärger – 茶 🍵!', '茶 🍵? Ärger'], ['x '.repeat(600), 'y']] as const) {
    const [l, r] = compare(a, b);
    expect(l.map((p) => p.text).join('')).toBe(a);
    expect(r.map((p) => p.text).join('')).toBe(b);
    const same = (parts: typeof l): string => parts.filter((p) => !p.changed).map((p) => p.text).join('');
    expect(same(l)).toBe(same(r));
  }
});

test('lines that have nothing in common are not compared word by word', () => {
  const h = parse('@@ -1 +1 @@\n-alpha beta gamma\n+12345 67890 !!!\n')[0];
  expect(h?.lines.every((l) => l.parts.length === 1 && !l.parts[0]?.changed)).toBe(true);
});

test('a line that looks like a head inside a place is a line', () => {
  const h = parse('@@ -1,1 +1,2 @@\n --- x\n++++ y\n');
  expect(h).toHaveLength(1);
  expect(h[0]?.lines.map((l) => l.parts[0]?.text)).toEqual(['--- x', '+++ y']);
});

import { expect, test } from 'vitest';
import { pieces } from './pieces';

test('what was asked for is marked, and nothing is lost', () => {
  const it = { text: 'green tea, 緑茶 and more', marks: [[0, 5], [11, 13]] as [number, number][] };
  expect(pieces(it)).toEqual([{ text: 'green', on: true }, { text: ' tea, ', on: false }, { text: '緑茶', on: true }, { text: ' and more', on: false }]);
});
test('marks that lie wrong mark nothing', () => {
  expect(pieces({ text: 'abc', marks: [[1, 9]] })).toEqual([{ text: 'abc', on: false }]);
  expect(pieces({ text: 'abc', marks: [[0, 2], [1, 3]] })).toEqual([{ text: 'ab', on: true }, { text: 'c', on: false }]);
  expect(pieces({})).toEqual([]);
});

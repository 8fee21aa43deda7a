import { describe, expect, test } from 'vitest';
import { today } from './commands';
import { itemOf, nextMark } from './lists';
import { cellsOf, formatTable } from './tables';

describe('lists', () => {
  test.each([
    ['- one', '', '- ', '', 2],
    ['  * [x] two', '  ', '* ', '[x] ', 8],
    ['12. three', '', '12. ', '', 4],
    ['> - four', '> ', '- ', '', 4],
    ['> words', '> ', '', '', 2],
  ])('%s', (line, before, mark, box, text) => expect(itemOf(line)).toEqual({ before, mark, box, text }));
  test('what is none', () => expect([itemOf('words'), itemOf('-one'), itemOf('**bold**')]).toEqual([undefined, undefined, undefined]));
  test('the next mark', () => expect([nextMark('- '), nextMark('9. '), nextMark('1) ')]).toEqual(['- ', '10. ', '2) ']));
});

describe('tables', () => {
  test.each([
    ['| a | b |', ['a', 'b']],
    ['a | b', ['a', 'b']],
    ['| a \\| b | c |', ['a \\| b', 'c']],
    ['| `x | y` | c |', ['`x | y`', 'c']],
    ['|  |  |', ['', '']],
  ])('%s', (row, cells) => expect(cellsOf(row)).toEqual(cells));
  test('columns are aligned as their rule says', () => {
    expect(formatTable(['|a|long name|c|', '|---|:-:|--:|', '|wide cell|x|1|'])).toEqual(['| a         | long name |   c |', '| --------- | :-------: | --: |', '| wide cell |     x     |   1 |']);
  });
  test('aligned twice is aligned once', () => {
    const once = formatTable(['| 茶 | b', '|-|-|', '| x | y | z |']);
    expect(formatTable(once)).toEqual(once);
  });
});

test('today is the day of the person', () => expect(today(new Date(2026, 0, 2, 23, 59))).toBe('2026-01-02'));

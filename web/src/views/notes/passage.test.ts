import { describe, expect, test } from 'vitest';
import { weave } from '../../parts/diff';
import { findPassage, placeOf, rewritten } from './passage';

describe('a passage in the text of a note', () => {
  const source = '# Tea\n\nHeat **the water** to [70](x), (not) more. Twice. Twice.\n';
  test('through the signs between its words, with its own at the ends', () => {
    expect(findPassage(source, 'Heat the water to 70')?.text).toBe('Heat **the water** to [70');
    expect(findPassage(source, '(not) more.')?.text).toBe('(not) more.');
    expect(findPassage(source, 'the water to 70 ,')).toEqual({ from: source.indexOf('the water'), text: 'the water** to [70' });
  });
  test('not where it is twice, or nowhere', () => {
    expect(findPassage(source, 'Twice.')).toBeUndefined();
    expect(findPassage(source, 'coffee')).toBeUndefined();
    expect(findPassage(source, ' \n')).toBeUndefined();
  });
  test('found again after the text before it changed', () => {
    expect(placeOf('ab', { from: 1, text: 'b' })).toBe(1);
    expect(placeOf('xab', { from: 1, text: 'b' })).toBe(2);
    expect(placeOf('xabb', { from: 0, text: 'b' })).toBe(-1);
  });
});

describe('what comes back', () => {
  test('bare, with the blanks of the passage', () => {
    expect(rewritten('```md\nNew.\n```', ' old\n')).toBe(' New.\n');
    expect(rewritten('<selection>\nNew.\n</selection>', 'old')).toBe('New.');
    expect(rewritten('```\na\n```', '```\nb\n```')).toBe('```\na\n```');
  });
  test('beside what was there', () => {
    expect(weave('Heat the water.', 'Heat cold water.')).toEqual([{ sort: 'same', text: 'Heat ' }, { sort: 'removed', text: 'the' }, { sort: 'added', text: 'cold' }, { sort: 'same', text: ' water.' }]);
    expect(weave('x '.repeat(3000), 'y').map((p) => p.sort)).toEqual(['removed', 'added']);
  });
});

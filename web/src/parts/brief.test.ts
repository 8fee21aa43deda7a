import { expect, test } from 'vitest';
import { briefOf, wordsOf } from './brief';

const note = '---\nrating: 3\n---\n# Sencha\n\nA *green* tea of [[Japan|the islands]].\n\n- steamed\n- rolled\n\n## How I make it\n\n70 °C.\n\n## Where\n\nUji.\n';

test('the first lines are those of the text', () => {
  expect(briefOf(note, '', 'Sencha')).toEqual(['A green tea of the islands.', 'steamed', 'rolled', 'How I make it', '70 °C.', 'Where', 'Uji.']);
});
test('a passage is told without its signs', () => {
  expect(wordsOf('… of the [[Tannins]] and *a green* [[Oolong|tea]], see [here](x.md) ^id')).toBe('… of the Tannins and a green tea, see here');
  expect(wordsOf('<img src=x onerror=y>')).toBe('<img src=x onerror=y>');
});
test('a part ends where the next begins', () => {
  expect(briefOf(note, 'how i make it', 'Sencha')).toEqual(['70 °C.']);
  expect(briefOf(note, 'nothing of the kind', 'Sencha')[0]).toBe('A green tea of the islands.');
});
test('what is long is cut between words, and nothing is markup', () => {
  const [only = '', ...more] = briefOf('word '.repeat(300));
  expect(more).toEqual([]);
  expect(only.length).toBeLessThan(430);
  expect(only).toMatch(/word …$/);
  expect(briefOf('<b onclick=x>y</b>')).toEqual(['<b onclick=x>y</b>']);
  expect(briefOf('')).toEqual([]);
});

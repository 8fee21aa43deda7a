import { describe, expect, test } from 'vitest';
import { add, blindness, most } from './attachments';
import { fill, gapsOf, promptOf } from './promptText';
import { openMention } from './talk';

describe('prompts', () => {
  const p = promptOf('Prompts/Explain.md', 'Explain', '---\nx: 1\n---\n# Explain\n\n> Explain {{topic}} and {{ more? }}, {{topic?}}, on {date}.');
  test('named, told in one line, without properties and its own heading', () => {
    expect([p.name, p.about]).toEqual(['Explain', 'Explain {{topic}} and {{ more? }}, {{topic?}}, on {date}.']);
    expect(promptOf('Prompts/A/Other.md', '', '# Do it').body).toBe('# Do it');
  });
  test('what is not known is asked for, each once', () => {
    expect(gapsOf(p.body, { date: 'today' })).toEqual([{ name: 'topic', needed: true }, { name: 'more', needed: false }]);
  });
  test('filled in, and values are not filled in again', () => {
    expect(fill(p.body, { topic: '{date}', date: 'today' })).toBe('> Explain {date} and , {date}, on today.');
    expect(fill('{{date:YYYY}} {other} {{1}}', {})).toBe('{{date:YYYY}} {other} {{1}}');
  });
});

describe('mentions', () => {
  test.each([
    ['@', 1, { from: 0, typed: '' }],
    ['see @sen', 8, { from: 4, typed: 'sen' }],
    ['me@example.com', 14, undefined],
    ['@two words', 10, undefined],
  ])('%s', (text, caret, want) => expect(openMention(text, caret)).toEqual(want));
});

describe('attachments', () => {
  const file = (name: string, text = 'x') => ({ kind: 'file', name, text });
  test('each once, and no more than fit', () => {
    expect(add([file('a')], [file('a')]).list).toHaveLength(1);
    expect(add([], Array.from({ length: 9 }, (_, i) => file(`${i}`)))).toMatchObject({ list: { length: most.count }, refused: 'You can attach at most 8 items to a message.' });
    expect(add([], [file('a', 'x'.repeat(most.all + 1))]).refused).toMatch(/^a does not fit/);
  });
  test('pictures need a model that can read them', () => {
    expect(blindness('a/b', false, true)).toBe('');
    expect(blindness('a/b', false, undefined)).toBe('');
    expect(blindness('a/b', false, false)).toMatch(/^a\/b cannot read pictures/);
    expect(blindness('quote', true, undefined)).toMatch(/^No model is chosen/);
  });
});

import { describe, expect, test } from 'vitest';
import { StreamedText } from './streamedText';

describe('an answer while it is given', () => {
  const inPieces = (text: string, size: number): { s: StreamedText; drawn: number } => {
    const s = new StreamedText();
    let drawn = 0;
    let had = 0;
    for (let i = 0; i < text.length; i += size) {
      s.push(text.slice(i, i + size));
      for (; had < s.done.length; had++) drawn += s.done[had]!.length;
      drawn += s.tail.length;
    }
    return { s, drawn };
  };
  test.each([
    ['a\n\nb\n\nc', ['a\n\n', 'b\n\n'], 'c'],
    ['```\na\n\nb\n```\n\nc', ['```\na\n\nb\n```\n\n'], 'c'],
    ['- a\n\n- b\n\nc', ['- a\n\n- b\n\n'], 'c'],
    ['1. a\n\n   more\n\nc', ['1. a\n\n   more\n\n'], 'c'],
    ['~~~~\n~~~\n\n~~~~\n\nx', ['~~~~\n~~~\n\n~~~~\n\n'], 'x'],
    ['> a\n\n> b', [], '> a\n\n> b'],
  ])('%j', (text, done, tail) => {
    for (const size of [1, 3, 100]) {
      const { s } = inPieces(text, size);
      expect([s.done, s.tail]).toEqual([done, tail]);
    }
  });
  test('what is finished is drawn once: ten times the text is ten times the work', () => {
    const part = 'Some words that fill a line.\n\n';
    const [a, b] = [inPieces(part.repeat(50), 10).drawn, inPieces(part.repeat(500), 10).drawn];
    expect(b / a).toBeLessThan(11);
    expect(b / a).toBeGreaterThan(9);
  });
  test('a list without an end is cut where a line is blank', () => {
    const { s } = inPieces('- an item\n\n'.repeat(3000), 1000);
    expect(s.tail.length).toBeLessThanOrEqual(StreamedText.most + 1000);
    expect(s.done.join('') + s.tail).toBe('- an item\n\n'.repeat(3000));
  });
});

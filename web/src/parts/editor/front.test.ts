import { EditorSelection, EditorState, Text } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { expect, test } from 'vitest';
import { endOfFront, front } from './front';

const doc = '---\na: 1\n---\n# Tea\n';
const isFolded = (s: EditorState): boolean => s.facet(EditorView.decorations).some((d) => typeof d !== 'function' && d.size > 0);

test('front matter ends at its second line of dashes', () => {
  const end = (text: string): number => endOfFront(Text.of(text.split('\n')));
  expect([end(doc), end('# Tea\n---\n'), end('---\na: 1\n'), end('')]).toEqual([12, 0, 0, 0]);
});

test('it is folded until the caret comes to it, and again when the caret leaves', () => {
  let s = EditorState.create({ doc, extensions: [front] });
  const go = (at: number, userEvent?: string): boolean => {
    s = s.update({ selection: EditorSelection.cursor(at), ...(userEvent ? { userEvent } : {}) }).state;
    return isFolded(s);
  };
  expect(isFolded(s)).toBe(true);
  expect(go(0)).toBe(true); // put there by the page
  expect(go(15)).toBe(true);
  expect(go(0, 'select')).toBe(false); // a person went there
  expect(go(6)).toBe(false);
  s = s.update({ changes: { from: 8, insert: '2' } }).state;
  expect(isFolded(s)).toBe(false); // what is written in stays open
  expect(go(16)).toBe(true);
  expect(s.doc.toString()).toBe('---\na: 12\n---\n# Tea\n');
});

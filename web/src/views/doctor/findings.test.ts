import { expect, test } from 'vitest';
import type { Finding } from '../../api.gen';
import { placeOf, sentenceOf, unrepeated } from './findings';

const of = (level: string, topic: string, text: string, path = ''): Finding => ({ level, topic, text, ...(path ? { path } : {}) }) as Finding;

test('a finding is a sentence for people, without the name that the program has for its topic', () => {
  expect(sentenceOf(of('note', 'meaning', 'semantic search is off: no embedding model is set'))).toEqual({ title: 'Semantic search is off', more: 'No embedding model is set.' });
  expect(sentenceOf(of('note', 'approve', 'pending approvals: 1')).title).toBe('Pending approvals: 1');
  expect(sentenceOf(of('warning', 'index', 'out of date: a file is newer')).title).toBe('Search index: out of date: a file is newer');
  expect(sentenceOf(of('warning', 'note', "broken yaml: did not find ']'", 'A.md')).title).toBe("the properties are not valid YAML: did not find ']'");
});

test('notes with problems are counted only where not all of them are listed', () => {
  const one = of('warning', 'note', 'broken yaml: x', 'A.md');
  const two = of('warning', 'note', 'duplicate key: y', 'A.md');
  expect(unrepeated([one, two, of('note', 'notes', '1 note has problems; it can still be searched')])).toEqual([one, two]);
  const many = [one, of('note', 'notes', '12 notes have problems; they can still be searched')];
  expect(unrepeated(many)).toEqual(many);
});

test('a button says what it is for', () => {
  expect(placeOf(of('note', 'meaning', 'semantic search is off: x'))).toEqual({ href: '/settings/models', label: 'Choose a model' });
});

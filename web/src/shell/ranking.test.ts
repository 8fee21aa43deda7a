import { expect, test } from 'vitest';
import { rank, type Choice, type Section } from './ranking';

const of = (section: Section, label: string, detail = '', names?: string[]): Choice => ({ section, label, detail, ...(names ? { names } : {}), run: () => {} });
const all = [
  of('command', 'Activity'), of('command', 'New note'), of('action', 'Rename or move', 'This note'), of('tool', 'Find path', 'Tool · explore'), of('tool', 'Rename note', 'Tool · notes'),
  of('note', 'Green tea', 'Notes/Green tea.md'), of('note', 'Sencha', 'Notes/Sencha.md', ['Everyday tea']), of('note', 'A cat in Venice', 'Notes/Cat.md'), of('note', 'Renaming things', 'Notes/Renaming.md'),
];
const labels = (typed: string, recent: string[] = []): string[] => rank(all, typed, recent).map((c) => c.label);

test('notes come first, then actions on the note, commands, tools', () => {
  expect(labels('rename').slice(0, 2)).toEqual(['Rename or move', 'Rename note']);
  expect(labels('renam').slice(0, 3)).toEqual(['Renaming things', 'Rename or move', 'Rename note']);
  expect(labels('').slice(0, 5)).toEqual(['Green tea', 'Sencha', 'A cat in Venice', 'Renaming things', 'Rename or move']);
});

test('a note is found by its title, another name, or its path', () => {
  expect(labels('everyday')[0]).toBe('Sencha');
  expect(labels('notes/cat')[0]).toBe('A cat in Venice');
  expect(labels('grtea')).toContain('Green tea');
});

test('letters alone do not stand before a word', () => {
  expect(labels('activ').slice(0, 2)).toEqual(['Activity', 'A cat in Venice']);
});

test('notes that were open last come first', () => {
  expect(labels('tea').slice(0, 2)).toEqual(['Green tea', 'Sencha']);
  expect(labels('tea', ['Notes/Sencha.md']).slice(0, 2)).toEqual(['Sencha', 'Green tea']);
  expect(labels('', ['Notes/Cat.md', 'Notes/Sencha.md']).slice(0, 3)).toEqual(['A cat in Venice', 'Sencha', 'Green tea']);
});

test('many notes leave room for the rest', () => {
  const many = Array.from({ length: 60 }, (_, i) => of('note', `Tea ${i}`, `Tea ${i}.md`));
  const got = rank([...many, of('tool', 'Make tea')], 'tea');
  expect([got.length, got.at(-1)?.label]).toEqual([9, 'Make tea']);
  expect(rank(many, 'tea')).toHaveLength(50);
  expect(rank([...many, of('command', 'Activity')], '').map((c) => c.label)).toEqual(['Tea 0', 'Tea 1', 'Tea 2', 'Tea 3', 'Tea 4', 'Activity']);
});

test('of very many notes the same are shown first as of few', () => {
  const many = Array.from({ length: 20_000 }, (_, i) => of('note', `${i % 3 ? 'Leaf' : 'Green leaf'} ${i}`, `Many/Leaf ${i}.md`));
  const few = [...many.slice(0, 900), ...many.slice(-100)];
  const first = (l: Choice[], typed: string, recent: string[] = []): string[] => rank(l, typed, recent).slice(0, 20).map((c) => c.label);
  expect(first(many, 'leaf 19999')[0]).toBe('Leaf 19999');
  expect(first(many, '')).toEqual(first(few, ''));
  expect(first(many, 'leaf', ['Many/Leaf 12346.md'])[0]).toBe('Leaf 12346');
  expect(rank(many, 'leaf')).toHaveLength(50);
});

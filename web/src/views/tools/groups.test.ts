import { expect, test } from 'vitest';
import type { Tool } from '../../lib/types';
import { groupsOf, toolsFor } from './groups';

const tool = (name: string, toolset: string, more: Partial<Tool> = {}): Tool => ({ name, title: name, toolset, summary: `Does ${name}`, description: '', effect: 'read', shape: 'text', input_schema: {}, ...more }) as Tool;
const all = [tool('tell', 'clock'), tool('odd', 'strange'), tool('fetch', 'external', { source: 'weather' }), tool('read', 'notes'), tool('also_read', 'notes', { hidden: true }), tool('search', 'explore', { summary: 'Find notes by meaning' })];

test('by what somebody wants to do, with those of other servers last', () => {
  expect(groupsOf(all).map((g) => [g.title, g.tools.map((t) => t.name)])).toEqual([
    ['Read and write notes', ['read', 'also_read']],
    ['Find and explore', ['search']],
    ['Dates and times', ['tell']],
    ['Strange', ['odd']],
    ['From weather', ['fetch']],
  ]);
});

test('found by name, by title, by what it does', () => {
  const names = (typed: string): string[] => toolsFor(all, typed).map((t) => t.name);
  expect(names('')).toEqual(['tell', 'odd', 'fetch', 'read', 'search']);
  expect(names('also')).toEqual(['also_read']);
  expect(names('by meaning')).toEqual(['search']);
  expect(names('zzz')).toEqual([]);
});

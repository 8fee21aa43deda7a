import { beforeEach, expect, test } from 'vitest';
import { forget, save, saved } from './saved';

beforeEach(() => localStorage.clear());

test('a search is kept by its name, replaced, and forgotten', () => {
  save('Tea', '/search?q=tea');
  save('Open', '/search?prop=status%3Aopen');
  expect(save('Tea', '/search?q=tea&folder=Notes')).toEqual([
    { name: 'Open', at: '/search?prop=status%3Aopen' },
    { name: 'Tea', at: '/search?q=tea&folder=Notes' },
  ]);
  expect(forget('Open')).toEqual([{ name: 'Tea', at: '/search?q=tea&folder=Notes' }]);
});

test('what is kept and is no search leads nowhere', () => {
  for (const kept of ['{', '3', '[null, 7, {"name": "x"}, {"name": "x", "at": "https://elsewhere.example/search?q=x"}, {"name": "x", "at": "javascript:1"}]']) {
    localStorage.setItem('lore.searches', kept);
    expect(saved()).toEqual([]);
  }
});

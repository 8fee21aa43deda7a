import { describe, expect, test } from 'vitest';
import { addressOf, argsOf, asked, bare, chipsOf, isHalf, readFrom } from './filters';

const of = (s: string): ReturnType<typeof readFrom> => readFrom(new URLSearchParams(s));

describe('a search in its address', () => {
  test.each(['', 'q=tea', 'q=a+%26+b&folder=Notes%2FDeep&tag=tea&tag=green&tags=any&type=Claim&after=2026-01-01&before=2026-02-01&prop=status%3Aopen&prop=rating&mode=lexical'])('%s', (s) => {
    expect(addressOf(of(s))).toBe(s ? `/search?${s}` : '/search');
  });
  test('what is none is left out', () => {
    expect(addressOf(of('q=&tag=%23tea&tag=&prop=%3Ax&mode=wild&else=1&tags=any'))).toBe('/search?tag=tea');
  });
});

test('the arguments name only what was asked for', () => {
  expect(argsOf(of('q=tea'))).toEqual({ query: 'tea' });
  expect(argsOf(of('q=tea&folder=N&tag=a&tag=b&tags=any&type=T&after=2026-01-01&before=2026-02-01&prop=s:open&prop=r&mode=semantic'))).toEqual({
    query: 'tea', mode: 'semantic', filter: { folder: 'N', tags: ['a', 'b'], tags_match: 'any', type: 'T', date_after: '2026-01-01', date_before: '2026-02-01', properties: { s: 'open', r: '' } },
  });
});

test('every chip takes away one thing', () => {
  const f = of('q=tea&folder=N&tag=a&tag=b&prop=s:open&prop=r&mode=lexical');
  expect(chipsOf(f).map((c) => [c.label, addressOf(c.without)])).toEqual([
    ['In N', '/search?q=tea&tag=a&tag=b&prop=s%3Aopen&prop=r&mode=lexical'],
    ['#a', '/search?q=tea&folder=N&tag=b&prop=s%3Aopen&prop=r&mode=lexical'],
    ['#b', '/search?q=tea&folder=N&tag=a&prop=s%3Aopen&prop=r&mode=lexical'],
    ['s: open', '/search?q=tea&folder=N&tag=a&tag=b&prop=r&mode=lexical'],
    ['Has r', '/search?q=tea&folder=N&tag=a&tag=b&prop=s%3Aopen&mode=lexical'],
    ['Keywords only', '/search?q=tea&folder=N&tag=a&tag=b&prop=s%3Aopen&prop=r'],
  ]);
  expect(addressOf(bare(f))).toBe('/search?q=tea');
});

test('a way to compare is nothing to search for', () => {
  expect([asked(of('mode=lexical')), asked(of('q=+')), asked(of('q=x')), asked(of('tag=x'))]).toEqual([false, false, true, true]);
});

test('a question that is being written waits', () => {
  for (const q of ['t', '"first fl', 'tea [rating', 'tea tag:', 'tea -']) expect(isHalf(q), q).toBe(true);
  for (const q of ['', 'te', '茶', '"first flush"', 'tea [rating>=4]', 'tag:tea', 'tea -green', 'a - b']) expect(isHalf(q), q).toBe(false);
});

import { describe, expect, it } from 'vitest';
import { counts, lookOf, only, said, spiral, tidy, type Data, type Filter } from './graph';

const node = (id: string, more = {}): Data['nodes'][number] => ({ node_id: id, path: `${id}.md`, type: 'Claim', title: `The ${id}`, confidence: null, ...more });
const edge = (a: string, b: string, type: string, id = `${a}${b}${type}`): Data['edges'][number] => ({ edge_id: id, from_id: a, to_id: b, relationship_type: type, confidence: 0.5 });
const all: Filter = { kinds: new Set(), type: '', tag: '', words: '' };
const d: Data = { nodes: [node('a', { tags: ['tea/green'] }), node('b', { type: 'Note' }), node('c'), node('alone')], edges: [edge('a', 'b', 'SUPPORTS'), edge('b', 'c', 'CONTRADICTS')] };
const ids = (x: Data): string => x.nodes.map((n) => n.node_id).join();

describe('the graph', () => {
  it('is whole without a filter', () => expect(only(d, all)).toBe(d));
  it('shows those that contradict each other, and nobody else', () => {
    const x = only(d, { ...all, kinds: new Set(['CONTRADICTS']) });
    expect([ids(x), x.edges.length]).toEqual(['b,c', 1]);
  });
  it('is filtered by type, tag and words', () => {
    expect(ids(only(d, { ...all, type: 'Claim' }))).toBe('a,c,alone');
    expect(ids(only(d, { ...all, tag: 'tea' }))).toBe('a');
    expect(ids(only(d, { ...all, tag: 'te' }))).toBe('');
    expect(ids(only(d, { ...all, words: 'the c' }))).toBe('b,c');
    expect(ids(only(d, { ...all, words: 'alone' }))).toBe('alone');
  });
  it('has each link once, however often it is written', () => {
    const x = tidy({ nodes: [node('a'), node('a'), node('b')], edges: [edge('a', 'b', 'LINKS_TO', '1'), edge('a', 'b', 'LINKS_TO', '2'), edge('a', 'b', 'CITES', '3'), edge('a', 'b', 'CITES', '4')] });
    expect([x.nodes.length, x.edges.length]).toEqual([2, 3]);
  });
  it('draws kinds by shape and sign, not by colour alone', () => {
    expect(lookOf('CONTRADICTS')).toMatchObject({ shape: 'both', sign: '⇄' });
    expect(lookOf('SUPPORTS').shape).not.toBe(lookOf('CONTRADICTS').shape);
    expect(lookOf('MY_OWN').sign).toBe('•');
    expect(said('DERIVED_FROM')).toBe('derived from');
  });
  it('counts, and begins at the same places each time', () => {
    expect(counts(['a', 'b', 'b'])).toEqual([['b', 2], ['a', 1]]);
    expect(spiral(50)).toEqual(spiral(50));
    expect(new Set(Array.from({ length: 50 }, (_, i) => spiral(50).slice(2 * i, 2 * i + 2).join())).size).toBe(50);
  });
});

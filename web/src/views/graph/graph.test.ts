import { describe, expect, it } from 'vitest';
import { around, counts, dayOf, days, lookOf, only, said, spiral, tidy, without, type Data, type Filter } from './graph';
import { Room, write, type Wanted } from './labels';
import { looksOf } from './looks';

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
  it('is what it was until a day, and shrinks without moving', () => {
    const old = { nodes: [node('a', { created: '2026-03-01T00:00:00Z', modified: '2026-04-09T00:00:00Z' }), node('b', { modified: '2026-04-01T00:00:00Z' })], edges: [edge('a', 'b', 'CITES')] };
    const span = days(old, 'created')!;
    expect(span.last - span.first).toBe(31);
    expect(days(d, 'modified')).toBeNull();
    const hidden = new Set(old.nodes.filter((n) => dayOf(n, 'created') > span.first).map((n) => n.node_id));
    expect([ids(without(old, hidden)), without(old, hidden).edges.length]).toEqual(['a', 0]);
    expect(without(old, new Set())).toBe(old);
  });
  it('tells what is around a note, in both directions, typed relations first', () => {
    const x = around({ ...d, edges: [...d.edges, edge('alone', 'b', 'LINKS_TO')] }, 'b');
    expect(x.map((e) => [e.type, e.back, e.node.node_id])).toEqual([['SUPPORTS', true, 'a'], ['CONTRADICTS', false, 'c'], ['LINKS_TO', true, 'alone']]);
  });
  it('gives each type a shape and a colour of its own', () => {
    const types = ['Note', 'Claim', 'Source', 'Person', 'Book', 'Meeting', 'Place', 'Recipe', 'Project'];
    const looks = looksOf(types);
    expect(new Set([...looks.values()].map((l) => l.shape + l.tone)).size).toBe(types.length);
    expect(looksOf([...types].reverse())).toEqual(looks);
    expect(looksOf(Array.from({ length: 90 }, (_, i) => `T${i}`)).size).toBe(90);
  });
  it('writes the names of important notes, and none over another', () => {
    const wanted: Wanted[] = Array.from({ length: 400 }, (_, i) => ({ key: `n${i}`, x: (i * 37) % 600, y: (i * 53) % 400, reach: 4, width: 60 + (i % 5) * 20, weight: i }));
    const got = write(wanted, 100, new Room(600, 400));
    expect(got.length).toBeGreaterThan(20);
    expect(got[0]!.key).toBe('n399');
    for (const a of got) {
      expect(a.left >= 0 && a.top >= 0 && a.right <= 600 && a.bottom <= 400).toBe(true);
      for (const b of got) expect(a === b || a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top).toBe(true);
    }
  });
  it('counts, and begins at the same places each time', () => {
    expect(counts(['a', 'b', 'b'])).toEqual([['b', 2], ['a', 1]]);
    expect(spiral(50)).toEqual(spiral(50));
    expect(new Set(Array.from({ length: 50 }, (_, i) => spiral(50).slice(2 * i, 2 * i + 2).join())).size).toBe(50);
  });
});

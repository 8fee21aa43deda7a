import { describe, expect, test } from 'vitest';
import type { Finding, ToolSetting } from '../../api.gen';
import { parse } from '../../parts/diff';
import { byLevel, commandOf, exampleOf, placeOf } from '../doctor/findings';
import { levelOf } from '../onboarding/careful';
import { pairsOf, quoted, unified, wordsOf } from './lines';
import { providersOf, stateOf, wrongAddress } from './providers';
import { choiceOf, groupsOf, unchosen } from './switches';

describe('two texts as a diff', () => {
  test('what goes and what comes', () => {
    expect(unified('a\nb\nc\n', 'a\nx\nc\nd\n')).toBe('@@ -1,3 +1,4 @@\n a\n-b\n+x\n c\n+d\n');
    expect(unified('a\n', 'a\n')).toBe('');
    expect(unified('', 'a\n')).toBe('@@ -1,0 +1,1 @@\n+a\n');
  });
  test('put together again, it is both', () => {
    let seed = 7;
    const next = (n: number): number => (seed = (seed * 48271) % 2147483647) % n;
    for (let k = 0; k < 200; k++) {
      const make = (): string[] => Array.from({ length: next(9) }, () => 'abc'[next(3)] ?? '');
      const [a, b] = [make(), make()];
      const lines = unified(a.join('\n') + (a.length ? '\n' : ''), b.join('\n') + (b.length ? '\n' : '')).split('\n').slice(1, -1);
      if (a.join() === b.join()) continue;
      expect(lines.filter((l) => l[0] !== '+').map((l) => l.slice(1))).toEqual(a);
      expect(lines.filter((l) => l[0] !== '-').map((l) => l.slice(1))).toEqual(b);
    }
  });
  test('the page can draw it', () => {
    expect(parse(unified('{\n  "a": 1\n}\n', '{\n  "a": 2\n}\n'))[0]?.lines.map((l) => l.sort)).toEqual(['same', 'removed', 'added', 'same']);
  });
});

describe('what is typed about a server', () => {
  test('words', () => {
    expect(wordsOf(`npx -y "a b" 'c "d' e\\f`)).toEqual(['npx', '-y', 'a b', 'c "d', 'e\\f']);
    expect(wordsOf('  ')).toEqual([]);
    expect(wordsOf('x "" y')).toEqual(['x', '', 'y']);
    expect([quoted('a'), quoted('a b'), quoted(''), quoted('$(x)')]).toEqual(['a', '"a b"', '""', '"$(x)"']);
  });
  test('pairs', () => {
    expect(pairsOf('A=b=c\n\n B = d ', '=').pairs).toEqual({ A: 'b=c', B: 'd' });
    expect(pairsOf('nothing', '=').wrong).toContain('NAME=value');
    expect(pairsOf('Authorization: Bearer x:y', ':').pairs).toEqual({ Authorization: 'Bearer x:y' });
  });
});

describe('providers', () => {
  const models = {
    usual: 'quote',
    providers: [
      { provider: 'openai', state: 'needs_key', models: [], error: 'a key is missing' },
      { provider: 'ollama', state: 'absent', models: [], error: 'connection refused' },
      { provider: 'box', state: 'ready', models: [{ name: 'script' }, { name: 'vectors', embedding: true }, { name: 'silent', mute: true }] },
    ],
  };
  const list = providersOf({ keys: [{ provider: 'box', place: 'file' }, { provider: 'ollama' }, { provider: 'openai' }] }, models, [{ key: 'providers.box.base_url', value: 'http://x/v1', source: 'file', doc: '' }]);
  test('who answers comes first, with models that talk', () => {
    expect(list.map((p) => [p.name, p.state, p.models, p.own, p.place, p.base])).toEqual([
      ['box', 'answers', ['script'], true, 'file', 'http://x/v1'], ['ollama', 'absent', [], false, '', ''], ['openai', 'key', [], false, '', ''],
    ]);
    expect(list.map((p) => stateOf(p).word)).toEqual(['1 model', 'Not running', 'Needs a key']);
  });
  test('addresses', () => {
    for (const good of ['http://localhost:1', 'https://a.example/v1']) expect(wrongAddress(good)).toBe('');
    for (const bad of ['', 'localhost:1', 'ftp://x', 'http://']) expect(wrongAddress(bad)).not.toBe('');
  });
});

describe('switches', () => {
  const tool = (name: string, more: Partial<ToolSetting> = {}): ToolSetting => ({ name, set: 'notes', doc: '', effect: 'read', state: 'on', from: 'default', usual: 'on', told: '', own: false, ...more });
  const sets = [{ name: 'notes', state: 'ask', tools: 2 }, { name: 'external', state: 'on', tools: 1 }];
  test('under their sets, and servers last', () => {
    const all = [tool('mcp__docs__find', { set: 'external', server: 'user:docs' }), tool('one'), tool('two', { doc: 'Counts words.' })];
    expect(groupsOf(sets, all, '').map((g) => [g.id, g.title, g.tools.length, g.set?.name])).toEqual([['notes', 'notes', 2, 'notes'], ['mcp:user:docs', 'docs', 1, undefined]]);
    expect(groupsOf(sets, all, 'words').map((g) => g.tools.map((t) => t.name))).toEqual([['two']]);
    expect(groupsOf(sets, all, 'zzz')).toEqual([]);
  });
  test('what is chosen, and what holds if nothing is', () => {
    expect(choiceOf(tool('a', { state: 'ask', from: 'set' }))).toBe('');
    expect(choiceOf(tool('a', { state: 'off', from: 'file' }))).toBe('off');
    expect(unchosen(tool('a', { effect: 'change' }), sets[0])).toBe('Same as toolset (always ask)');
    expect(unchosen(tool('a'), sets[0])).toBe('Default (on)');
    expect(unchosen(tool('a', { usual: 'off', state: 'off' }), sets[0])).toBe('Default (off)');
    expect(unchosen(tool('a', { usual: 'off', state: 'off' }), { name: 'notes', state: 'off', tools: 2 })).toBe('Same as toolset (off)');
  });
});

describe('the doctor', () => {
  const f = (more: Partial<Finding>): Finding => ({ level: 'note', topic: 'x', text: '', ...more });
  test('where to', () => {
    expect(placeOf(f({ path: 'A b/c.md', line: 3 }))?.href).toBe('/notes/A%20b/c.md?line=3');
    expect(placeOf(f({ path: 'a.png' }))).toBeNull();
    expect(placeOf(f({ topic: 'approve' }))?.href).toBe('/approvals');
    expect(placeOf(f({ topic: 'meaning' }))?.href).toBe('/settings/models');
    expect(placeOf(f({ topic: 'watch' }))).toBeNull();
  });
  test('commands in advice', () => {
    expect(commandOf('lore index --rebuild')).toEqual({ before: '', command: 'lore index --rebuild' });
    expect(commandOf('bring the folder back; if you removed the notes yourself: lore index --rebuild')?.command).toBe('lore index --rebuild');
    expect(commandOf('rename one of them')).toBeNull();
  });
  test('levels', () => expect([...byLevel([f({ level: 'ok' }), f({ level: 'odd' })])].map(([l, list]) => [l, list.length])).toEqual([['error', 0], ['warning', 1], ['note', 0], ['ok', 1]]));
  test('examples', () => {
    expect(exampleOf('A/b.md:12')).toEqual({ path: 'A/b.md', line: 12 });
    expect(exampleOf('A/b: 2.md')).toEqual({ path: 'A/b: 2.md', line: 0 });
  });
});

test('how careful', () => {
  const now = (create: string, share: string) => levelOf((k) => ({ 'approve.create': create, 'approve.share': share })[k]);
  expect([now('ask', 'allow'), now('ask', 'ask'), now('allow', 'allow'), now('allow', 'ask')]).toEqual(['usual', 'strict', 'loose', '']);
});

import { afterEach, describe, expect, test, vi } from 'vitest';
import { address, ask, onSignedOut, words, problemOf } from './api';
import { choiceOf, scopes, yes } from './answering';
import { Reader, Stream } from './events';
import { news } from './news';
import { toasts } from './toasts.svelte';
import { score } from './fuzzy';
import { hides, plainOf, reveal } from './hidden';
import { chord, listen } from './keys';
import { noteAt, pathTo, placeOf } from './router.svelte';
import { server } from './server.svelte';
import type { Approval } from './types';

afterEach(() => vi.unstubAllGlobals());

describe('router', () => {
  test.each([
    ['/', 'home', ''], ['/home', 'nowhere', ''], ['/notes', 'notes', ''], ['/notes/A%20b/c%23.md', 'notes', 'A b/c#.md'], ['/approvals/pending-1', 'approvals', 'pending-1'], ['/x', 'nowhere', ''],
    ['/notes/%E0%A4%A', 'nowhere', ''], ['/notes/a?line=3', 'notes', 'a'],
  ])('%s', (url, view, rest) => expect(placeOf(url)).toMatchObject({ view, rest }));
  test.each([
    ['A/b.md', 'A/b.md', ''], ['A/b.md#Part', 'A/b.md', 'Part'], ['b#Part#Deeper', 'b', 'Part#Deeper'], ['b', 'b', ''], ['', '', ''],
    ['C#.md', 'C#.md', ''], ['C# and F#.md#Part', 'C# and F#.md', 'Part'], ['b.md#see a.md', 'b.md', 'see a.md'],
  ])('the note of %s', (rest, path, anchor) => expect(noteAt(rest)).toEqual({ path, anchor }));
  test('there and back', () => {
    for (const rest of ['A b/c#?.md', '100 %.md', 'ä/茶.md', '..']) {
      if (rest !== '..') expect(placeOf(pathTo('notes', rest, { q: 'a&b' })).rest).toBe(rest);
    }
    expect(pathTo('home')).toBe('/');
    expect(pathTo('search', '', { q: '', line: undefined })).toBe('/search');
  });
});

describe('the way to the server', () => {
  const answer = (status: number, body: string): typeof fetch => vi.fn(async () => new Response(body, { status }));
  test('addresses', () => {
    expect(address('/x/{id}/y', { id: 'a/b ?' }, { q: 'ü', n: 0, none: undefined, empty: '' })).toBe('/x/a%2Fb%20%3F/y?q=%C3%BC&n=0');
  });
  test('a failure is a value', async () => {
    vi.stubGlobal('fetch', answer(409, '{"detail":"it changed","fix":"look again","kind":"conflict","status":409}'));
    const r = await ask('status');
    expect(r.ok).toBe(false);
    if (!r.ok) expect(words(r.problem)).toBe('It changed. Look again');
    expect(words(problemOf(0, 'The server does not answer.', 'Is it running?'))).toBe('The server does not answer. Is it running?');
    vi.stubGlobal('fetch', answer(200, '<html>'));
    expect((await ask('status')).ok).toBe(false);
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('x')));
    const gone = await ask('status');
    expect(!gone.ok && gone.problem.status).toBe(0);
  });
  test('a session that is over is told', async () => {
    const told = vi.fn();
    const off = onSignedOut(told);
    vi.stubGlobal('fetch', answer(401, '{}'));
    await ask('status');
    expect(told).toHaveBeenCalledOnce();
    off();
  });
  test('what changes something is JSON', async () => {
    const f = answer(200, '');
    vi.stubGlobal('fetch', f);
    expect((await ask('forgetRule', { path: { id: 'rule-1' } })).ok).toBe(true);
    expect(f).toHaveBeenCalledWith('/api/v1/rules/rule-1/forget', expect.objectContaining({ method: 'POST', body: '{}', headers: expect.objectContaining({ 'Content-Type': 'application/json' }) as unknown }));
  });
});

describe('news', () => {
  const stream = ': hello\n\nid: e-1\nevent: ready\ndata: {}\n\nid: e-2\nevent: approval.asked\ndata: {"id":"ä"}\n\n';
  test('cut anywhere, it is the same', () => {
    for (let i = 0; i <= stream.length; i++) {
      const r = new Reader();
      const got = [...r.push(stream.slice(0, i)), ...r.push(stream.slice(i))];
      expect(got).toEqual([{ id: 'e-1', topic: 'ready', data: {} }, { id: 'e-2', topic: 'approval.asked', data: { id: 'ä' } }]);
    }
  });
  test('it is taken up where it broke off, and ends with the session', async () => {
    vi.useFakeTimers();
    const asked: (string | undefined)[] = [];
    vi.stubGlobal('fetch', async (_: string, init: RequestInit) => {
      asked.push((init.headers as Record<string, string>)['Last-Event-ID']);
      return asked.length < 3 ? new Response(stream) : new Response('', { status: 401 });
    });
    const s = new Stream();
    const heard: string[] = [];
    s.hear((n) => heard.push(n.topic));
    const over = s.run(new AbortController().signal);
    for (let i = 0; i < 20; i++) await vi.advanceTimersByTimeAsync(1000);
    expect(await over).toBe('signedOut');
    vi.useRealTimers();
    expect(asked).toEqual([undefined, 'e-2', 'e-2']);
    expect(heard).toHaveLength(4);
  });
});

describe('what waits', () => {
  test('a list that was made before the news does not hide what they told of', async () => {
    const asked = { id: 'q1', asked: '2026', state: 'pending', preview: { summary: 'Write it' } };
    let tell: ReadableStreamDefaultController<Uint8Array> | undefined;
    let answer = (): void => {};
    const late = new Promise<void>((f) => (answer = f));
    let lists = 0;
    vi.stubGlobal('fetch', async (url: string) => {
      if (url.includes('/events')) return new Response(new ReadableStream({ start: (c) => void (tell = c) }));
      if (!url.includes('/approvals')) return new Response('{}');
      if (lists++ > 0) return new Response(JSON.stringify({ approvals: [asked] }));
      await late;
      return new Response('{"approvals":[]}');
    });
    server.start();
    await vi.waitFor(() => expect(tell).toBeDefined());
    tell?.enqueue(new TextEncoder().encode(`event: approval.asked\ndata: ${JSON.stringify(asked)}\n\n`));
    await vi.waitFor(() => expect(server.waiting).toHaveLength(1));
    answer();
    await server.known;
    expect(server.waiting).toHaveLength(1);
    news.stop();
  });
});

describe('hidden characters', () => {
  test('each is seen', () => {
    expect(reveal('a\u200bb\u202ec')).toEqual([{ text: 'a' }, { text: '\u200b', hidden: 'U+200B zero width space' }, { text: 'b' }, { text: '\u202e', hidden: 'U+202E right-to-left override' }, { text: 'c' }]);
    expect(hides('\u{e0041}\ufeff\u00ad\u001b')).toBe(4);
    expect(hides('Ärger 茶 👩‍🍳 ❤️\r\n\tx')).toBe(0);
    expect(hides('Te\u200da Te\u200ca a\ufe0f \u{1f3f4}\u{e0078}\u{e007f}')).toBe(5);
    expect(hides('می\u200cخواهم ශ්\u200dරී র\u200d্যাব 👨\u200d👩\u200d👧 1\ufe0f\u20e3 \u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}')).toBe(0);
    expect(plainOf('a\u202eb')).toBe('a\ufffdb');
  });
});

describe('an answer', () => {
  const q = {
    revision: 2, risk: 'change', tool: 'x', who: { kind: 'mcp', id: 'c1' },
    changes: [{ path: 'A/a.md', action: 'change', added: 1, removed: 0, hunks: 3 }, { path: 'A/b.md', action: 'create', added: 1, removed: 0, hunks: 1 }],
  } as unknown as Approval;
  test('everything is all of it, and names nothing', () => {
    expect(yes(q, choiceOf(q.changes ?? []), '')).toEqual({ approve: true, revision: 2 });
  });
  test('a part names what was taken', () => {
    const c = choiceOf(q.changes ?? []);
    c['A/a.md'] = { on: true, hunks: [1, 3] };
    c['A/b.md'] = { on: false, hunks: [1] };
    expect(yes(q, c, 'well')).toEqual({ approve: true, revision: 2, paths: ['A/a.md'], hunks: { 'A/a.md': [1, 3] }, word: 'well' });
    c['A/a.md'] = { on: true, hunks: [] };
    expect(yes(q, c, '').paths).toEqual([]);
  });
  test('what destroys, runs commands or comes from outside is never allowed from now on', () => {
    expect(scopes(q).map((s) => s.paths)).toEqual(['A/**', 'A/**', '**']);
    const one = (path: string): Approval => ({ ...q, changes: [{ ...q.changes![0]!, path }] });
    expect(scopes(one('A/a.md'))[0]).toEqual({ label: 'This tool on A/a.md, for everyone', paths: 'A/a.md' });
    expect(scopes(one('a [1].md'))[0]?.paths, 'a name without a folder fits in no other folder').toBe('/a \\[1\\].md');
    expect(scopes({ ...q, risk: 'destroy' })).toEqual([]);
    expect(scopes({ ...q, risk: 'exec' })).toEqual([]);
    expect(scopes({ ...q, who: { ...q.who, wary: true } })).toEqual([]);
  });
});

test('what was said of a question goes with its answer, and nothing else does', () => {
  toasts.say('It needs an answer.', 'bad', { about: 'q1' });
  toasts.say('Another does.', 'bad', { about: 'q2' });
  toasts.over('q1');
  expect(toasts.list.map((t) => t.about)).toEqual(['q2']);
});

describe('keys', () => {
  test('chords', () => {
    const key = (k: Partial<KeyboardEvent>): string => chord({ key: '', ctrlKey: false, metaKey: false, shiftKey: false, altKey: false, ...k });
    expect(key({ key: 'K', metaKey: true, shiftKey: true })).toBe('mod+shift+k');
    expect(key({ key: '?', shiftKey: true })).toBe('?');
  });
  test('two in a row, and never while somebody writes', () => {
    const run = vi.fn();
    const off = listen(() => [{ keys: 'g a', what: '', run }]);
    const press = (key: string, on: EventTarget = document.body): boolean => on.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    press('g');
    press('a');
    press('a');
    expect(run).toHaveBeenCalledOnce();
    const input = document.createElement('input');
    document.body.append(input);
    press('g', input);
    press('a', input);
    expect(run).toHaveBeenCalledOnce();
    off();
  });
});

test('what was typed is found by words, beginnings first', () => {
  expect(score('grt', 'Green tea')).toBeGreaterThan(0);
  expect(score('tea', 'Tea')).toBeGreaterThan(score('tea', 'Green tea'));
  expect(score('xyz', 'Green tea')).toBe(0);
});

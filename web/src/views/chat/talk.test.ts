import { describe, expect, test } from 'vitest';
import { chipsOf, commandsOf, gaugesOf, looseOf, merge, mindsOf, moneyOf, openCommand, openLink, questionsOf, stateOf, targetOf, turnsOf, usedOf, viewOf, whereOf, type Call, type Conversation, type Message, type Models, type Run } from './talk';
import { groupsOf } from '../settings/groups';

const say = (seq: number, role: string, text: string, more: Partial<Message> = {}): Message => ({ seq, role, time: '2026-01-01T00:00:00Z', parts: [{ kind: 'text', text }], run: 'r1', ...more });
const run = (id: string, more: Partial<Run> = {}): Run => ({ id, chat: 'c', status: 'done', model: 'box/x', started: id, limits: {}, priced: true, steps: 1, usage: { in: 1, out: 2 }, worked: 1e9, ...more });
const call = (seq: number, more: Partial<Call> = {}): Call => ({ seq, message: 2, id: `i${seq}`, tool: 't', args: {}, state: 'done', ...more });
const whole = (more: Partial<Conversation> = {}): Conversation => ({ chat: { id: 'c', title: '', created: '', changed: '' }, messages: [], runs: [], calls: {}, branches: [], ...more });

describe('a conversation in turns', () => {
  const c = whole({
    messages: [say(1, 'user', 'a'), say(2, 'assistant', ''), say(3, 'tool', ''), say(4, 'assistant', 'b'), say(5, 'user', 'c', { run: 'r2' }), say(6, 'assistant', 'd', { run: 'r2' })],
    runs: [run('r1'), run('r2')],
    calls: { r1: [call(1), call(2)] },
  });
  test('what was said, the steps to the answer, and their calls', () => {
    const turns = turnsOf(c);
    expect(turns.map((t) => [t.asked?.seq, t.steps.map((s) => [s.text, s.calls.length]), t.before, t.last, t.run?.id])).toEqual([
      [1, [['', 2], ['b', 0]], 0, 4, 'r1'],
      [5, [['d', 0]], 4, 6, 'r2'],
    ]);
  });
  test('a branch has messages of runs that are not its own', () => {
    const [t] = turnsOf({ ...c, runs: [run('r2')] });
    expect(t?.run).toBeUndefined();
    expect(t?.calls).toHaveLength(2);
    expect(turnsOf({ ...c, runs: [] }).map((x) => x.asked?.seq)).toEqual([1, 5]);
  });
  test('where it is told in short', () => {
    expect(turnsOf(whole({ messages: [say(1, 'user', 'a'), say(2, 'assistant', 'sum', { marker: 'compacted' }), say(3, 'assistant', 'b')] })).map((t) => !!t.marker)).toEqual([false, true, false]);
  });
  test('news replaces what it is about, and nothing else', () => {
    const now = merge(c, { run: run('r2', { status: 'running' }), calls: [call(9)], messages: [say(6, 'assistant', 'D', { run: 'r2' }), say(7, 'tool', '', { run: 'r2' })] });
    expect(now.messages?.map((m) => m.seq)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(now.messages?.[5]?.parts?.[0]?.text).toBe('D');
    expect(now.runs?.map((r) => r.status)).toEqual(['done', 'running']);
    expect(now.calls.r1).toHaveLength(2);
    expect(now.calls.r2).toHaveLength(1);
  });
});

describe('calls', () => {
  test('how far they are, plainly', () => {
    expect(stateOf(call(1, { repeats: true, state: 'error' })).word).toBe('Skipped: repeats an earlier call');
    expect(stateOf(call(1, { state: 'interrupted' })).word).toBe('Interrupted; it may or may not have finished');
    expect(stateOf(call(1, { state: 'denied' })).word).toBe('Denied');
    expect(stateOf(call(1, { state: 'error', excess: true, summary: 'too many' })).word).toBe('Skipped: too many calls in one answer');
    expect(stateOf(call(1, { state: 'error', summary: 'x' })).word).toBe('Failed');
  });
  test('what they are about', () => {
    expect(targetOf({ content: 'x', path: 'A.md' })).toBe('A.md');
    expect(targetOf({ n: 3, other: 'y' })).toBe('y');
    expect(targetOf(null)).toBe('');
    expect(targetOf({ query: 'a'.repeat(200) })).toHaveLength(90);
  });
  test('the notes that they showed', () => {
    const calls = [call(1, { whole: { results: [{ path: 'A.md', title: 'Ay' }, { path: 'B.md' }] } }), call(2, { whole: { path: 'B.md', title: 'Bee' } }), call(3, { state: 'denied', whole: { path: 'C.md' } }), call(4, { whole: { path: 'x.png' } })];
    expect([...usedOf(calls)]).toEqual([['A.md', 'Ay'], ['B.md', 'Bee']]);
  });
  test('results by shape', () => {
    expect(viewOf({ success: true, results: [{ path: 'A/B.md', heading: 'H', line: 3, chunk: '# H\n\n- a\n- b' }], more: 'm', mode: 'x' })).toEqual({ items: [{ path: 'A/B.md', title: 'B', text: 'H a b', line: 3, detail: 'H' }], foot: 'm', pairs: [['Mode', 'x']] });
    expect(viewOf({ parts: [{ name: 'a', count: 1 }, { name: 'b' }] })).toEqual({ head: ['Name', 'Count'], rows: [['a', '1'], ['b', '']] });
    expect(viewOf({ text: 't', list: ['a', 1] })).toEqual({ text: 't', pairs: [['List', 'a, 1']] });
    expect(viewOf('plain')).toEqual({ text: 'plain' });
    expect(viewOf(undefined)).toEqual({});
  });
});

describe('places and quotes', () => {
  const m = say(1, 'assistant', 'x\n\n> Not there\n> at all\n\n“loose”', {
    citations: [{ link: 'Notes/A#H', path: 'Notes/A.md', state: 'read' }, { link: 'B', state: 'unread' }, { link: 'A#No', path: 'Notes/A.md', state: 'heading' }],
    quotes: [{ text: 'Not there\nat all', read: false }, { text: 'loose', read: false }, { text: 'found', read: true }],
  });
  test('chips lead to the note at the heading, and say what is doubtful', () => {
    expect(chipsOf(m, new Map([['Notes/A.md', 'Title']])).map((c) => [c.number, c.title, c.to, c.doubt])).toEqual([
      [1, 'Title', 'Notes/A.md#H', ''],
      [2, 'B', 'B', 'Not read for this answer'],
      [3, 'Title', 'Notes/A.md#No', 'Heading not found in the note that was read'],
    ]);
  });
  test('what stands there is shown, of the heading that is meant', () => {
    const calls = [call(1, { whole: { results: [{ path: 'Notes/A.md', heading: 'Top > Other', chunk: 'no' }, { path: 'Notes/A.md', heading: 'Top > H', chunk: '## H\n\nyes' }] } })];
    expect(chipsOf(m, new Map(), calls).map((c) => c.passage)).toEqual(['H yes', '', '']);
  });
  test('quotes that stand apart are marked there', () => expect(looseOf(m).map((q) => q.text)).toEqual(['loose']));
});

describe('limits and prices', () => {
  test('gauges', () => {
    const r = run('r', { limits: { steps: 4, tokens: 2, time: 10e9, cost: 1 }, steps: 3, usage: { in: 1, out: 2, cost_usd: 0.5 } });
    expect(gaugesOf(r).map((g) => [g.label, g.used, g.most, g.words])).toEqual([['Steps', 3, 4, '3 of 4 steps'], ['Tokens', 2, 2, '3 of 2 tokens'], ['Cost', 0.5, 1, '$0.50 of $1.00'], ['Time', 1, 10, '1 s of 10 s']]);
    expect(gaugesOf(run('r'))).toEqual([]);
  });
  test('money', () => expect([moneyOf(0), moneyOf(0.0012), moneyOf(1.5), moneyOf(undefined), moneyOf(null)]).toEqual(['free', '$0.0012', '$1.50', undefined, undefined]));
});

describe('models', () => {
  const m: Models = {
    usual: 'quote',
    providers: [
      { provider: 'far', state: 'ready', models: [{ name: 'x' }, { name: 'e', embedding: true }] },
      { provider: 'near', state: 'ready', models: [{ name: 'y', local: true, thinking: true }] },
      { provider: 'gone', state: 'failed', models: [], error: 'nobody is there' },
    ],
  };
  test('those on this machine first; who cannot be reached says why', () => {
    const all = mindsOf(m);
    expect(all.here.map((x) => x.id)).toEqual(['near/y']);
    expect(all.away.map((x) => x.id)).toEqual(['far/x']);
    expect(all.silent).toEqual([{ provider: 'gone', why: 'nobody is there' }]);
  });
  test('where', () => expect([whereOf('quote', null), whereOf('near/y', m), whereOf('far/x', m), whereOf('other/z', m)]).toEqual(['here', 'here', 'away', 'unknown']));
});

describe('what is written', () => {
  test.each([
    ['see [[gre', 9, { from: 6, typed: 'gre' }], ['[[a]] b', 7, undefined], ['[[a\nb', 5, undefined], ['[[a|b', 5, undefined], ['x', 1, undefined], ['[[', 2, { from: 2, typed: '' }], ['[[a b]]', 4, { from: 2, typed: 'a ' }],
  ])('%j at %i', (text, caret, want) => expect(openLink(text, caret)).toEqual(want));
  test('commands', () => {
    expect([openCommand('/sea', 4), openCommand('/', 1), openCommand('a /sea', 6), openCommand('/sea x', 6)]).toEqual(['sea', '', undefined, undefined]);
    const tools = [{ name: 'search_notes', title: 'Search', input_schema: { required: ['query'] } }, { name: 'undo', title: 'Undo', input_schema: null }] as unknown as Parameters<typeof commandsOf>[0];
    expect(commandsOf(tools, 'search-n')).toEqual([{ name: 'search_notes', needs: ['QUERY'], what: 'Search' }]);
  });
  test('questions from the notes that are here', () => {
    expect(questionsOf([])).toEqual([]);
    const q = questionsOf([{ title: 'Monday, 2 March', path: 'd.md', words: 90, tags: ['daily'] }, { title: 'Tea', path: 'a.md', words: 50 }, { title: 'Cup', path: 'b.md', words: 50 }, { title: '', path: 'x/Pot.md', words: 50 }, { title: 'Stub', path: 's.md', words: 1 }]);
    expect(q).toEqual(['What do my notes say about “Tea”?', 'How are “Cup” and “Pot” connected?', 'What is still missing in my note “Tea”?']);
  });
});

describe('settings', () => {
  const s = (key: string) => ({ key, value: '', source: 'default', doc: '' });
  test('what belongs together', () => {
    expect(groupsOf([s('vault'), s('web.search'), s('providers.x.kind'), s('model')]).map((g) => [g.name, g.settings.map((x) => x.key)])).toEqual([['Models', ['providers.x.kind', 'model']], ['Web', ['web.search']], ['Other', ['vault']]]);
  });
});

import { afterEach, describe, expect, test } from 'vitest';
import { flushSync, mount, unmount } from 'svelte';
import TurnView from './Turn.svelte';
import { Talk } from './talk.svelte';
import { turnsOf, type Call, type Conversation, type Message, type Run } from './talk';

let shown: Record<string, unknown> | undefined;
afterEach(() => {
  if (shown) void unmount(shown);
  shown = undefined;
  document.body.replaceChildren();
});

/** draw shows one turn whose run ended somehow. */
function draw(run: Partial<Run>, calls: Partial<Call>[] = [], said: string[] = [], answer: Partial<Message> = {}): HTMLElement {
  const r: Run = { id: 'r', chat: 'c', status: 'done', model: 'box/x', started: '', limits: {}, priced: false, steps: 1, usage: { in: 1, out: 1 }, worked: 0, ...run };
  const c: Conversation = {
    chat: { id: 'c', title: '', created: '', changed: '' },
    messages: [{ seq: 1, role: 'user', run: 'r', time: '', parts: [{ kind: 'text', text: 'ask' }] }, { seq: 2, role: 'assistant', run: 'r', time: '', parts: [{ kind: 'text', text: 'answer' }], ...answer }],
    runs: [r],
    branches: [],
    calls: { r: calls.map((x, i) => ({ seq: i, message: 2, id: `${i}`, tool: 'a_tool', args: { path: 'A\u200b.md' }, state: 'done', ...x })) },
  };
  const [turn] = turnsOf(c);
  shown = mount(TurnView, { target: document.body, props: { turn: turn!, talk: new Talk('c'), last: true, edit: async () => true, branch: () => {}, again: (t: string) => said.push(t) } });
  flushSync();
  return document.body;
}

describe('how a run ended', () => {
  test('it waits for a person, and says why', () => {
    expect(draw({ status: 'waiting_user', reason: 'you said no three times' }).textContent).toContain('Waiting for you: you said no three times.');
  });
  test('it failed, and is tried again with the same words', () => {
    const said: string[] = [];
    const el = draw({ status: 'failed', reason: 'no such model' }, [], said);
    expect(el.querySelector('[role=alert]')?.textContent).toContain('Failed: no such model');
    el.querySelector<HTMLButtonElement>('[role=alert] button')?.click();
    expect(said).toEqual(['ask']);
  });
  test('a limit is near, or reached', () => {
    const said: string[] = [];
    const el = draw({ status: 'limit', reason: '25 steps', near: '25 of 25 steps are used' }, [], said);
    expect(el.querySelector('.near')?.textContent).toBe('25 of 25 steps are used');
    el.querySelector<HTMLButtonElement>('.continue')?.click();
    expect(said).toHaveLength(1);
  });
  test('a price that is not known is not nothing', () => expect(draw({}).querySelector('.meter summary')?.textContent).toContain('cost unknown'));
});

describe('what an answer rests on', () => {
  test('an answer that cites nothing stands beside what was found', () => {
    const el = draw({}, [], [], { uncited: [{ path: 'Notes/Tea.md', text: 'Tea is\u200b a drink.' }] }).querySelector('.uncited');
    expect(el?.textContent).toContain('cites none of the notes');
    expect(el?.querySelector('a')?.getAttribute('href')).toBe('/notes/Notes/Tea.md');
    expect(el?.querySelector('.hidden-char')?.textContent).toBe('U+200B');
  });
  test('one that cites is left alone', () => expect(draw({}).querySelector('.uncited')).toBeNull());
});

describe('what was done', () => {
  test('said plainly, with what hides shown', () => {
    const el = draw({}, [{ state: 'interrupted' }, { state: 'error', repeats: true }, { hidden: 3 }, { operation: 'op-1' }]);
    const lines = [...el.querySelectorAll('.call')].map((l) => l.textContent ?? '');
    expect(lines[0]).toContain('Interrupted; it may or may not have finished');
    expect(lines[1]).toContain('Skipped: repeats an earlier call');
    expect(lines[2]).toContain('3 invisible characters');
    expect(el.querySelector('.call .target .hidden-char')?.textContent).toBe('U+200B');
    expect(el.querySelectorAll('.undo')).toHaveLength(1);
    expect(el.querySelector('.call a')?.getAttribute('href')).toBe('/activity/op-1');
  });
});

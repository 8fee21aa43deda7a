import { flushSync, mount, unmount } from 'svelte';
import { afterEach, expect, test } from 'vitest';
import type { Approval as Question } from '../lib/types';
import Approval from './Approval.svelte';

let shown: Record<string, unknown> | undefined;
afterEach(() => {
  if (shown) void unmount(shown);
  shown = undefined;
  document.body.replaceChildren();
});

function card(more: Partial<Question>): HTMLElement {
  const question = {
    id: 'q1', revision: 1, plan: 'p', state: 'pending', tool: 'far__send', risk: 'egress', reason: '', who: { kind: 'agent', id: 'r1', surface: 'web' }, asked: '2026-01-01T00:00:00Z', expires: '2026-01-02T00:00:00Z',
    preview: { summary: 'Call send of the server far' }, args: {}, changes: [], ...more,
  } as unknown as Question;
  shown = mount(Approval, { target: document.body, props: { question } });
  flushSync();
  return document.body;
}
const quoted = (el: HTMLElement): HTMLDetailsElement => el.querySelector('blockquote')!.closest('details')!;

test('where no file changes, all that is sent is seen at once', () => {
  const el = card({ args: { text: 'x'.repeat(5000) + ' and the secret' } });
  expect(quoted(el).open).toBe(true);
  expect(quoted(el).textContent).toContain('and the secret');
});

test('what is too long to be shown is not left out in silence', () => {
  const el = card({ args: { text: 'x'.repeat(30_000) } });
  expect(quoted(el).querySelector('.warning')?.textContent).toMatch(/^10,0\d\d more characters not shown/);
});

test('where files change, what changes goes before what the caller says', () => {
  const el = card({ changes: [{ path: 'A.md', action: 'create', added: 1, removed: 0, hunks: 1, diff: '@@ -0,0 +1 @@\n+x\n' }] as unknown as NonNullable<Question['changes']> });
  expect(quoted(el).open).toBe(false);
});

test('the calls of a batch and the text of a workflow are seen whole, with what nobody sees in them', () => {
  const el = card({ preview: { summary: 'Allow the workflow Review', steps: ['steps:', '  - tool: delete_note', '    x: a\u200bb'] } as unknown as Question['preview'] });
  const lines = [...el.querySelectorAll('.steps > div')].map((d) => d.textContent);
  expect(lines.slice(0, 2)).toEqual(['steps:', '  - tool: delete_note']);
  expect(lines[2]).not.toContain('\u200b');
});

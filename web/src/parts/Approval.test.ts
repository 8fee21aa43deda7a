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

const change = (path: string): NonNullable<Question['changes']> => [{ path, action: 'change', added: 1, removed: 0, hunks: 1, diff: '@@ -1 +1,2 @@\n a\n+x\n' }] as unknown as NonNullable<Question['changes']>;
/** seen is the text of a card before anything is opened. */
function seen(el: HTMLElement): string {
  for (const hidden of el.querySelectorAll('details:not([open]) > :not(summary), .sr')) hidden.remove();
  return el.textContent.replace(/\s+/g, ' ');
}

test('the reason that the summary says already is in the details, every other one is seen at once', () => {
  expect(seen(card({ risk: 'change', reason: 'it changes existing content', changes: change('A.md') }))).not.toContain('existing content');
  document.body.replaceChildren();
  expect(seen(card({ risk: 'change', reason: 'text would be lost', changes: change('A.md') }))).toContain('Text would be lost.');
});

test('what cannot be undone is said at once, with its risk', () => {
  const text = seen(card({}));
  expect(text).toContain('This cannot be undone');
  expect(text).toContain('Requested by');
  expect(document.querySelector('.chip.egress')).not.toBeNull();
});

test('a file has its own heading unless the summary names its whole path', () => {
  expect(seen(card({ risk: 'change', changes: change('A.md'), preview: { summary: 'Edit A.md at line 7' } as unknown as Question['preview'] }))).not.toContain('change A.md');
  document.body.replaceChildren();
  expect(seen(card({ risk: 'change', changes: change('A.md'), preview: { summary: 'Edit B/A.md' } as unknown as Question['preview'] }))).toContain('change A.md');
});

import { afterEach, expect, test } from 'vitest';
import { flushSync, mount, unmount } from 'svelte';
import Options from './Options.svelte';
import type { Run } from './talk';

let shown: Record<string, unknown> | undefined;
afterEach(() => {
  if (shown) void unmount(shown);
  shown = undefined;
});

test.each<[Run['instructions'], string]>([
  [undefined, ''],
  [{ path: 'AGENTS.md' }, 'AGENTS.md in your vault also applies.'],
  [{ path: 'AGENTS.md', cut: true }, 'The beginning of AGENTS.md also applies; the rest is too long for the model.'],
  [{ path: 'AGENTS.md', unused: 'it is marked as untrusted' }, 'AGENTS.md was not used: it is marked as untrusted.'],
])('the instructions of the vault: %o', (instructions, want) => {
  shown = mount(Options, { target: document.body, props: { chat: { toolsets: null, no_tools: false, system: '' }, instructions, change: () => {} } });
  flushSync();
  expect(document.body.querySelector('p')?.textContent ?? '').toBe(want);
});

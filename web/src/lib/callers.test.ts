import { afterEach, expect, test, vi } from 'vitest';
import { callers, kinds, modelName } from './callers.svelte';

afterEach(() => vi.unstubAllGlobals());

test('callers are named as a person knows them', () => {
  const names: [Parameters<typeof callers.name>[0], string][] = [
    [{ kind: 'person', id: 'session-abc' }, 'you'],
    [{ kind: 'person', id: 'terminal' }, 'you (terminal)'],
    [{ kind: 'agent', id: 'run-1', name: 'ollama/qwen3:8b' }, 'qwen3:8b'],
    [{ kind: 'agent', id: 'run-2', name: 'quote' }, 'the assistant'],
    [{ kind: 'agent', id: 'run-3' }, 'the assistant'],
    [{ kind: 'rest', id: 'token-1', name: 'backup script' }, '“backup script”'],
    [{ kind: 'mcp', id: 'stdio', client: 'Claude Desktop' }, '“Claude Desktop”'],
    [{ kind: 'mcp', id: 'token-2', name: 'phone', client: 'Claude Desktop' }, '“phone”'],
    [{ kind: 'mcp', id: 'stdio' }, 'an MCP client'],
    [{ kind: 'schedule', id: 'job-1' }, 'a schedule'],
  ];
  for (const [who, name] of names) expect(callers.name(who)).toBe(name);
  for (const [kind] of kinds) expect(callers.name({ kind, id: 'x-1' }), kind).not.toContain('x-1');
});

test('runs are asked for together and once, and named after their models', async () => {
  const asked: string[] = [];
  vi.stubGlobal('fetch', async (to: string) => {
    asked.push(to);
    return new Response(JSON.stringify({ runs: [{ id: 'run-9', model: 'box/script' }] }));
  });
  await Promise.all(['run-8', 'run-9', 'run-9'].map((id) => callers.learn({ kind: 'agent', id })));
  await callers.learn({ kind: 'agent', id: 'run-9' });
  expect(asked).toEqual(['/api/v1/runs?id=run-8%2Crun-9']);
  expect(callers.name({ kind: 'agent', id: 'run-8' }), 'its chat was deleted').toBe('the assistant');
  expect(callers.name({ kind: 'agent', id: 'run-9' })).toBe('script');
});

test('a model without its provider', () => expect([modelName('openrouter/a/b'), modelName('plain')]).toEqual(['a/b', 'plain']));

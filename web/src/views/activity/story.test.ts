import { expect, test } from 'vitest';
import type { Called } from '../../lib/types';
import { changesOf, dayName, daysOf, isTold, sentence, withoutAnswered, type Run } from './story';

let seq = 100;
const call = (more: Partial<Called>): Called => ({ seq: seq--, time: '2026-05-02T10:00:00Z', initiated_by: 'agent', run: 'run-1', surface: 'web', tool: 'edit_note', status: 'done', duration_ms: 1, ...more });
const edit = (path: string, more: Partial<Called> = {}): Called => call({ operation_id: `op-${path}`, target: [path], ...more });
const run = (...calls: Called[]): Run => ({ key: 1, kind: 'agent', id: 'run-1', time: '', calls });

test('by day, and by who did it in a row', () => {
  const days = daysOf([
    edit('a.md'), edit('b.md'), call({ run: 'token-1', initiated_by: 'rest' }), edit('c.md', { time: '2026-05-02T09:00:00Z' }), edit('d.md', { time: '2026-05-02T08:00:00Z' }), edit('e.md', { time: '2026-05-01T23:00:00Z' }),
  ], (iso) => iso.slice(0, 10));
  expect(days.map((d) => [d.day, d.runs.map((r) => [r.id, r.calls.length])])).toEqual([
    ['2026-05-02', [['run-1', 2], ['token-1', 1], ['run-1', 1], ['run-1', 1]]], // an hour later is another sitting
    ['2026-05-01', [['run-1', 1]]],
  ]);
});

test('one sentence', () => {
  const cases: [Run, string][] = [
    [run(edit('Notes/Sencha.md')), 'changed 1 note: Sencha'],
    [run(edit('Sencha.md'), edit('Sencha.md'), edit('Matcha.md')), 'changed 2 notes: Sencha, Matcha'],
    [run(edit('a.md'), edit('b.md'), edit('c.md'), edit('d.md'), edit('e.md')), 'changed 5 notes: a, b, c and 2 more'],
    [run(edit('a.md'), call({ status: 'pending' }), call({ status: 'failed' })), 'changed 1 note: a; asked for approval and had 1 failed call'],
    [run(edit('New.md', { result_summary: 'Create New.md (2 bytes)' }), edit('Old.md', { result_summary: 'Delete Old.md (9 bytes)' })), 'created 1 note: New and deleted 1 note: Old'],
    [run(edit('a.md', { result_summary: 'Rename a.md to b.md', target: ['a.md', 'b.md'] })), 'renamed 1 note: b'],
    [run(edit('a.md', { result_summary: 'Undo edit_note of 2026-05-02 09:00 (op-1): change a.md' })), 'undid changes to 1 note: a'],
    [run(call({ status: 'denied' }), call({ status: 'denied' })), 'was denied 2 times'],
    [run(call({ operation_id: 'op-1' })), 'made 1 change'],
    [run(call({})), 'made 1 call'],
  ];
  for (const [r, words] of cases) expect(sentence(r)).toBe(words);
  expect(changesOf(run(edit('a.md'), edit('a.md'), call({ operation_id: 'op-x', status: 'failed' })))).toEqual(['op-a.md']);
  expect(changesOf(run(edit('a.md', { undone: true }), edit('b.md')))).toEqual(['op-b.md']);
});

test('reads are left out, unless they went wrong', () => {
  const reads = new Set(['read_note']);
  const told = (more: Partial<Called>): boolean => isTold(call({ tool: 'read_note', ...more }), reads);
  expect([told({}), told({ status: 'dry_run' }), told({ status: 'failed' }), told({ status: 'denied' }), isTold(call({}), reads)]).toEqual([false, false, true, true, true]);
});

test('a question that was answered is told by what came of it', () => {
  const asked = (id: string): Called => call({ status: 'pending', pending_operation_id: id });
  expect(withoutAnswered([edit('a.md', { pending_operation_id: 'q1' }), asked('q1'), asked('q2'), call({})]).map((c) => c.status)).toEqual(['done', 'pending', 'done']);
});

test('days in words', () => {
  expect(dayName('2026-05-02', '2026-05-02')).toBe('Today');
  expect(dayName('2026-05-01', '2026-05-02')).toBe('Yesterday');
  expect(dayName('2026-04-01', '2026-05-02')).toMatch(/2026/);
});

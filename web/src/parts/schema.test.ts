import { flushSync, mount, unmount } from 'svelte';
import { expect, test } from 'vitest';
import { cleaned, fieldsOf, missing, type Schema } from './schema';
import Holder from './FormHolder.test.svelte';

const schema: Schema = {
  type: 'object',
  required: ['path'],
  properties: {
    limit: { type: 'integer', minimum: 1, default: 20 },
    path: { type: 'string', description: 'Where it lies.' },
    content: { type: 'string' },
    mode: { type: 'string', enum: ['a', 'b'] },
    deep: { type: ['null', 'boolean'] },
    tags: { type: 'array', items: { type: 'string' } },
    free: { type: 'object' },
    filter: { type: 'object', properties: { folder: { type: 'string' } } },
  },
};

test('fields by what they take, needed ones first', () => {
  expect(fieldsOf(schema).map((f) => [f.name, f.kind, f.required])).toEqual([
    ['path', 'text', true], ['limit', 'number', false], ['content', 'long', false], ['mode', 'choice', false], ['deep', 'switch', false], ['tags', 'words', false], ['free', 'json', false], ['filter', 'group', false],
  ]);
});

test('a field speaks to people, and does not repeat itself', () => {
  const [path, links, heading, hash, own] = fieldsOf({
    type: 'object',
    properties: { path: { type: 'string', description: 'Path or name.' }, update_links: { type: 'boolean', description: 'Update links.' }, heading: { type: 'string', description: 'Instead: a heading ...' }, if_hash: { type: 'string', description: 'Expected hash, from a read.' }, cup_size: { type: 'string', description: 'In ml.' } },
  });
  expect([path?.label, path?.help]).toEqual(['Note', 'Path or name.']);
  expect([links?.label, links?.help]).toEqual(['Update links', '']);
  expect(heading?.help).toBe('Renames a heading in the note instead of the note.');
  expect([hash?.label, hash?.advanced]).toEqual(['Expected hash', true]);
  expect([own?.label, own?.help, own?.advanced]).toEqual(['Cup size', 'In ml.', false]);
});

test('values that may have lines have room for them', () => {
  const kinds = (...names: string[]): string[] => fieldsOf({ type: 'object', properties: Object.fromEntries(names.map((n) => [n, { type: 'string' }])) }).map((f) => f.kind);
  expect(new Set(kinds('search', 'replace', 'diff', 'content', 'text', 'notes', 'summary', 'old_string', 'new_text'))).toEqual(new Set(['long']));
  expect(new Set(kinds('path', 'folder', 'query', 'if_hash', 'new_path', 'tag'))).toEqual(new Set(['text']));
});

test('a value with lines keeps them, whatever it is called', () => {
  const target = document.createElement('div');
  document.body.append(target);
  let held: Record<string, unknown> = {};
  const c = mount(Holder, { target, props: { schema: { type: 'object', properties: { odd: { type: 'string' }, win: { type: 'string' } } }, begin: { odd: 'one\ntwo', win: 'one\r\ntwo' }, hold: (v: Record<string, unknown>) => void (held = v) } });
  flushSync();
  const write = (id: string, text: string): void => {
    const el = target.querySelector<HTMLTextAreaElement>(`textarea#f-${id}`)!;
    el.value = text;
    el.dispatchEvent(new Event('input', { bubbles: true }));
    flushSync();
  };
  write('odd', 'one\nthree\nfour');
  write('win', 'one\nthree');
  expect(held).toEqual({ odd: 'one\nthree\nfour', win: 'one\r\nthree' });
  write('odd', 'one'); // the field stays what it is while somebody writes in it
  expect(target.querySelector('textarea#f-odd')).not.toBeNull();
  void unmount(c);
  target.remove();
});

test('what was not filled in is not sent', () => {
  const f = fieldsOf(schema);
  expect(cleaned(f, { path: '', limit: undefined, mode: '', tags: [], filter: { folder: '' }, deep: false, extra: 1 })).toEqual({ path: '', deep: false, extra: 1 });
  expect(missing(f, { limit: 3 })).toEqual(['path']);
  expect(missing(f, { path: 'x' })).toEqual([]);
});

test('a form fills a value in', () => {
  const target = document.createElement('div');
  document.body.append(target);
  const held: { value: Record<string, unknown>; whole: boolean } = { value: {}, whole: true };
  const c = mount(Holder, { target, props: { schema, hold: (v: Record<string, unknown>, whole: boolean) => void Object.assign(held, { value: v, whole }) } });
  const put = (id: string, value: string, event: string): void => {
    const el = target.querySelector<HTMLInputElement>('#f-' + id);
    if (!el) throw new Error(id);
    el.value = value;
    el.dispatchEvent(new Event(event, { bubbles: true }));
    flushSync();
  };
  put('path', 'Tea.md', 'input');
  put('limit', '7', 'input');
  put('tags', 'a\nb', 'input');
  put('mode', 'b', 'change');
  put('free', '{"x": [1]}', 'change');
  put('filter-folder', 'Notes', 'input');
  expect(held.value).toEqual({ path: 'Tea.md', limit: 7, tags: ['a', 'b'], mode: 'b', free: { x: [1] }, filter: { folder: 'Notes' } });
  put('free', '{', 'change');
  expect(target.textContent).toContain('Not valid JSON.');
  expect(held.whole, 'who reads the value hears that it is not what was written').toBe(false);
  put('free', '{}', 'change');
  expect(held.whole).toBe(true);
  put('limit', '', 'input');
  expect('limit' in held.value).toBe(false);
  void unmount(c);
});

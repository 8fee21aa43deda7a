import { describe, expect, it } from 'vitest';
import { fileAddress, isFile, near } from '../../lib/files';
import { render } from '../../parts/markdown';
import { headings, isWorkflow, linesOf, plain, readWhole, shownValue, valueOf } from './text';
import { fitting, folderOf, grow, name, rows, way, type Listed } from './tree';

const listed = (...paths: string[]): Listed[] => paths.map((path) => ({ path, title: name(path) }));

describe('the tree', () => {
  const all = listed('B.md', 'A/Note 10.md', 'A/Note 2.md', 'A/Deep/X.md', 'a.md');
  it('shows folders first, numbers in their order, and only what stands open', () => {
    expect(rows(grow(all), new Set()).map((r) => r.path)).toEqual(['A', 'a.md', 'B.md']);
    const open = rows(grow(all), new Set(['A']));
    expect(open.map((r) => `${r.level} ${r.name}`)).toEqual(['1 A', '2 Deep', '2 Note 2', '2 Note 10', '1 a', '1 B']);
    expect(open[0]).toMatchObject({ kind: 'folder', open: true, count: 3, pos: 1, size: 3 });
    expect(open[3]).toMatchObject({ kind: 'note', pos: 3, size: 3 });
  });
  it('finds by what is typed, the best first', () => {
    expect(fitting(all, 'note 10').map((r) => r.path)).toEqual(['A/Note 10.md']);
    expect(fitting(all, 'zzz')).toEqual([]);
  });
  it('knows the way', () => {
    expect(way('A/B/C.md')).toEqual(['A', 'A/B']);
    expect(folderOf('A/B/C.md')).toBe('A/B');
    expect(folderOf('C.md')).toBe('');
  });
  it('grows twenty thousand at once', () => {
    const many = listed(...Array.from({ length: 20_000 }, (_, i) => `F${i % 40}/G${i % 7}/N${i}.md`));
    expect(rows(grow(many), new Set(['F0'])).length).toBe(47);
  });
});

describe('a note', () => {
  const sha = async (s: string): Promise<string> => [...new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(s)))].map((x) => x.toString(16).padStart(2, '0')).join('');
  const serve = (text: () => string, size: number, hash: () => string) => async (a: { offset: number }) => {
    const lines = text().split(/(?<=\n)/);
    return { ok: true as const, value: { path: 'A.md', title: 'A', hash: hash(), text: lines.slice(a.offset - 1, a.offset - 1 + size).join(''), line: a.offset, lines: lines.length } };
  };
  it('is read whole, piece by piece, each line once', async () => {
    const text = Array.from({ length: 23 }, (_, i) => `line ${i}`).join('\n');
    const h = await sha(text);
    const r = await readWhole('A', serve(() => text, 5, () => h));
    expect(r).toMatchObject({ ok: true, value: { text, whole: true, hash: h } });
  });
  it('is read again when it changes meanwhile', async () => {
    const [a, b] = ['1\n2\n3\n', '1\n2\n3\n4\n'];
    const [ha, hb] = [await sha(a), await sha(b)];
    let n = 0;
    const r = await readWhole('A', serve(() => (n > 1 ? b : a), 1, () => (n++ > 1 ? hb : ha)));
    expect(r).toMatchObject({ ok: true, value: { text: b, hash: hb } });
  });
  it('cannot be written when not all of it came', async () => {
    const r = await readWhole('A', serve(() => 'cut', 5, () => 'of something longer'));
    expect(r).toMatchObject({ ok: true, value: { whole: false } });
  });
  it('may be a workflow', () => {
    expect(isWorkflow('# A\n\n```yaml\ndescription: x\nsteps:\n  - tool: a\n```\n')).toBe(true);
    expect(isWorkflow('# A\n\n```yaml\na: 1\n```\n\nsteps:\n')).toBe(false);
    expect(isWorkflow('```js\nsteps:\n```\n' + '`'.repeat(5000))).toBe(false);
  });
  it('has lines, headings and line ends', () => {
    expect([linesOf(''), linesOf('a'), linesOf('a\n'), linesOf('a\n\nb')]).toEqual([0, 1, 1, 3]);
    expect(plain('a\r\nb\rc')).toBe('a\nb\nc');
    expect(headings('---\n# no\n---\n# One #\n```\n# code\n```\n#tag\n## Two')).toEqual([{ level: 1, text: 'One', line: 4 }, { level: 2, text: 'Two', line: 9 }]);
  });
  it('has properties that stay what they were', () => {
    expect(valueOf('a, b', ['x'])).toEqual(['a', 'b']);
    expect(valueOf('5', 3)).toBe(5);
    expect(valueOf('5', 'five')).toBe('5');
    expect(valueOf('true', undefined)).toBe(true);
    expect(shownValue(['a', 1])).toBe('a, 1');
    expect(shownValue(null)).toBe('');
  });
  it('has lists whose parts stay what they were', () => {
    expect(valueOf('1, 2, 3', [1, 2])).toEqual([1, 2, 3]);
    expect(valueOf('a, 1, true', ['a', 1])).toEqual(['a', 1, 'true']);
    const authors = ['Doe, Jane', 'Roe, Rick'];
    expect(valueOf(shownValue(authors), authors)).toEqual(authors);
    expect(valueOf('["Doe, Jane"]', authors)).toEqual(['Doe, Jane']);
    for (const list of [[{ a: 1 }], [null], [['x']], [' '], ['[x]'], []]) expect(valueOf(shownValue(list), list)).toEqual(list);
  });
  it('takes for numbers only what comes back as it was typed', () => {
    for (const typed of ['01067', '00491234567', '1.10', '12345678901234567890']) expect(valueOf(typed, undefined)).toBe(typed);
    expect([valueOf('-3', undefined), valueOf('2.5', 1)]).toEqual([-3, 2.5]);
  });
});

describe('files of the vault', () => {
  it('are told from notes, and found from a note', () => {
    expect([isFile('a.png'), isFile('a.PDF'), isFile('a'), isFile('a.md'), isFile('v1.2')]).toEqual([true, true, false, false, false]);
    expect(near('Notes/Deep/A.md', '../pics/a b.png')).toBe('Notes/pics/a b.png');
    expect(near('A.md', '../../x.png')).toBe('x.png');
    expect(fileAddress('a b/ü#.png')).toBe('/api/v1/files/a%20b/%C3%BC%23.png');
  });
  it('are shown when they lie here, and never fetched from elsewhere', () => {
    const el = document.createElement('div');
    const file = (t: string): string | undefined => (isFile(t) ? fileAddress(t) : undefined);
    el.append(render('![x](a%20b.png) ![[c.png|120]] ![far](https://example.invalid/x.png) ![d](data:image/png;base64,AA) [doc](a.pdf) ![[Note]]', { note: (t) => '/n/' + t, file }));
    expect([...el.querySelectorAll('img')].map((i) => [i.getAttribute('src'), i.alt, i.width])).toEqual([['/api/v1/files/a%20b.png', 'x', 0], ['/api/v1/files/c.png', 'c.png', 120]]);
    expect([...el.querySelectorAll('a')].map((a) => a.getAttribute('href'))).toEqual(['https://example.invalid/x.png', '/api/v1/files/a.pdf', '/n/Note']);
    const bare = document.createElement('div');
    bare.append(render('![x](a.png)', { note: (t) => '/n/' + t }));
    expect(bare.querySelector('img')).toBeNull();
  });
});

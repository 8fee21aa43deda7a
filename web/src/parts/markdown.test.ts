import { describe, expect, test } from 'vitest';
import { render, safeAddress, split } from './markdown';

function html(text: string): string {
  const d = document.createElement('div');
  d.append(render(text, { note: (t) => '/notes/' + t, tag: (t) => '/search?q=' + t }));
  return d.innerHTML;
}

describe('what notes are made of', () => {
  test.each([
    ['# One *two*', '<h1>One <em>two</em></h1>'],
    ['Two\n===', '<h1>Two</h1>'],
    ['a **b** ~~c~~ `d <e>`', '<p>a <strong>b</strong> <s>c</s> <code>d &lt;e&gt;</code></p>'],
    ['- a\n- [x] b', '<ul><li>a</li><li><input type="checkbox" disabled="" aria-label="Done"> b</li></ul>'],
    ['3. a\n4. b', '<ol start="3"><li>a</li><li>b</li></ol>'],
    ['[[Tea|the leaf]] ![[Cup]]', '<p><a class="wiki" href="/notes/Tea">the leaf</a> <a class="wiki" href="/notes/Cup">Cup</a></p>'],
    ['[x](Green%20tea.md)', '<p><a href="/notes/Green tea.md">x</a></p>'],
    ['a #tea/green b#c #12', '<p>a <a href="/search?q=tea/green" class="tag">#tea/green</a> b#c #12</p>'],
    ['a \\* b &amp; &#9731; &unknown;', '<p>a * b &amp; ☃ &amp;unknown;</p>'],
    ['| a | b |\n|---|---|\n| 1 | 2 |', '<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>'],
    ['> [!tip] Well\n> then', '<blockquote class="callout tip"><strong class="callout-kind">Tip: Well</strong><p>then</p></blockquote>'],
    ['> [!tip]\n> then', '<blockquote class="callout tip"><strong class="callout-kind">Tip</strong><p>then</p></blockquote>'],
    ['> [!warning]- *So* it [[is]]', '<blockquote class="callout warning"><strong class="callout-kind">Warning: <em>So</em> it <a class="wiki" href="/notes/is">is</a></strong></blockquote>'],
    ['a ==b *c*== d == e', '<p>a <mark>b <em>c</em></mark> d == e</p>'],
    ['Said once. ^ratio\n\n2^10 ^ not', '<p data-block="ratio">Said once. </p><p>2^10 ^ not</p>'],
    ['> [!x" onload="y] z', '<blockquote><p>[!x" onload="y] z</p></blockquote>'],
    ['```js\nlet a = 1;\n```', '<pre title="js" tabindex="0"><code>let a = 1;</code></pre>'],
    ['---', '<hr>'],
    ['a https://x.example/y b', '<p>a <a href="https://x.example/y" rel="noreferrer noopener" target="_blank" class="outside">https://x.example/y</a> b</p>'],
    ['[https://bank.example](https://evil.example/x)', '<p><a href="https://evil.example/x" rel="noreferrer noopener" target="_blank" class="outside">https://bank.example</a></p>'],
  ])('%s', (text, want) => expect(html(text)).toBe(want));
});

describe('what notes try', () => {
  test.each([
    '<script>alert(1)</script>', '<img src=x onerror=alert(1)>', 'a <svg onload=alert(1)> b', '<details ontoggle=alert(1) open>', '<iframe srcdoc="x">', '<base href=//evil>',
    '<style>@import "//evil"</style>', '[x](javascript:alert(1))', '[x](JaVaScRiPt:alert(1))', '[x](&#106;avascript:alert(1))', '[x](<java\tscript:alert(1)>)', '[x](vbscript:x)', '[x](data:text/html,x)',
    '![x](javascript:alert(1))', '![x](https://evil.invalid/leak.png)', '[[a" onmouseover="alert(1)]]', '![[x|<img onerror=alert(1)>]]', '```"><img onerror=x>\ny\n```', '# <b id=x>y</b>', '<javascript:alert(1)>',
    '[r]: javascript:alert(1)\n\n[r]', '| <img onerror=x> |\n|---|\n| <script>y</script> |', '<a style="background:url(//evil)" class="card">x</a>',
  ])('%s', (text) => {
    const d = document.createElement('div');
    d.append(render(text, { note: (t) => '/notes/' + encodeURIComponent(t) }));
    expect(d.querySelectorAll('script, img, svg, iframe, style, base, details, object, embed, form, b').length).toBe(0);
    for (const el of d.querySelectorAll('*')) {
      for (const a of el.attributes) expect(a.name).not.toMatch(/^on|^style$|^id$|^src/);
      if (el instanceof HTMLAnchorElement) expect(el.getAttribute('href')).toMatch(/^(\/notes\/|https?:|mailto:)/);
    }
  });

  test('only some addresses are opened', () => {
    expect(safeAddress('https://a.b')).toBe('https://a.b');
    expect(safeAddress('mailto:a@b')).toBe('mailto:a@b');
    for (const bad of ['javascript:x', ' java\nscript:x', 'file:///etc', 'data:x', '//evil', 'note.md']) expect(safeAddress(bad)).toBeUndefined();
  });
});

describe('files of the vault', () => {
  const shown = (text: string): string => {
    const d = document.createElement('div');
    d.append(render(text, { note: (t) => '/notes/' + t, file: (t) => (/^(a|b c)\./.test(t) ? '/files/' + t : undefined), size: () => Promise.resolve('2 kB'), there: (t) => (t === 'Gone' ? false : undefined) }));
    return d.innerHTML;
  };
  test.each([
    ['![[a.mp3]]', '<p><audio controls="" preload="metadata" src="/files/a.mp3" aria-label="a.mp3"></audio></p>'],
    ['![A film](a.mp4)', '<p><video controls="" preload="metadata" src="/files/a.mp4" aria-label="A film"></video></p>'],
    ['![[b c.pdf#page=2]]', '<p><a class="attached" href="/files/b c.pdf" download="b c.pdf">b c.pdf<span class="size"></span></a></p>'],
    ['![[a.png|Leaf]]', '<p><img src="/files/a.png" alt="Leaf"></p>'],
    ['![[other.mp3]]', '<p><a class="wiki" href="/notes/other.mp3">other.mp3</a></p>'],
    ['![x](https://evil.invalid/a.mp3)', '<p><a href="https://evil.invalid/a.mp3" rel="noreferrer noopener" target="_blank" class="outside">🖼 x</a></p>'],
    ['[x](Gone)', '<p><a href="/notes/Gone" class="nowhere">x</a></p>'],
    ['[[Gone]] [[a.pdf]]', '<p><a class="wiki nowhere" href="/notes/Gone">Gone</a> <a class="wiki" href="/files/a.pdf" target="_blank">a.pdf</a></p>'],
  ])('%s', (text, want) => expect(shown(text)).toBe(want));
});

test('blocks tell the line that they are written in', () => {
  const d = document.createElement('div');
  d.append(render('# A\n\ntwo\nlines\n\n- b\n- c\n\n```\nx\n```\n\n> d\n', { note: () => '', firstLine: 10 }));
  expect([...d.querySelectorAll<HTMLElement>('[data-line]')].map((el) => `${el.tagName} ${el.dataset.line}`)).toEqual(['H1 10', 'P 12', 'LI 15', 'LI 16', 'PRE 18', 'BLOCKQUOTE 22', 'P 22']);
});

test('front matter is taken off', () => {
  expect(split('---\na: 1\n---\n# B')).toEqual({ front: 'a: 1', body: '# B' });
  expect(split('--- a\n')).toEqual({ front: '', body: '--- a\n' });
  expect(split('a\n---\nb\n---\n').front).toBe('');
});

test('inline fields are a name and a value', () => {
  const html = (text: string): string => {
    const box = document.createElement('div');
    box.append(render(text, { note: (t) => t }));
    return box.innerHTML;
  };
  expect(html('- leaf:: 4 g\n- part_of:: [[Tea]]')).toBe('<ul><li><small>leaf:</small> 4 g</li><li><small>part of:</small> <a class="wiki" href="Tea">Tea</a></li></ul>');
  expect(html('It is so [confidence:: 0.6], I think.')).toBe('<p>It is so <small>confidence:</small> 0.6, I think.</p>');
  expect(html('one\nheat:: 70 °C')).toBe('<p>one\n<small>heat:</small> 70 °C</p>');
  for (const other of ['`leaf:: 4`', 'a std::vector b', 'Well, see this:: no', '    leaf:: 4']) expect(html(other)).not.toContain('<small>');
  expect(html('<img src=x>:: y')).not.toContain('<img');
});

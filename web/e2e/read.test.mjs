// Reading as people of Obsidian know it: tasks that can be ticked off, callouts that
// fold, embedded notes, footnotes, code, formulas and diagrams. Nothing of a note runs.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { World, accessible, coloured, move, quiet } from './world.mjs';

const rich = `---
tags: [tea]
---
# Rich

- [ ] buy a kettle
  - [x] measure
1. [ ] taste

> [!warning]- Hot
> Do not touch.

> [!tip]+ Open
> Read me.

Water[^1] boils[^hot] early.

\`\`\`go
// a comment
func main() { println("hello", 42) }
\`\`\`

The formula $e = mc^2$ costs $5 or $10.

$$
\\frac{a}{b} \\href{javascript:alert(1)}{x}
$$

$$\\sum_{i=1}^n i$$

![[Whole]]

![[Sections#Second]]

![[Sections#^one]]

[^1]: Of the tap.
[^hot]: At 100 °C, see [[Sencha]].
`;
const drawn = `# Drawn

\`\`\`mermaid
flowchart LR
  A[Water] --> B{Hot?}
  B -->|yes| C[Sencha]
  click A href "http://127.0.0.1:9/x"
  click B call pwned()
\`\`\`

\`\`\`mermaid
sequenceDiagram
  Kettle->>Pot: <img src=x onerror="parent.postMessage({id:1,svg:'<b>',width:1,height:1},'*')">
\`\`\`

\`\`\`mermaid
flowchart LR
  A[[
\`\`\`

The end, $a^2$.
`;
let w, page;
before(async () => {
  ({ w, page } = await World.entered((vault) => {
    const put = (name, text) => writeFileSync(join(vault, 'Notes', name), text);
    put('Rich.md', rich);
    put('Whole.md', '---\nx: 1\n---\nWords of the whole note, with $x^2$.\n\n- [ ] not here\n\n![[Whole]]\n');
    put('Sections.md', '# Sections\n\nA claim. ^one\n\n## First\n\nNo.\n\n## Second\n\nOnly this part.\n\n## Third\n\nNeither.\n');
    put('Drawn.md', drawn);
    mkdirSync(join(vault, 'Workflows'), { recursive: true });
    const flow = (arguments_) => `# Flow\n\n\`\`\`yaml\ndescription: Reads\nsteps:\n  - id: find\n    tool: search_by_tag\n    ${arguments_}\n\`\`\`\n`;
    writeFileSync(join(vault, 'Workflows', 'Flow.md'), flow('arguments: {tags: [tea]}'));
    writeFileSync(join(vault, 'Workflows', 'Broken.md'), flow('argument: {}'));
    put('Crlf.md', '# Crlf\r\n\r\n- [ ] one\r\n');
  }));
  await w.until(async () => (await w.call('list_forward_links', { path: 'Notes/Rich.md' })).total > 3);
});
after(() => w?.close());
const prose = (sel, o) => page.locator(`.prose ${sel}`, o);

test('a task is ticked off with one click, to the byte, and undone', async () => {
  await move(page, '/notes/Notes/Rich.md');
  await prose('h1', { hasText: 'Rich' }).waitFor();
  await page.getByLabel('buy a kettle').check();
  await page.locator('.toast', { hasText: 'Task completed.' }).getByRole('button', { name: 'Dismiss' }).click();
  assert.equal(w.read('Notes/Rich.md'), rich.replace('- [ ] buy', '- [x] buy'));
  await page.getByLabel('measure').uncheck();
  await w.until(() => w.read('Notes/Rich.md') === rich.replace('- [ ] buy', '- [x] buy').replace('[x] measure', '[ ] measure'));
  // By keyboard: the focus stays on the box.
  await page.getByLabel('taste').focus();
  await page.keyboard.press('Space');
  await w.until(() => w.read('Notes/Rich.md').includes('1. [x] taste'));
  await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'taste' && document.activeElement.checked);
  await page.locator('.toast', { hasText: 'Task completed.' }).getByRole('button', { name: 'Undo' }).click();
  await w.until(() => w.read('Notes/Rich.md').includes('1. [ ] taste'));
  // A note that changed meanwhile: the line is found in the merged text, or nothing is written.
  await move(page, '/notes/Notes/Crlf.md');
  await page.getByLabel('one', { exact: true }).check();
  await w.until(() => w.read('Notes/Crlf.md') === '# Crlf\r\n\r\n- [x] one\r\n');
  quiet(page);
});

test('callouts fold, footnotes show their words, code has colors, formulas are drawn', async () => {
  await move(page, '/notes/Notes/Rich.md');
  const hot = prose('.callout details').first();
  await hot.waitFor();
  assert.equal(await hot.getAttribute('open'), null);
  await hot.locator('summary').click();
  await hot.getByText('Do not touch.').waitFor();
  assert.notEqual(await prose('.callout details').nth(1).getAttribute('open'), null);
  const ref = prose('a.footnote').nth(1);
  assert.equal(await ref.getAttribute('title'), 'At 100 °C, see Sencha.');
  await ref.click();
  await page.waitForFunction(() => document.activeElement?.textContent.startsWith('At 100 °C'));
  assert.deepEqual(await prose('.footnotes li').evaluateAll((l) => l.map((x) => x.textContent.replace(/\s*↩/, ''))), ['Of the tap.', 'At 100 °C, see Sencha.']);
  await prose('.code-comment', { hasText: '// a comment' }).waitFor();
  assert.equal(await prose('.code-word').first().innerText(), 'func');
  await prose('math').nth(2).waitFor();
  await prose('math msup').first().waitFor();
  assert.match(await page.locator('.prose p', { hasText: 'The formula' }).innerText(), /costs \$5 or \$10\./);
  assert.equal(await page.locator('.prose [href^="javascript"]').count(), 0);
  quiet(page);
});

test('embedded notes, headings and blocks', async () => {
  await prose('.embed').nth(2).waitFor();
  await prose('.embed', { hasText: 'Words of the whole note' }).first().waitFor();
  const [whole, section, block] = [prose('> .embed').nth(0), prose('> .embed').nth(1), prose('> .embed').nth(2)];
  await section.getByText('Only this part.').waitFor();
  assert.doesNotMatch(await section.innerText(), /Neither|No\./);
  await block.getByText('A claim.').waitFor();
  assert.doesNotMatch(await whole.innerText(), /x: 1/);
  await whole.locator('math').first().waitFor();
  assert.ok(await whole.locator('input[type=checkbox]').first().isDisabled(), 'a task is ticked off in its own note');
  await w.picture(page, 'read-rich-light-1440');
  await accessible(page, 'rich note');
  await page.emulateMedia({ colorScheme: 'dark' });
  await accessible(page, 'in the dark', coloured);
  await page.emulateMedia({ colorScheme: 'light' });
  await section.locator('.embed-title').click();
  await page.waitForURL(/Sections\.md/);
  await prose('.found', { hasText: 'Second' }).waitFor();
  await move(page, `/notes/${encodeURIComponent('Notes')}/${encodeURIComponent('Sections.md#^one')}`);
  await prose('.found', { hasText: 'A claim.' }).waitFor();
  quiet(page);
});

test('a workflow is drawn as a diagram, with what is wrong with it', async () => {
  const steps = page.getByRole('region', { name: 'Steps of the workflow' });
  await move(page, '/notes/Workflows/Flow.md');
  const alt = await steps.locator('.diagram img').getAttribute('alt');
  assert.match(alt, /find: search_by_tag/);
  await move(page, '/notes/Workflows/Broken.md');
  await steps.getByText(/^Line \d+: .*argument/).waitFor();
  await accessible(page, 'a workflow with a problem');
  quiet(page);
});

test('diagrams are pictures; their code has no origin, reaches nothing, and their text can be read', async () => {
  await move(page, '/notes/Notes/Drawn.md');
  const pictures = prose('.diagram img');
  await pictures.nth(1).waitFor();
  await prose('.diagram-error', { hasText: /^This diagram cannot be drawn: Parse error on line 3\.$/ }).waitFor();
  const first = await pictures.first().evaluate(async (i) => (await i.decode(), { alt: i.alt, width: i.naturalWidth, svg: decodeURIComponent(i.src) }));
  assert.match(first.alt, /^Diagram: flowchart LR A\[Water\]/);
  assert.ok(first.width > 150, `it is ${first.width} wide`);
  assert.ok(first.svg.includes('Sencha'));
  assert.equal(/.{0,60}(127\.0\.0\.1:9|pwned|<script|foreignObject).{0,60}/.exec(first.svg)?.[0], undefined);
  assert.equal(await prose('.diagram svg, .diagram script').count(), 0);
  await prose('.diagram summary').first().click();
  await prose('.diagram pre', { hasText: 'A[Water] --> B{Hot?}' }).waitFor();
  await accessible(page, 'diagrams');
  await w.picture(page, 'diagram-light-1440');
  // While it is written, too; and the dark has its own.
  const light = await pictures.first().getAttribute('src');
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.locator('.cm-rendered .diagram img').first().waitFor();
  await page.locator('.cm-formula math').waitFor();
  await page.keyboard.press('Control+e');
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.waitForFunction((was) => (document.querySelector('.prose .diagram img')?.getAttribute('src') ?? was) !== was, light);
  quiet(page);
  // What the frame can do, if its code were an enemy: nothing.
  const frame = page.frames().find((f) => f.url().includes('/frame/'));
  const tried = await frame.evaluate(async () => {
    const fails = async (f) => Promise.resolve().then(f).then(() => false, () => true);
    const image = (src) => new Promise((done, failed) => Object.assign(new Image(), { onload: done, onerror: failed, src }));
    return [origin, await fails(() => fetch('/api/v1/status')), await fails(() => image('/assets/icon.svg')), await fails(() => document.cookie), await fails(() => localStorage), await fails(() => parent.document), await fails(() => top.location.href), await fails(() => (0, eval)('1'))];
  });
  assert.deepEqual(tried, ['null', true, true, true, true, true, true, true]);
});

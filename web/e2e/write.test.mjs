// Writing as people of Obsidian know it: what is offered while one types, lists and
// tables that go on by themselves, and a live preview.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { World, accessible, coloured, move, quiet } from './world.mjs';

const pixel = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
let w, page;
before(async () => {
  ({ w, page } = await World.entered((vault) => {
    for (const f of ['Pictures', 'Templates']) mkdirSync(join(vault, f));
    writeFileSync(join(vault, 'Pictures', 'leaf one.png'), pixel);
    writeFileSync(join(vault, 'Pictures', 'leaflet.pdf'), '%PDF-1.4\n');
    writeFileSync(join(vault, 'Templates', 'Meeting.md'), '---\ntype: Meeting\n---\n## Meeting on {{date}}\n\nAbout {{title}}.\n');
    writeFileSync(join(vault, 'Notes', 'Parts.md'), '# Parts\n\nA claim to cite. ^claim\n\n## Second part\n\nMore.\n');
    writeFileSync(join(vault, 'Notes', 'Empty.md'), '');
    writeFileSync(join(vault, 'Notes', 'Live.md'), '# Live\n\n## A heading\n\nSome **bold** words, `code`, [[Sencha|a link]] and [another](Matcha.md).\n\n![[leaf one.png]]\n\n- [ ] a task\n\n> [!tip] Mind the water\n> It is hot.\n\n---\n\n| Tea | Water |\n| --- | ----- |\n| Sencha | 70 |\n\nThe end.\n');
  }));
  await w.until(async () => (await w.call('list_forward_links', { path: 'Notes/Live.md' })).total > 2);
});
after(() => w?.close());

const text = () => page.locator('.editor .cm-content');
const offered = () => page.locator('.cm-tooltip-autocomplete [role=option]');
/** write opens an empty editor for a new note. */
let count = 0;
async function write(content = '') {
  const path = `Notes/Fresh ${++count}.md`;
  writeFileSync(join(w.vault, path), content);
  await w.until(async () => (await w.call('get_note_metadata', { path })).success);
  await move(page, `/notes/Notes/Fresh%20${count}.md?edit=1`);
  await page.locator('.path', { hasText: path }).waitFor();
  await text().waitFor();
  await text().press('Control+End');
  return path;
}
/** type writes as a person does, key by key. */
const type = (words) => page.keyboard.type(words, { delay: 5 });
/** saved is what is on disk after the note was saved. */
async function saved(path) {
  await page.keyboard.press('Control+s');
  await page.locator('.state', { hasText: /^Saved/ }).waitFor();
  return w.read(path);
}
async function choose(label) {
  await offered().filter({ hasText: label }).first().waitFor();
  await page.waitForTimeout(100); // the editor ignores an Enter that comes at once
  await page.keyboard.press('Enter');
}

test('![[ offers pictures first, then other files and notes; [[Note# its headings, [[Note^ its blocks', async () => {
  const path = await write();
  await type('![[leaf');
  await offered().filter({ hasText: 'leaflet.pdf' }).waitFor();
  assert.match(await offered().first().innerText(), /^leaf one\.png/);
  await choose('leaf one.png');
  await type('\n\nSee [[Parts#sec');
  await choose('Second part');
  await type(' and [[Parts^');
  await choose('A claim to cite.');
  await type(' and ![[Sench');
  await choose('Sencha');
  assert.equal(await saved(path), '![[leaf one.png]]\n\nSee [[Parts#Second part]] and [[Parts#^claim]] and ![[Sencha]]');
  quiet(page);
});

test('# offers tags with how often they are used, and neither for a heading nor in code', async () => {
  const path = await write();
  await type('#');
  await page.waitForTimeout(300);
  assert.equal(await offered().count(), 0, 'the first # of a line may become a heading');
  await type(' Title\n\nAbout #gre');
  await offered().filter({ hasText: /green.*note/ }).first().waitFor();
  await accessible(page, 'tags');
  const first = await offered().first().locator('.cm-completionLabel').innerText();
  await choose(first);
  await type(' and `#gre');
  await page.waitForTimeout(300);
  assert.equal(await offered().count(), 0, 'not in code');
  assert.equal(await saved(path), `# Title\n\nAbout #${first} and \`#gre\``);
  quiet(page);
});

test('a slash offers blocks, the date and templates', async () => {
  const path = await write();
  await type('/hea');
  await choose('Heading 1');
  await type('Plan\n/task');
  await choose('Task');
  await type('first\n\n\n/today');
  await choose("Today's date");
  await type(' or/and 1 / 2\n/code');
  await choose('Code block');
  await type('js');
  await page.keyboard.press('ArrowDown');
  await type('1 /list');
  await page.waitForTimeout(300);
  assert.equal(await offered().count(), 0, 'not in code');
  const day = await page.evaluate(() => { const d = new Date(); return `${d.getFullYear()}-${String(d.getMonth() + 1).padStart(2, '0')}-${String(d.getDate()).padStart(2, '0')}`; });
  assert.equal(await saved(path), `# Plan\n- [ ] first\n\n${day} or/and 1 / 2\n\n\`\`\`js\n1 /list\n\`\`\`\n`);
  const other = await write('Words.\n');
  await type('/');
  assert.ok((await offered().count()) >= 12 || (await offered().nth(11).waitFor(), true));
  await w.picture(page, 'write-slash-light-1440');
  await page.keyboard.press('ArrowDown');
  await accessible(page, 'slash menu');
  await type('meet');
  await choose('Template: Meeting');
  await page.locator('.cm-line', { hasText: 'About Fresh' }).waitFor();
  assert.equal(await saved(other), `Words.\n## Meeting on ${day}\n\nAbout Fresh ${count}.\n`);
  quiet(page);
});

test('Enter goes on with lists, tasks and quotes and ends them; Tab indents', async () => {
  const path = await write();
  await type('- one\ntwo');
  await page.keyboard.press('Tab');
  await type('\nthree\n');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await type('1. a\nb\n\n\n- [x] done\nopen\n\n\n> words\nmore\n\n\nend');
  assert.equal(await saved(path), '- one\n  - two\n  - three\n1. a\n2. b\n\n- [x] done\n- [ ] open\n\n> words\n> more\n\nend');
  quiet(page);
});

test('a table: Tab and Enter go from cell to cell, rows are added, columns are aligned', async () => {
  const path = await write('| Tea | Water |\n|---|---:|\n| Sencha | 70 |\n\nAfter.\n');
  await text().press('Control+Home');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Tab');
  await type('Degrees');
  await page.keyboard.press('Enter');
  await type('75');
  await page.keyboard.press('Tab');
  await type('Oolong');
  await page.keyboard.press('Tab');
  await type('95');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  assert.equal(await saved(path), '| Tea    | Degrees |\n| ------ | ------: |\n| Sencha |      75 |\n| Oolong |      95 |\n\n\nAfter.\n');
  // What was typed by hand is aligned when the caret leaves.
  await text().press('Control+Home');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await type('A long name of ');
  await text().press('Control+End');
  await page.waitForTimeout(50);
  assert.match(await saved(path), /^\| A long name of Tea \| Degrees \|\n\| -{18} \| ------: \|\n\| Sencha {13}\|/);
  quiet(page);
});

test('a live preview shows what the signs mean, except where the caret is; the choice is kept', async () => {
  await move(page, '/notes/Notes/Live.md?edit=1');
  await page.locator('.cm-h1', { hasText: 'Live' }).waitFor();
  const shown = async () => (await text().innerText()).replace(/\u200b/g, '');
  await page.locator('.cm-rendered table').waitFor();
  await page.locator('img.cm-picture').waitFor();
  await page.locator('.cm-rule').waitFor();
  const words = await shown();
  assert.match(words, /Some bold words, code, a link and another\./);
  assert.match(words, /^A heading$/m);
  assert.match(words, /Tip: Mind the water/);
  await w.picture(page, 'write-live-light-1440');
  await accessible(page, 'live preview');
  await page.emulateMedia({ colorScheme: 'dark' });
  await accessible(page, 'in the dark', coloured);
  await page.emulateMedia({ colorScheme: 'light' });
  // The caret shows the signs of its own line.
  await page.locator('.cm-h2').click();
  assert.match(await shown(), /^## A heading$/m);
  assert.match(await shown(), /Some bold words/);
  // A task is turned over by a click, a table is edited as text.
  await page.locator('.cm-box').click();
  await page.locator('.cm-rendered td', { hasText: '70' }).click();
  await type('5');
  assert.match(await saved('Notes/Live.md'), /- \[x\] a task[\s\S]*\| Sencha \| 705 \|/);
  await page.locator('.more summary').click();
  await page.getByRole('button', { name: 'Source' }).click();
  await page.locator('.cm-line', { hasText: 'Some **bold** words, `code`, [[Sencha|a link]]' }).waitFor();
  await page.goto(`${w.base}/notes/Notes/Live.md`);
  await page.locator('.cm-line', { hasText: 'Some **bold** words' }).waitFor(); // kept
  await page.locator('.more summary').click();
  await page.getByRole('button', { name: 'Reading' }).click();
  await page.locator('.prose strong', { hasText: 'bold' }).waitFor();
  quiet(page);
});

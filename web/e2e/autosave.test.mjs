// Notes that save themselves: after a pause, on leaving, and never over somebody
// else's text. What cannot be saved stays a draft, and the page says so.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { World, accessible, move, quiet, still } from './world.mjs';

let w, page;
before(async () => {
  ({ w, page } = await World.entered(undefined, { autosave: true }));
});
after(() => w?.close());

const text = () => page.locator('.editor .cm-content');
const state = (re) => page.locator('.state', { hasText: re }).waitFor();
async function write(path) {
  await move(page, `/notes/${path.split('/').map(encodeURIComponent).join('/')}?edit=1`);
  await text().waitFor();
  await page.locator('.path', { hasText: path }).waitFor();
}
async function put(words) {
  await text().press('Control+End');
  await page.keyboard.insertText(words);
}
const operations = async (path) => (await w.get(page, `activity?path=${encodeURIComponent(path)}&limit=50&after=0`)).activity.filter((c) => c.operation_id && c.status === 'done').length;

test('a pause in writing saves, as one change; then the page is still', async () => {
  const old = w.read('Notes/Sencha.md');
  await write('Notes/Sencha.md');
  await put('One ');
  await state('Unsaved changes');
  await page.keyboard.type('and two.');
  await page.keyboard.press('Enter');
  assert.equal(w.read('Notes/Sencha.md'), old, 'not while somebody types');
  await state(/^Saved \d/);
  assert.equal(w.read('Notes/Sencha.md'), old + 'One and two.\n');
  assert.equal(await operations('Notes/Sencha.md'), 1);
  assert.ok(await text().evaluate((e) => e.contains(document.activeElement) || e === document.activeElement), 'the caret stays');
  await page.evaluate(() => new Promise((f) => setTimeout(f, 500)));
  await still(page);
  const asked = [];
  page.on('request', (r) => asked.push(r.url()));
  await page.evaluate(() => new Promise((f) => setTimeout(f, 2500)));
  page.removeAllListeners('request');
  assert.deepEqual(asked, [], 'a note that is saved asks for nothing');
  // A text that is what it was has nothing to save.
  await put('x');
  await page.keyboard.press('Backspace');
  await page.evaluate(() => new Promise((f) => setTimeout(f, 2300)));
  assert.equal(await operations('Notes/Sencha.md'), 1);
  quiet(page);
});

test('leaving saves: another note, another view, a hidden tab, a closed one', async () => {
  const leave = { 'Notes/Puer.md': (p) => p.locator('a.note', { hasText: /^Oolong$/ }).click(), 'Notes/Kill-green.md': (p) => p.getByRole('link', { name: 'Search' }).first().click() };
  for (const [path, go] of Object.entries(leave)) {
    const old = w.read(path);
    await write(path);
    await put('Left behind.\n');
    await go(page);
    await w.until(() => w.read(path) === old + 'Left behind.\n');
  }
  const p = await w.tab(page.context());
  await p.goto(`${w.base}/notes/Notes/Hojicha.md?edit=1`);
  await p.locator('.editor .cm-content').press('Control+End');
  let old = w.read('Notes/Hojicha.md');
  await p.keyboard.insertText('Hidden.\n');
  await p.evaluate(() => {
    Object.defineProperty(document, 'hidden', { get: () => true, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
    delete document.hidden;
  });
  await w.until(() => w.read('Notes/Hojicha.md') === old + 'Hidden.\n');
  await p.locator('.state', { hasText: /^Saved/ }).waitFor();
  old = w.read('Notes/Hojicha.md');
  await p.keyboard.insertText('Closed.\n');
  await p.locator('.state', { hasText: 'Unsaved changes' }).waitFor();
  await p.close({ runBeforeUnload: true });
  await w.until(() => w.read('Notes/Hojicha.md') === old + 'Closed.\n');
  quiet(page);
});

test('another writer: what does not overlap is merged while one goes on writing; what does waits for a decision', async () => {
  await write('Notes/Matcha.md');
  const old = w.read('Notes/Matcha.md');
  await put('MINE at the end.\n');
  await state('Unsaved changes');
  const theirs = old.replace('# Matcha', '# Matcha\n\nTHEIRS at the top.');
  writeFileSync(join(w.vault, 'Notes', 'Matcha.md'), theirs);
  await page.getByText('Both changes were merged.').waitFor();
  await state(/^Saved/);
  assert.equal(w.read('Notes/Matcha.md'), theirs + 'MINE at the end.\n');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('End');
  await page.keyboard.insertText(' MINE again.');
  const other = w.read('Notes/Matcha.md').replace('MINE at the end.', 'THEIRS at the end.');
  writeFileSync(join(w.vault, 'Notes', 'Matcha.md'), other);
  await state('Not saved: the note changed on disk');
  assert.equal(await page.locator('.cm-mergeView').count(), 0, 'nobody who writes is interrupted');
  await page.keyboard.insertText(' And more.');
  assert.equal(w.read('Notes/Matcha.md'), other, 'nothing was overwritten');
  await page.getByRole('button', { name: 'Compare' }).click();
  assert.match(await page.locator('.cm-merge-b .cm-content').innerText(), /MINE again\. And more\./);
  await page.getByRole('button', { name: 'Save right side' }).click();
  await state(/^Saved/);
  assert.match(w.read('Notes/Matcha.md'), /MINE again\. And more\./);
  quiet(page);
});

test('a server that is away: the draft stays, and is saved when it is back', async () => {
  await write('Notes/White tea.md');
  const old = w.read('Notes/White tea.md');
  const address = new URL(w.base).host;
  await w.stop();
  await put('Written on a train.\n');
  await state(/Not saved: .*not responding/);
  await page.keyboard.insertText('And on.\n');
  await w.serve(address);
  await state(/^Saved/);
  assert.equal(w.read('Notes/White tea.md'), old + 'Written on a train.\nAnd on.\n');
  page.faults = page.faults.filter((f) => !/ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY/.test(f)); // the browser itself tells of every request that failed
  quiet(page);
});

test('a setting turns it off: then the text waits for the person', async () => {
  await move(page, '/settings');
  const box = page.getByLabel('Save notes automatically');
  await accessible(page, 'settings');
  await box.uncheck();
  const old = w.read('Notes/Gyokuro.md');
  await write('Notes/Gyokuro.md');
  await put('Mine alone.\n');
  await page.evaluate(() => new Promise((f) => setTimeout(f, 2500)));
  await state('Unsaved changes');
  await still(page); // a list that comes late moves what is pressed
  // Rows of the tree are drawn anew while it is scrolled; one that went away under the hand is pressed again.
  await w.until(async () => {
    await page.locator('a.note', { hasText: /^Sencha$/ }).click();
    return page.waitForURL('**/notes/Notes/Sencha.md*', { timeout: 3000 }).then(() => true, () => false);
  });
  await page.locator('.prose h1', { hasText: 'Sencha' }).waitFor();
  assert.equal(w.read('Notes/Gyokuro.md'), old);
  await page.reload();
  await write('Notes/Gyokuro.md');
  await state(/Unsaved draft from/);
  await page.keyboard.press('Control+s');
  await state(/^Saved/);
  assert.equal(w.read('Notes/Gyokuro.md'), old + 'Mine alone.\n');
  quiet(page);
});

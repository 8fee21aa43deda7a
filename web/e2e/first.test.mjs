// What somebody meets who was never told anything: things are where they are
// looked for, and say what is so.
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { allow, move, quiet, still } from './world.mjs';
import { gate } from './mind.mjs';
import { Talker } from './talker.mjs';

let t, w, page, mind;
before(async () => {
  t = await Talker.open((vault) => writeFileSync(join(vault, 'Broken.md'), '---\ntags: [a, b\n---\n# Broken\n\nText.\n'));
  ({ w, page, mind } = t);
});
after(() => t?.close());

const state = (re) => page.locator('.state', { hasText: re }).waitFor();
/** within reports whether the upper edge of something is seen. */
const within = (el) => el.evaluate((e) => {
  const { top } = e.getBoundingClientRect();
  return top >= 50 && top < innerHeight - 100;
});

test('a switch that is on unless told stands on, and can be put off; what came of a try is seen', async () => {
  await page.goto(`${w.base}/tools/rename_note`);
  await page.locator('#tool-path').fill('Notes/Sencha.md');
  await page.locator('#tool-new_path').fill('Notes/Sencha tea.md');
  const links = page.getByLabel('Update links');
  assert.equal(await links.isChecked(), true, 'it is done unless told otherwise');
  const dry = page.getByRole('button', { name: 'Preview' });
  await page.setViewportSize({ width: 390, height: 700 });
  await dry.click();
  const came = page.getByText('Rename Notes/Sencha.md to Notes/Sencha tea.md and update 9 links in 9 notes');
  await came.waitFor();
  assert.equal(await within(came), true, 'nobody has to look for it');
  await links.uncheck();
  await dry.click();
  await came.waitFor({ state: 'detached' });
  await page.getByText('Rename Notes/Sencha.md to Notes/Sencha tea.md', { exact: false }).first().waitFor();
  await links.check();
  await dry.click();
  await came.waitFor();
  await page.setViewportSize({ width: 1440, height: 900 });
  quiet(page);
});

test('a note that was just made is written in below its name', async () => {
  await page.goto(`${w.base}/notes?new=1`);
  await page.getByLabel('Folder and name').fill('Notes/Fresh');
  await page.keyboard.press('Enter');
  await page.locator('.editor .cm-content:focus').waitFor();
  await page.keyboard.type('I like [[senc');
  await page.locator('.cm-tooltip-autocomplete li').first().waitFor();
  assert.match(await page.locator('.cm-tooltip-autocomplete li').first().innerText(), /^Sencha\s*Notes\/Sencha\.md$/, 'of two names the shorter');
  await page.locator('.cm-tooltip-autocomplete li').first().click();
  await page.keyboard.press('Control+s');
  await state(/^Saved/);
  assert.equal(w.read('Notes/Fresh.md'), '# Fresh\n\nI like [[Sencha]]');

  await page.getByLabel('New property name').fill('rating');
  await page.getByLabel('New property value').fill('5');
  await page.keyboard.press('Enter');
  await page.getByLabel('rating', { exact: true }).waitFor();
  await w.until(() => /^---\nrating: 5\n---\n# Fresh/.test(w.read('Notes/Fresh.md'))); // it is shown before it is saved
  await w.until(async () => /^Saved/.test(await page.locator('.state').innerText())); // it was done here, and not elsewhere

  // What happened meanwhile is told where the text was.
  await page.locator('.editor .cm-content').press('Control+End');
  await page.keyboard.type(' a lot');
  writeFileSync(join(w.vault, 'Notes', 'Fresh.md'), '# Fresh\n\nAnother text.\n');
  await state('Changed on disk');
  await page.keyboard.press('Control+s');
  await page.locator('#conflict-head:focus').waitFor();
  await page.getByRole('button', { name: 'Save right side' }).click();
  await state(/^Saved/);
  await page.goto('about:blank'); // who looks at a note that goes asks for it in vain, which a browser tells as a fault
  quiet(page);
  rmSync(join(w.vault, 'Notes', 'Fresh.md'));
});

test('properties that cannot be read are told of', async () => {
  await page.goto(`${w.base}/notes/Broken.md`);
  await page.locator('.side .warning', { hasText: 'are not valid' }).waitFor();
  assert.equal(await page.getByLabel('New property name').count(), 0, 'what cannot be done is not offered');
  quiet(page);
});

test('the place that a link leads to is marked, one at a time', async () => {
  await page.goto(`${w.base}/notes/Notes/Sencha.md%23How%20I%20make%20it`);
  await page.locator('.prose h2.found', { hasText: 'How I make it' }).waitFor();
  await page.locator('.headings button', { hasText: 'Sencha' }).click();
  await page.locator('.prose h1.found').waitFor();
  assert.equal(await page.locator('.prose .found').count(), 1);
  quiet(page);
});

test('a graph of nothing says so', async () => {
  await page.goto(`${w.base}/graph`);
  await page.getByRole('searchbox', { name: 'Filter graph' }).fill('no note is called like this');
  await page.getByText('No notes match these filters.').waitFor();
  quiet(page);
});

test('a question is read from its beginning; who stops an answer is not told of a failure', async () => {
  const long = Array.from({ length: 80 }, (_, i) => `Line ${i}.`).join('\n');
  mind.says({ text: 'I write it.', calls: [['write_note', { path: 'Notes/Tall.md', content: long }]] }, { text: 'It is written.' });
  await t.begin();
  await t.say('Write a long note');
  await t.card().waitFor();
  await w.until(() => within(t.card().locator('h2')));
  await t.card().locator('.deny').click();
  await t.settled(1);

  const hold = gate();
  mind.says({ text: 'This answer is never finished, because somebody stops it in the middle.', gate: hold.wait });
  await t.say('Tell me everything');
  await page.locator('.turn .prose', { hasText: 'This answer' }).waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('Stopped. Changes already made are kept.').waitFor();
  hold.open();
  assert.equal(await page.locator('.turn .trouble').count(), 0);
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  quiet(page);
});

test('an undo is one click, and so is its way back', async () => {
  const id = await w.ask('edit_note', { path: 'Notes/Sencha.md', search: 'The everyday tea of Japan.', replace: 'The everyday green tea of Japan.' });
  await page.goto(`${w.base}/approvals/${id}`);
  await allow(page);
  await page.getByRole('link', { name: 'View in activity' }).click();
  await page.locator('button.undo').click();
  const toast = (words) => page.locator('.toast', { hasText: words });
  await toast('Undone.').waitFor();
  assert.doesNotMatch(w.read('Notes/Sencha.md'), /everyday green tea/);
  await toast('Undone.').getByRole('button', { name: 'Redo' }).click();
  await toast('Redone.').waitFor();
  assert.match(w.read('Notes/Sencha.md'), /everyday green tea/);
  assert.equal(await toast('Undone.').count(), 0, 'what was used is gone');
  await toast('Redone.').getByRole('button', { name: 'Undo' }).click();
  await toast('Undone.').waitFor();
  assert.deepEqual((await w.get(page, 'approvals')).approvals ?? [], [], 'nothing waits');
  quiet(page);
});

test('a provider that was added is gone to, and what was said of it is not said of the next', async () => {
  await page.goto(`${w.base}/settings/models`);
  const add = page.locator('details.add');
  await add.locator('summary').click();
  await add.getByLabel('Name', { exact: true }).fill('shed');
  await add.getByLabel('Base URL').fill(mind.base);
  await add.getByLabel('Its models run on this computer').check();
  await page.setViewportSize({ width: 1000, height: 500 });
  await add.getByRole('button', { name: 'Add provider' }).click();
  const row = page.locator('[data-provider="shed"]');
  await row.getByText('1 model', { exact: true }).waitFor();
  await row.locator('> summary:focus').waitFor();
  await w.until(() => within(row));
  assert.equal(await add.getByLabel('Its models run on this computer').isChecked(), false);
  await page.setViewportSize({ width: 1440, height: 900 });
  quiet(page);
});

test('who comes first is not shown a page that changes under the hand', async () => {
  let go;
  const wait = new Promise((f) => (go = f));
  await page.route('**/api/v1/chats?limit=1', async (r) => {
    await wait;
    await r.continue();
  });
  await move(page, '/');
  await page.getByRole('heading', { name: 'Today' }).waitFor();
  assert.equal(await page.locator('#home-question').count(), 0);
  go();
  await page.locator('#home-question').waitFor(); // somebody talked here already
  await page.unroute('**/api/v1/chats?limit=1');
  quiet(page);
});

test('by thumb: ask, allow, see the note, rename it, delete it, take it back', async () => {
  const p = await w.page({ viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
  p.setDefaultTimeout(60_000);
  mind.says({ text: 'I write it down.', calls: [['edit_note', { path: 'Notes/Hojicha.md', search: 'Late-season leaf', replace: 'Best in the evening. Late-season leaf' }]] }, { text: 'Done, see [[Hojicha]].' });
  await p.goto(`${w.base}/chat`);
  await p.locator(`#chat-model option[value="${t.model}"]`).waitFor({ state: 'attached' });
  await p.locator('#chat-model').selectOption(t.model);
  await p.getByRole('combobox', { name: 'Message' }).fill('Note that hojicha is best in the evening');
  await p.locator('.composer .send').tap();
  await p.locator('.talk .card .approve:enabled').waitFor();
  await still(p);
  await p.waitForTimeout(250); // a card that was just moved is looked at anew
  await p.locator('.talk .card .approve:enabled').tap();
  await p.locator('.turn .answer a, .turn a', { hasText: 'Hojicha' }).last().tap();
  await p.waitForURL('**/notes/Notes/Hojicha.md*');
  await p.locator('.prose', { hasText: 'Best in the evening.' }).waitFor();
  await still(p);

  await p.locator('.more summary').tap();
  await p.getByRole('button', { name: 'Rename or move' }).tap();
  await p.getByLabel('Folder and name').fill('Notes/Roasted.md');
  await p.getByRole('dialog').getByRole('button', { name: 'Rename' }).tap();
  await p.waitForURL('**/notes/Notes/Roasted.md');
  await p.locator('.prose h1').waitFor();
  await still(p);
  await p.locator('.more summary').tap();
  await p.getByRole('button', { name: 'Delete' }).tap();
  const sure = p.locator('.card .approve:enabled', { hasText: 'Delete' });
  await allow(p, sure, () => sure.tap());
  await w.until(() => w.read('Notes/Roasted.md') === null);
  await p.locator('.toast', { hasText: 'Deleted' }).getByRole('button', { name: 'Undo' }).tap();
  await w.until(() => /Best in the evening/.test(w.read('Notes/Roasted.md') ?? ''));
  quiet(p);
  await p.context().close();
});

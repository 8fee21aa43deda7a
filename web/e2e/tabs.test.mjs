// Several notes at once, the tree that they are in, and their properties.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { World, accessible, allow, coloured, move, quiet, still } from './world.mjs';

let w, page;
before(async () => {
  ({ w, page } = await World.entered((vault) => {
    mkdirSync(join(vault, 'Notes', 'Box'));
    const put = (name, text) => writeFileSync(join(vault, 'Notes', name), text);
    put('Box/In.md', '# In\n');
    put('typed.md', '---\ntitle: A typed note\nrating: 3\ndue: 2026-05-01\nread: false\ntags:\n  - tea/green\n---\n# A typed note\n');
    put('other.md', '---\ndue: 2026-01-01\nread: true\nrating: 1.5\n---\n# Other\n\n[[typed]]\n');
  }));
  await w.until(async () => (await w.call('list_forward_links', { path: 'Notes/other.md' })).total === 1);
});
after(() => w?.close());

const tabs = () => page.locator('.tabs a');
/** open waits until these tabs are open: their titles come with the list of notes. */
const open = (...names) => w.until(async () => (await tabs().allInnerTexts()).join() === names.join());

test('notes open in tabs: Ctrl+click, the middle button, a key; they outlive a reload, and closing keeps drafts', async () => {
  await move(page, '/notes/Notes/Sencha.md');
  await page.locator('.prose h1', { hasText: 'Sencha' }).waitFor();
  assert.equal(await tabs().count(), 0, 'one note needs no tabs');
  await still(page); // a list that comes late moves what is pressed
  await page.locator('a.note', { hasText: /^Oolong$/ }).click({ modifiers: ['Control'] });
  await page.locator('.prose h1', { hasText: 'Oolong' }).waitFor();
  await still(page); // a list that comes late moves what is pressed
  await page.locator('a.note', { hasText: /^Pu'er$/ }).click({ button: 'middle' });
  await page.locator('.prose h1', { hasText: 'Pu' }).waitFor();
  await open('Sencha', 'Oolong', "Pu'er");
  // A plain click stays in the tab.
  await still(page); // a list that comes late moves what is pressed
  await page.locator('a.note', { hasText: /^Matcha$/ }).click();
  await page.locator('.prose h1', { hasText: 'Matcha' }).waitFor();
  await open('Sencha', 'Oolong', 'Matcha');
  await page.keyboard.press('Control+Alt+t');
  await page.getByRole('dialog').getByRole('combobox').fill('Gyokuro');
  await page.keyboard.press('Enter');
  await page.locator('.prose h1', { hasText: 'Gyokuro' }).waitFor();
  await page.keyboard.press('Control+Alt+ArrowRight');
  await page.locator('.prose h1', { hasText: 'Sencha' }).waitFor();
  await w.picture(page, 'tabs-light-1440');
  await accessible(page, 'tabs');
  await page.reload();
  await page.locator('.prose h1', { hasText: 'Sencha' }).waitFor();
  await open('Sencha', 'Oolong', 'Matcha', 'Gyokuro (玉露)');
  // What is unsaved waits as a draft.
  const old = w.read('Notes/Sencha.md');
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.locator('.cm-content').press('Control+End');
  await page.keyboard.insertText('Unsaved words.');
  await page.locator('.state', { hasText: 'Unsaved changes' }).waitFor();
  await page.getByRole('button', { name: 'Close Sencha' }).click();
  await page.locator('.prose h1', { hasText: 'Oolong' }).waitFor();
  await open('Oolong', 'Matcha', 'Gyokuro (玉露)');
  await move(page, '/notes/Notes/Sencha.md');
  await page.locator('.state', { hasText: /Unsaved draft from/ }).waitFor();
  assert.equal(w.read('Notes/Sencha.md'), old);
  quiet(page);
});

test('two notes side by side, each with its own keys; a phone shows one', async () => {
  await page.locator('.more summary').click();
  await page.getByRole('button', { name: 'Open beside' }).click();
  await page.locator('.beside .path', { hasText: 'Notes/Sencha.md' }).waitFor();
  await still(page); // a list that comes late moves what is pressed
  await page.locator('a.note', { hasText: /^Matcha$/ }).click();
  await page.locator('.one:not(.beside .one) .prose h1', { hasText: 'Matcha' }).waitFor();
  // What is written beside is saved there.
  const text = page.locator('.beside .cm-content');
  await text.press('Control+End');
  await page.keyboard.insertText(' Beside.');
  await page.keyboard.press('Control+s');
  await page.locator('.beside .state', { hasText: /^Saved/ }).waitFor();
  assert.match(w.read('Notes/Sencha.md'), /Unsaved words\. Beside\.$/);
  await page.keyboard.press('Control+e');
  await page.locator('.beside .prose h1').waitFor();
  await accessible(page, 'split');
  await page.emulateMedia({ colorScheme: 'dark' });
  await accessible(page, 'in the dark', coloured);
  await page.emulateMedia({ colorScheme: 'light' });
  await w.picture(page, 'split-light-1440');
  // Links of the note beside stay beside.
  const link = page.locator('.beside .prose a.wiki').first();
  const to = decodeURIComponent(new URL(await link.evaluate((a) => a.href)).pathname.replace('/notes/', ''));
  await link.click();
  await page.locator('.beside .path', { hasText: to }).waitFor();
  await page.waitForURL('**/Notes/Matcha.md');
  await page.setViewportSize({ width: 390, height: 844 });
  await page.locator('.beside').waitFor({ state: 'detached' });
  assert.equal(await page.locator('.tabs').count(), 0);
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)) <= 0, 'too wide');
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByRole('button', { name: 'Close split' }).click();
  await page.locator('.beside').waitFor({ state: 'detached' });
  quiet(page);
});

test('properties have the fields of their kinds, and names that the vault knows', async () => {
  await move(page, '/notes/Notes/typed.md');
  const side = page.locator('.properties');
  await side.getByLabel('due', { exact: true }).waitFor();
  await still(page);
  const saved = async (re) => w.until(() => re.test(w.read('Notes/typed.md')));
  assert.equal(await side.getByLabel('due', { exact: true }).getAttribute('type'), 'date');
  await side.getByLabel('due', { exact: true }).fill('2026-06-02');
  await side.getByLabel('due', { exact: true }).press('Tab');
  await saved(/^due: 2026-06-02$/m);
  await side.getByLabel('read', { exact: true }).check();
  await saved(/^read: true$/m);
  assert.equal(await side.getByLabel('rating', { exact: true }).getAttribute('type'), 'number');
  await side.getByLabel('rating', { exact: true }).fill('4.5');
  await side.getByLabel('rating', { exact: true }).press('Tab');
  await saved(/^rating: 4\.5$/m);
  await side.getByLabel('tags', { exact: true }).fill('fresh');
  await side.getByLabel('tags', { exact: true }).press('Enter');
  await side.getByLabel('tags', { exact: true }).fill('quick'); // before the answer to the first
  await side.getByLabel('tags', { exact: true }).press('Enter');
  await saved(/tea\/green[\s\S]*fresh[\s\S]*quick/);
  await page.getByRole('button', { name: 'Remove tea/green from tags' }).click();
  await w.until(() => !/tea\/green/.test(w.read('Notes/typed.md')));
  await accessible(page, 'properties');
  await w.picture(page, 'properties-light-1440');
  // A name that other notes have brings its kind along.
  await page.getByRole('button', { name: 'Remove due' }).click();
  await w.until(() => !/^due:/m.test(w.read('Notes/typed.md')));
  const name = side.getByLabel('New property name');
  await name.focus();
  await page.waitForFunction(() => [...document.querySelectorAll('.properties datalist option')].some((o) => o.value === 'due'));
  await name.fill('due');
  await page.waitForFunction(() => document.querySelector('[aria-label="New property value"]')?.type === 'date');
  await side.getByLabel('New property value').fill('2026-07-03');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await saved(/^due: 2026-07-03$/m);
  quiet(page);
});

const row = (name) => page.locator('.tree .row-of', { has: page.locator('.label', { hasText: new RegExp(`^${name}$`) }) });

test('the tree shows titles; notes and folders are dragged, their links follow, and it can be undone', async () => {
  await move(page, '/notes/Notes/other.md');
  await row('A typed note').waitFor();
  await still(page);
  await row('Other').dragTo(row('Box'));
  await page.locator('.toast', { hasText: /Moved other to Notes\/Box\. \d+ links? updated\./ }).waitFor();
  await page.waitForURL('**/notes/Notes/Box/other.md'); // the note that is open is followed
  assert.notEqual(w.read('Notes/Box/other.md'), null);
  await page.locator('.toast', { hasText: 'Moved other' }).getByRole('button', { name: 'Undo' }).click();
  await w.until(() => w.read('Notes/other.md') !== null && w.read('Notes/Box/other.md') === null);
  await page.waitForURL('**/notes/Notes/other.md'); // and back
  // A folder into another one: links to its notes follow.
  const before = w.bytes();
  await still(page);
  await page.getByRole('tree', { name: 'Notes' }).evaluate((t) => (t.scrollTop = 0));
  await row('Daily').dragTo(row('Box'));
  await page.locator('.toast', { hasText: /Moved Daily to Notes\/Box\. \d+ links? updated\./ }).waitFor();
  assert.notEqual(w.read('Notes/Box/Daily/2026-03-02.md'), null);
  await page.locator('.toast', { hasText: 'Moved Daily' }).getByRole('button', { name: 'Undo' }).click();
  await w.until(() => w.read('Daily/2026-03-02.md') !== null);
  assert.deepEqual(w.bytes(), before);
  page.faults = page.faults.filter((f) => !/404.*list_forward_links/.test(f)); // asked while the note was on its way
  quiet(page);
});

test('folders are created, renamed and deleted in the tree, also by keyboard', async () => {
  await page.getByRole('button', { name: 'New folder' }).click();
  const panel = page.locator('.folder-panel');
  await panel.getByLabel('New folder').fill('Plans/Spring');
  await accessible(page, 'new folder');
  await page.keyboard.press('Enter');
  await row('Spring').waitFor();
  // The first note puts it on disk.
  await row('Spring').click({ button: 'right' });
  await page.locator('.menu').getByRole('button', { name: 'New note' }).click();
  const dialog = page.getByRole('dialog', { name: 'New note' });
  assert.equal(await dialog.getByLabel('Folder and name').inputValue(), 'Plans/Spring/');
  await dialog.getByLabel('Folder and name').fill('Plans/Spring/Picking');
  await page.keyboard.press('Enter');
  await w.until(() => w.read('Plans/Spring/Picking.md') !== null);
  await page.locator('.cm-content').waitFor();
  // F2 renames what is chosen in the tree, with what follows told before.
  await row('Picking').waitFor();
  await still(page);
  const tree = page.getByRole('tree', { name: 'Notes' });
  await tree.focus();
  const active = () => tree.evaluate((t) => document.getElementById(t.getAttribute('aria-activedescendant'))?.querySelector('.label')?.textContent);
  await page.waitForFunction(() => document.querySelector('[role=tree]').getAttribute('aria-activedescendant'));
  for (let i = 0; i < 40 && (await active()) !== 'Plans'; i++) await page.keyboard.press('ArrowUp');
  assert.equal(await active(), 'Plans');
  await page.keyboard.press('F2');
  await panel.getByLabel('Folder', { exact: true }).fill('Projects');
  await panel.getByText('Moves 1 file and updates 0 links.').waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/notes\/Projects\/Spring\/Picking\.md/);
  assert.notEqual(w.read('Projects/Spring/Picking.md'), null);
  // Deleting asks in place, and can be undone.
  await still(page);
  await row('Projects').hover();
  await page.getByRole('button', { name: 'Actions for Projects' }).click();
  await accessible(page, 'actions of a folder');
  await page.locator('.menu').getByRole('button', { name: 'Delete' }).click();
  await panel.locator('.card').getByRole('button', { name: 'Delete' }).waitFor();
  await w.picture(page, 'tree-delete-light-1440');
  assert.notEqual(w.read('Projects/Spring/Picking.md'), null, 'it asks first');
  await move(page, '/notes'); // nobody looks at a note that goes
  await allow(page);
  await w.until(() => w.read('Projects/Spring/Picking.md') === null);
  await page.locator('.toast', { hasText: 'Deleted Projects.' }).getByRole('button', { name: 'Undo' }).click();
  await w.until(() => w.read('Projects/Spring/Picking.md') !== null);
  quiet(page);
});

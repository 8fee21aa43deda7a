// Notes disappear from the vault: the page says so without asking for it, lists
// them, lets a person accept that they were deleted, and is quiet again.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { World, accessible, coloured, quiet, still } from './world.mjs';

let w, page, archive, away;
const banner = (p) => p.getByRole('region', { name: 'Missing notes' });
before(async () => {
  ({ w, page } = await World.entered((vault) => {
    mkdirSync(join(vault, 'Archive'));
    for (let i = 0; i < 60; i++) writeFileSync(join(vault, 'Archive', `Old ${i}.md`), `# Old ${i}\n\nKaolin.\n`);
    writeFileSync(join(vault, 'Archive', 'kept.txt'), 'no note\n');
  }));
  page.setDefaultTimeout(60_000);
  archive = join(w.vault, 'Archive');
  away = join(w.dir, 'away');
});
after(() => w?.close());

/** unmount leaves an empty folder where the archive was, as a disk does that is not mounted. */
function unmount() {
  renameSync(archive, away);
  mkdirSync(archive);
}
function mount() {
  rmSync(archive, { recursive: true });
  renameSync(away, archive);
}

test('the page hears of missing notes, and of their return, without a request', async () => {
  await page.goto(`${w.base}/tools`);
  await page.locator('.list li a').first().waitFor();
  await still(page);
  assert.equal(await banner(page).count(), 0);
  const asked = [];
  page.on('request', (r) => asked.push(r.url()));
  unmount();
  await banner(page).getByText('60 notes are missing from the vault.').waitFor();
  await banner(page).getByText(/Reason: \d+ notes are missing, and folder "Archive" is empty/i).waitFor();
  assert.deepEqual(asked, []);
  mount();
  await banner(page).waitFor({ state: 'detached' });
  quiet(page);
});

test('a page that is opened later shows it, in both themes and three widths', async () => {
  unmount();
  await banner(page).waitFor();
  for (const width of [1440, 768, 390]) {
    const p = await w.page({ colorScheme: 'light', viewport: { width, height: width === 390 ? 844 : 900 }, reducedMotion: 'reduce' });
    for (const path of ['/', '/chat', '/notes']) {
      await p.goto(w.base + path);
      await banner(p).getByText('60 notes are missing from the vault.').waitFor();
      await p.locator('main h1').first().waitFor({ state: 'attached' });
      await still(p);
      const wide = await p.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(wide <= 0, `${path} is ${wide} px too wide`);
    }
    await banner(p).getByRole('button', { name: 'Show' }).click();
    const folder = banner(p).locator('details', { hasText: 'archive' });
    await folder.getByText('60 notes').click();
    await folder.getByText(/Archive\/Old 7\.md/i).waitFor();
    await accessible(p, `the list, ${width}`);
    await w.picture(p, `missing-light-${width}`);
    await p.emulateMedia({ colorScheme: 'dark' });
    await accessible(p, `the list in the dark, ${width}`, coloured);
    await w.picture(p, `missing-dark-${width}`);
    quiet(p);
    await p.context().close();
  }
});

test('a person accepts that the notes were deleted', async () => {
  await banner(page).getByRole('button', { name: 'Accept as deleted' }).click();
  await banner(page).getByText('Accept that 60 notes were deleted?').waitFor();
  await accessible(page, 'the confirmation');
  await banner(page).getByRole('button', { name: 'Cancel' }).click();
  assert.equal((await w.call('search_notes', { query: 'kaolin', mode: 'lexical' })).results.length > 0, true, 'nothing is accepted yet');
  await banner(page).getByRole('button', { name: 'Accept as deleted' }).click();
  await banner(page).getByRole('button', { name: 'Accept 60 notes as deleted' }).click();
  await page.getByText('60 notes accepted as deleted.').waitFor();
  await banner(page).waitFor({ state: 'detached' });
  assert.deepEqual((await w.call('search_notes', { query: 'kaolin', mode: 'lexical' })).results, []);
  mount();
  await w.until(async () => (await w.call('search_notes', { query: 'kaolin', mode: 'lexical' })).results.length > 0);
  quiet(page);
});

test('notes that are gone from a living folder are doubted for a moment only', async () => {
  for (let i = 0; i < 60; i++) rmSync(join(archive, `Old ${i}.md`));
  await banner(page).getByText('If nothing else changes in the folder for a few seconds, Lore treats them as deleted.').waitFor();
  await banner(page).waitFor({ state: 'detached' });
  await w.until(async () => (await w.call('search_notes', { query: 'kaolin', mode: 'lexical' })).results.length === 0);
  quiet(page);
});

test('a vault whose folder is missing cannot be accepted', async () => {
  renameSync(w.vault, away);
  await banner(page).getByText('The vault is offline.').waitFor();
  await banner(page).getByText('until the folder is back').waitFor();
  assert.equal(await banner(page).getByRole('button').count(), 0);
  renameSync(away, w.vault);
  await banner(page).waitFor({ state: 'detached' });
  page.faults = page.faults.filter((f) => !/status of 503/.test(f)); // the browser says what it was refused
  quiet(page);
});

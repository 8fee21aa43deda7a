// The notes: read and written in a browser, what lies on disk afterwards to the
// byte, and nothing that was written ever lost.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { World, accessible, allow, quiet } from './world.mjs';

const pixel = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8" onload="window.pwned=1"><script>window.pwned=1</script><rect width="8" height="8" fill="green"/></svg>';

let w, page;
before(async () => {
  ({ w, page } = await World.entered());
});
after(() => w?.close());

const text = () => page.locator('.editor .cm-content');
const state = (re) => page.locator('.state', { hasText: re }).waitFor();

/** write opens a note in the editor. */
async function write(path) {
  await page.goto(`${w.base}/notes/${path.split('/').map(encodeURIComponent).join('/')}?edit=1`);
  await text().waitFor();
}
/** put adds words at the end of the note. */
async function put(words) {
  await text().press('Control+End');
  await page.keyboard.insertText(words);
}

// What only prints numbers for a person to judge is asked for: MEASURE=1.
const measured = { skip: !process.env.MEASURE && 'MEASURE=1 measures it' };

test('a note is edited and saved, to the byte, and its history shows and undoes it', async () => {
  const old = w.read('Notes/Sencha.md');
  await page.goto(`${w.base}/notes/Notes/Sencha.md`);
  await page.locator('.prose h1').waitFor();
  await page.getByRole('button', { name: 'Edit' }).click();
  await text().waitFor();
  await page.locator('.cm-h1', { hasText: 'Sencha' }).waitFor();
  await put('A line of my own.\n');
  await state('Unsaved changes');
  assert.equal(w.read('Notes/Sencha.md'), old, 'typing writes nothing');
  await page.keyboard.press('Control+s');
  await state(/^Saved \d/);
  assert.equal(w.read('Notes/Sencha.md'), old + 'A line of my own.\n');

  await page.locator('.side summary', { hasText: 'History' }).click();
  await page.locator('.history button').first().click();
  await page.getByRole('dialog').locator('.line.added', { hasText: 'A line of my own.' }).waitFor();
  await accessible(page, 'history');
  await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click();
  await page.locator('.toast', { hasText: 'Undone.' }).waitFor(); // nobody is asked about their own undo
  await page.waitForFunction(() => !document.querySelector('.editor')?.textContent.includes('A line of my own.'));
  assert.equal(w.read('Notes/Sencha.md'), old, 'taken back to the byte');
  quiet(page);
});

test('line ends and unchanged bytes stay as they were', async () => {
  writeFileSync(join(w.vault, 'Notes', 'Windows.md'), '# Windows\r\n\r\nOne.\r\nTwo.\r\n');
  await w.until(async () => (await w.call('list_forward_links', { path: 'Notes/Windows.md' })).success);
  await write('Notes/Windows.md');
  await put('Three.\n');
  await page.keyboard.press('Control+s');
  await state(/^Saved/);
  assert.equal(w.read('Notes/Windows.md'), '# Windows\r\n\r\nOne.\r\nTwo.\r\nThree.\r\n');
  quiet(page);
});

test('[[ offers notes, and links open with Ctrl and a click', async () => {
  await write('Notes/Long.md');
  await put('See [[gyok');
  await page.locator('.cm-tooltip-autocomplete li', { hasText: 'Gyokuro' }).first().waitFor();
  await accessible(page, 'completion');
  await page.keyboard.press('Enter');
  assert.match(await text().innerText(), /See \[\[Gyokuro\]\]$/m);
  await page.keyboard.press('Control+s');
  await state(/^Saved/);
  assert.match(w.read('Notes/Long.md'), /See \[\[Gyokuro\]\]\n?$/);
  await page.locator('.cm-wiki').click({ modifiers: ['Control'] });
  await page.waitForURL('**/notes/Notes/Gyokuro.md');
  quiet(page);
});

test('two writers: what does not overlap is merged, both texts are shown where it does, and none is lost', async () => {
  await write('Notes/Matcha.md');
  const old = w.read('Notes/Matcha.md');
  await put('MINE at the end.\n');
  await state('Unsaved changes');
  writeFileSync(join(w.vault, 'Notes', 'Matcha.md'), old.replace('# Matcha', '# Matcha\n\nTHEIRS at the top.'));
  await page.keyboard.press('Control+s');
  await page.getByText('Both changes were merged.').waitFor();
  await state(/^Saved/);
  const both = `${old.replace('# Matcha', '# Matcha\n\nTHEIRS at the top.')}MINE at the end.\n`;
  assert.equal(w.read('Notes/Matcha.md'), both);
  assert.match(await text().innerText(), /THEIRS at the top\.[\s\S]*MINE at the end\./);

  // One line that both changed, and a paragraph that only the other writer added.
  await text().press('Control+End');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('End');
  await page.keyboard.insertText(' MINE again.');
  await state('Unsaved changes');
  const other = both.replace('MINE at the end.', 'THEIRS at the end.').replace('THEIRS at the top.', 'THEIRS at the top.\n\nA paragraph of theirs.');
  writeFileSync(join(w.vault, 'Notes', 'Matcha.md'), other);
  await page.keyboard.press('Control+s');
  await page.locator('.cm-mergeView').waitFor();
  await page.getByText('1 place changed in both').waitFor();
  assert.match(await page.locator('.cm-merge-a .cm-content').innerText(), /THEIRS at the end/);
  assert.match(await page.locator('.cm-merge-b .cm-content').innerText(), /MINE at the end\. MINE again\./);
  assert.equal(w.read('Notes/Matcha.md'), other, 'nothing was overwritten');
  await w.picture(page, 'conflict-light-1440');
  await accessible(page, 'conflict');
  // The part of the other writer is taken over, then the right side is saved.
  await page.getByRole('button', { name: 'Use this part from disk' }).first().click();
  await page.getByRole('button', { name: 'Save right side' }).click();
  await state(/^Saved/);
  assert.equal(w.read('Notes/Matcha.md'), other);

  // And again, with mine put into a note of its own.
  await put('SECOND of mine.\n');
  await state('Unsaved changes');
  const theirs = w.read('Notes/Matcha.md') + 'SECOND of theirs.\n';
  writeFileSync(join(w.vault, 'Notes', 'Matcha.md'), theirs);
  await state('Changed on disk');
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.getByRole('button', { name: 'Save mine as a new note' }).click();
  await page.getByText(/Your text was saved as/).waitFor();
  assert.equal(w.read('Notes/Matcha.md'), theirs);
  const copy = Object.keys(w.bytes()).find((p) => p.startsWith('Notes/Matcha (mine'));
  assert.match(w.read(copy), /SECOND of mine/);
  quiet(page);
});

test('a draft outlives a reload and a server that is away', async () => {
  await write('Notes/Oolong.md');
  const old = w.read('Notes/Oolong.md');
  await put('A draft.\n');
  await state('Unsaved changes');
  const kept = () => page.evaluate(() => new Promise((f) => { const r = indexedDB.open('lore'); r.onsuccess = () => { const q = r.result.transaction('drafts').objectStore('drafts').getAll(); q.onsuccess = () => { r.result.close(); f(q.result.some((d) => d.text.includes('A draft.'))); }; }; }));
  await w.until(kept);
  await page.reload();
  await state(/Unsaved draft from/);
  assert.match(await text().innerText(), /A draft\./);
  assert.equal(w.read('Notes/Oolong.md'), old);
  quiet(page);

  await page.context().setOffline(true);
  await put('Written on a train.\n');
  await page.keyboard.press('Control+s');
  await state(/Not saved: .*not responding/);
  await page.context().setOffline(false);
  page.faults = []; // the browser itself tells of every request that failed
  await page.keyboard.press('Control+s');
  await state(/^Saved/);
  assert.equal(w.read('Notes/Oolong.md'), old + 'A draft.\nWritten on a train.\n');
  await page.reload();
  await text().waitFor();
  assert.equal(await page.locator('.state').innerText(), '', 'a saved draft is gone');
  page.faults = page.faults.filter((f) => !/ERR_INTERNET_DISCONNECTED/.test(f));
  quiet(page);
});

test('new, daily, rename with links, delete and undo', async () => {
  await page.goto(`${w.base}/notes/Notes/Puer.md`);
  await page.locator('.prose h1').waitFor();
  const dialog = page.getByRole('dialog', { name: 'New note' });
  for (const k of ['g', 'm']) await page.keyboard.press(k); // what a browser takes for itself is not the only way
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.keyboard.press('Control+n');
  assert.equal(await dialog.getByLabel('Folder and name').inputValue(), 'Notes/');
  await dialog.getByLabel('Folder and name').fill('Notes/Fresh');
  await accessible(page, 'new note');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/notes\/Notes\/Fresh\.md/);
  await text().waitFor();
  assert.equal(w.read('Notes/Fresh.md'), '# Fresh\n\n');

  await page.keyboard.press('Control+d');
  await page.waitForURL(/\/notes\/Daily\/\d{4}-\d\d-\d\d\.md/);
  const day = decodeURIComponent(new URL(page.url()).pathname.replace('/notes/', ''));
  assert.notEqual(w.read(day), null);

  await page.goto(`${w.base}/notes/Notes/Gaiwan.md`);
  await page.locator('.prose h1').waitFor();
  await page.locator('.more summary').click();
  await page.getByRole('button', { name: 'Rename or move' }).click();
  await page.getByLabel('Folder and name').fill('Notes/Lidded bowl.md');
  const told = await page.getByText(/Updates \d+ links? in \d+ notes?/).innerText();
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
  await page.waitForURL('**/notes/Notes/Lidded%20bowl.md');
  assert.equal(w.read('Notes/Gaiwan.md'), null);
  const linking = Object.entries(w.bytes()).filter(([p, b]) => p !== 'Notes/Lidded bowl.md' && Buffer.from(b, 'base64').toString().match(/Lidded(%20| )bowl/));
  assert.equal(linking.length, Number(/in (\d+)/.exec(told)[1]));

  const bytes = w.read('Notes/Lidded bowl.md');
  await page.locator('.prose h1').waitFor();
  await page.locator('.more summary').click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.locator('.card').getByRole('button', { name: 'Delete' }).waitFor();
  assert.equal(await page.locator('.card .primary, .card form, .card pre').count(), 0, 'asked in place, in short');
  assert.equal(w.read('Notes/Lidded bowl.md'), bytes, 'it asks first');
  await page.locator('.card').getByRole('button', { name: 'Cancel' }).click();
  await page.locator('.card').waitFor({ state: 'detached' });
  assert.equal(w.read('Notes/Lidded bowl.md'), bytes);
  await page.locator('.more summary').click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.locator('.card').getByRole('button', { name: 'Delete' }).waitFor();
  await allow(page);
  await page.waitForURL('**/notes');
  assert.equal(w.read('Notes/Lidded bowl.md'), null);
  await page.locator('.toast', { hasText: 'Deleted Gaiwan.' }).getByRole('button', { name: 'Undo' }).click();
  await page.locator('.toast', { hasText: 'Undone.' }).waitFor();
  assert.equal(w.read('Notes/Lidded bowl.md'), bytes, 'undone to the byte');

  // In the activity the rename is one click to undo: its links go back with it.
  await page.goto(`${w.base}/activity`);
  await page.getByRole('heading', { name: 'Today' }).waitFor();
  await page.locator('.run', { hasText: /^You (created|deleted|renamed|undid)/ }).first().waitFor();
  await page.locator('.run ul li', { hasText: 'Gaiwan' }).filter({ hasText: /renam|mov/i }).first().getByRole('button', { name: /^Undo/ }).click();
  await page.locator('.toast', { hasText: 'Undone.' }).waitFor();
  assert.equal(w.read('Notes/Gaiwan.md'), bytes);
  assert.equal(w.read('Notes/Lidded bowl.md'), null);
  quiet(page);
});

test('a note that goes elsewhere is told of, asked for no more, and can be written again', async () => {
  writeFileSync(join(w.vault, 'Notes', 'Brief.md'), '# Brief\n\nSee [[Sencha]].\n');
  await w.until(async () => (await w.call('list_forward_links', { path: 'Notes/Brief.md' })).total === 1);
  const p = await w.page();
  const state = (re) => p.locator('.state', { hasText: re }).waitFor();
  let open = 0;
  p.on('request', (r) => /\/tools\//.test(r.url()) && open++);
  for (const end of ['requestfinished', 'requestfailed']) p.on(end, (r) => /\/tools\//.test(r.url()) && open--);
  await p.clock.install();
  await p.goto(`${w.base}/notes/Notes/Brief.md`);
  await p.locator('.side .n').nth(2).waitFor();
  // The clock of the page stands still: no look that is due later is on its way when the note goes.
  await p.clock.pauseAt(Date.now() + 3_600_000);
  await w.until(() => open === 0);
  rmSync(join(w.vault, 'Notes', 'Brief.md'));
  await state('deleted or moved');
  await p.clock.resume();
  // Other changes are no reason to ask for it again.
  writeFileSync(join(w.vault, 'Notes', 'Other.md'), '# Other\n\n[[Brief]]\n');
  await p.locator('a.note', { hasText: /^Other$/ }).waitFor();
  quiet(p, 'nobody asks for what went');
  await p.getByRole('button', { name: 'Save as new file' }).click();
  await state(/^Saved/);
  assert.equal(w.read('Notes/Brief.md'), '# Brief\n\nSee [[Sencha]].\n');
  await p.locator('.side details', { hasText: 'Backlinks' }).locator('a', { hasText: 'Other' }).waitFor();
  quiet(p);
  await p.context().close();
});

test('properties, links around, and pictures of the vault', async () => {
  mkdirSync(join(w.vault, 'Pictures'), { recursive: true });
  writeFileSync(join(w.vault, 'Pictures', 'leaf one.png'), pixel);
  writeFileSync(join(w.vault, 'Pictures', 'evil.svg'), svg);
  writeFileSync(join(w.vault, 'Notes', 'Shown.md'), '---\nrating: 3\n---\n# Shown\n\n![[leaf one.png]]\n\n![A leaf](../Pictures/leaf%20one.png)\n\n![[evil.svg]]\n\n![far](https://example.invalid/x.png)\n\n[[Puer]]\n');
  await w.until(async () => (await w.call('list_forward_links', { path: 'Notes/Shown.md' })).total > 3);
  await page.goto(`${w.base}/notes/Notes/Shown.md`);
  await page.locator('.prose img').nth(2).waitFor();
  await page.waitForFunction(() => [...document.querySelectorAll('.prose img')].every((i) => (i.loading = 'eager', i.complete && i.naturalWidth > 0)));
  assert.equal(await page.locator('.prose img').count(), 3, 'what lies elsewhere is not fetched');
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  await page.getByLabel('rating', { exact: true }).fill('5');
  await page.getByLabel('rating', { exact: true }).press('Tab');
  await state(/^Saved/);
  assert.match(w.read('Notes/Shown.md'), /^---\nrating: 5\n---\n# Shown/);
  await page.locator('.side summary', { hasText: /^Links/ }).click();
  await page.locator('.side a[href="/notes/Notes/Puer.md"]').waitFor();
  quiet(page);
});

test('typing in a note of a megabyte', measured, async () => {
  const para = 'The leaf is steamed within hours of picking, then *rolled* and dried, see [[Sencha]] and **more** of it.\n\n';
  const big = '# Big\n\n' + Array.from({ length: 200 }, (_, i) => `## Part ${i}\n\n${para.repeat(50)}`).join('');
  assert.ok(big.length > 1_000_000);
  writeFileSync(join(w.vault, 'Notes', 'Big.md'), big);
  await w.until(async () => (await w.call('get_note_metadata', { path: 'Notes/Big.md' })).success);
  await write('Notes/Big.md');
  await text().press('Control+Home');
  await page.keyboard.press('End');
  const watch = await page.evaluateHandle(() => {
    const seen = { long: [], keys: [] };
    new PerformanceObserver((l) => seen.long.push(...l.getEntries().map((e) => Math.round(e.duration)))).observe({ entryTypes: ['longtask'] });
    new PerformanceObserver((l) => seen.keys.push(...l.getEntries().filter((e) => e.name === 'keydown').map((e) => Math.round(e.processingEnd - e.processingStart)))).observe({ type: 'event', durationThreshold: 16 });
    return seen;
  });
  await page.keyboard.type(' with words that are typed', { delay: 30 });
  await page.keyboard.press('Control+s');
  await state(/^Saved/);
  const seen = await watch.jsonValue();
  console.log(`typing in ${(big.length / 1e6).toFixed(2)} MB: long tasks ${JSON.stringify(seen.long)} ms, longest ${Math.max(0, ...seen.long)} ms; slowest key ${Math.max(0, ...seen.keys)} ms`);
  assert.equal(w.read('Notes/Big.md'), big.replace('# Big', '# Big with words that are typed'));
  quiet(page);
});

test('in both themes and on a phone', async (t) => {
  // All rules once; then those whose answer colours and widths can change.
  const styled = ['color-contrast', 'target-size', 'scrollable-region-focusable', 'link-in-text-block', 'aria-hidden-focus'];
  for (const [colorScheme, width, rules] of [['light', 1440], ['dark', 390, styled]]) {
    await t.test(`${colorScheme} ${width}`, async () => {
      const p = await w.page({ colorScheme, viewport: { width, height: width === 390 ? 844 : 900 }, reducedMotion: 'reduce' });
      await p.goto(`${w.base}/notes/Notes/Green%20tea.md`);
      await p.locator('.side .n').nth(2).waitFor();
      await w.picture(p, `notes-read-${colorScheme}-${width}`);
      await accessible(p, `read ${colorScheme} ${width}`, rules);
      await p.getByRole('button', { name: 'Edit' }).click();
      await p.locator('.cm-content').waitFor();
      await w.picture(p, `notes-write-${colorScheme}-${width}`);
      await accessible(p, `write ${colorScheme} ${width}`, rules);
      assert.ok((await p.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)) <= 0, 'too wide');
      quiet(p);
      await p.context().close();
    });
  }
});

test('the tree by keyboard, and with twenty thousand notes', measured, async () => {
  const dir = join(w.vault, 'Many');
  for (let f = 0; f < 20; f++) {
    mkdirSync(join(dir, `Folder ${f}`), { recursive: true });
    for (let i = 0; i < 1000; i++) writeFileSync(join(dir, `Folder ${f}`, `Note ${f}-${i}.md`), `# Note ${f}-${i}\n`);
  }
  await page.goto(`${w.base}/notes`);
  await page.locator('.list [role=status]', { hasText: /^20,0/ }).waitFor({ timeout: 60_000 });
  const tree = page.getByRole('tree', { name: 'Notes' });
  await tree.focus();
  const active = () => tree.evaluate((t) => document.getElementById(t.getAttribute('aria-activedescendant'))?.textContent.trim());
  await page.keyboard.press('Home');
  for (let i = 0; i < 10 && !/^Many/.test(await active()); i++) await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  assert.match(await active(), /^Folder 0/);
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  assert.equal(await active(), 'Note 0-0');
  await page.keyboard.press('ArrowLeft');
  assert.match(await active(), /^Folder 0/);
  assert.ok((await tree.locator('[role=treeitem]').count()) < 100, 'only what is seen is drawn');
  // Scrolling draws frames, and no task is long.
  const frames = await tree.evaluate(async (t) => {
    const long = [];
    new PerformanceObserver((l) => long.push(...l.getEntries().map((e) => e.duration))).observe({ entryTypes: ['longtask'] });
    const from = performance.now();
    let n = 0;
    while (performance.now() - from < 800) {
      t.scrollTop += 900;
      await new Promise(requestAnimationFrame);
      n++;
    }
    return { fps: Math.round((n * 1000) / (performance.now() - from)), longest: Math.round(Math.max(0, ...long)) };
  });
  console.log(`scrolling 20,000 notes: ${frames.fps} frames a second, longest task ${frames.longest} ms`);
  await page.getByLabel('Filter notes').fill('note 7-77');
  await page.locator('a.note', { hasText: /^Note 7-77$/ }).click();
  await page.waitForURL('**/Note%207-77.md');
  rmSync(dir, { recursive: true });
  quiet(page);
});

// What a person wrote is kept and what they see is what is: whatever others do
// meanwhile, however slow the server is, and wherever they go next.
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { move, quiet } from './world.mjs';
import { gate } from './mind.mjs';
import { Talker } from './talker.mjs';

let t, w, page;
before(async () => {
  t = await Talker.open((vault) => writeFileSync(join(vault, 'Notes', 'C#.md'), '# C sharp\n\n## Keys\n\nBlack ones.\n'));
  ({ w, page } = t);
});
after(() => t?.close());

const text = () => page.locator('.editor .cm-content');
const state = (re) => page.locator('.state', { hasText: re }).waitFor();

/** write opens a note in the editor and adds words at its end. */
async function write(path, words) {
  await page.goto(`${w.base}/notes/${path.split('/').map(encodeURIComponent).join('/')}?edit=1`);
  await text().waitFor();
  await text().press('Control+End');
  await page.keyboard.insertText(words);
  await state('Unsaved changes');
}
/** listed waits until the page has heard of a new note, and of all that was before it. */
async function listed(name) {
  const told = page.locator('.list [role=status]').evaluate((el) => new Promise((f) => { const was = el.textContent; const m = new MutationObserver(() => el.textContent !== was && (m.disconnect(), f())); m.observe(el, { childList: true, characterData: true, subtree: true }); }));
  await page.evaluate(() => 0); // it watches
  writeFileSync(join(w.vault, 'Notes', `${name}.md`), `# ${name}\n`);
  await told;
}
/** refused leaves out that the browser tells of requests that were cut. */
function refused() {
  page.faults = page.faults.filter((f) => !/ERR_FAILED/.test(f));
}

test('two texts stay as they were seen: a third is never overwritten, and what was made of them is kept', async () => {
  const at = join(w.vault, 'Notes', 'Hojicha.md');
  const old = w.read('Notes/Hojicha.md');
  await write('Notes/Hojicha.md', 'MINE.\n');
  writeFileSync(at, `${old}SECOND.\n`);
  await state('Changed on disk');
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.locator('.cm-merge-a .cm-content', { hasText: 'SECOND.' }).waitFor();
  writeFileSync(at, `${old}SECOND.\nTHIRD.\n`);
  await listed('Came later');
  await page.getByRole('button', { name: 'Save right side' }).click();
  await page.locator('.cm-merge-a .cm-content', { hasText: 'THIRD.' }).waitFor();
  assert.equal(w.read('Notes/Hojicha.md'), `${old}SECOND.\nTHIRD.\n`, 'what nobody saw is not overwritten');
  await page.locator('.cm-merge-b .cm-content').press('Control+End');
  await page.keyboard.insertText('WRITTEN BESIDE.\n');
  await page.getByRole('button', { name: 'Keep editing' }).click();
  await page.locator('.cm-mergeView').waitFor({ state: 'detached' });
  assert.match(await text().innerText(), /MINE\.[\s\S]*WRITTEN BESIDE\./);
  quiet(page);
});

test('beside the other text, Ctrl+S saves the right side, and there is one way to save', async () => {
  const old = w.read('Notes/Gaiwan.md');
  await write('Notes/Gaiwan.md', 'MINE.\n');
  writeFileSync(join(w.vault, 'Notes', 'Gaiwan.md'), `${old}THEIRS.\n`);
  await state('Changed on disk');
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.locator('.cm-merge-a .cm-content', { hasText: 'THEIRS.' }).waitFor();
  assert.deepEqual(await page.getByRole('button', { name: 'Save' }).allInnerTexts(), ['Save right side', 'Save mine as a new note']);
  await page.locator('.cm-merge-b .cm-content').press('Control+End');
  await page.keyboard.insertText('BOTH.\n');
  await page.keyboard.press('Control+s');
  await state(/^Saved/);
  assert.equal(w.read('Notes/Gaiwan.md'), `${old}THEIRS.\nMINE.\nBOTH.\n`, 'lines that both added at one place are both there');
  await page.keyboard.insertText('And on.'); // where it was written
  await state('Unsaved changes');
  quiet(page);
});

test('one who saves does not take along what was written in another tab', async () => {
  const b = await page.context().newPage();
  await b.goto(`${w.base}/notes/Notes/White%20tea.md?edit=1`);
  await b.locator('.editor .cm-content').waitFor();
  await page.bringToFront();
  await write('Notes/White tea.md', 'FROM THE FIRST TAB.\n');
  await b.bringToFront();
  await b.locator('.editor .cm-content').press('Control+End');
  await b.keyboard.insertText('FROM THE SECOND.\n');
  await b.keyboard.press('Control+s');
  await b.locator('.state', { hasText: /^Saved/ }).waitFor();
  await page.bringToFront();
  await state('Changed on disk');
  await page.evaluate(() => new Promise((f) => { const r = indexedDB.open('lore'); r.onsuccess = () => { r.result.transaction('drafts').objectStore('drafts').getAll().onsuccess = () => f(0); }; })); // what was kept by now is kept
  await page.evaluate(() => addEventListener('pagehide', (e) => e.stopImmediatePropagation(), true)); // as when the browser ends
  await page.reload();
  await state('your draft is based on an older version');
  assert.match(await text().innerText(), /FROM THE FIRST TAB\./);
  await b.close();
  quiet(page);
});

test('what was written of a note that is gone is still there', async () => {
  await write('Notes/Matcha.md', 'NOT LOST.\n');
  const old = w.read('Notes/Matcha.md');
  rmSync(join(w.vault, 'Notes', 'Matcha.md'));
  await state('deleted or moved');
  await page.reload();
  await state('This note was deleted or moved');
  await text().filter({ hasText: 'NOT LOST.' }).waitFor();
  await page.getByRole('button', { name: 'Save as new file' }).click();
  await state(/^Saved/);
  assert.equal(w.read('Notes/Matcha.md'), `${old}NOT LOST.\n`);
  page.faults = page.faults.filter((f) => !/404 \(Not Found\)/.test(f));
  quiet(page);
});

test('a note that comes back is shown', async () => {
  const old = w.read('Notes/Matcha.md');
  rmSync(join(w.vault, 'Notes', 'Matcha.md'));
  await w.until(async () => (await w.call('list_forward_links', { path: 'Notes/Matcha.md' })).status === 404); // the index knows it, too
  await page.goto(`${w.base}/notes/Notes/Matcha.md`);
  await page.getByText(/Note not found/).waitFor();
  writeFileSync(join(w.vault, 'Notes', 'Matcha.md'), old);
  await page.locator('.prose', { hasText: 'NOT LOST.' }).waitFor();
  page.faults = page.faults.filter((f) => !/404 \(Not Found\)/.test(f));
  quiet(page);
});

test('unsaved text follows a note to its new name', async () => {
  await write('Notes/Tannins.md', 'Not saved anywhere.\n');
  await page.locator('.more summary').click();
  await page.getByRole('button', { name: 'Rename or move' }).click();
  await page.getByLabel('Folder and name').fill('Notes/Bitterness.md');
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
  await page.waitForURL('**/notes/Notes/Bitterness.md');
  await text().filter({ hasText: 'Not saved anywhere.' }).waitFor();
  assert.doesNotMatch(w.read('Notes/Bitterness.md'), /Not saved anywhere/);
  quiet(page);
});

test('who saves and leaves at once has saved', async () => {
  await write('Notes/Puer.md', 'Saved on the way out.\n');
  const hold = gate();
  await page.route('**/api/v1/tools/**', async (r) => {
    if (/"limit":1\}/.test(r.request().postData() ?? '')) await hold.wait;
    await r.continue();
  });
  await page.keyboard.press('Control+s');
  await state('Saving');
  await move(page, '/notes/Notes/Oolong.md');
  await page.locator('.prose h1', { hasText: 'Oolong' }).waitFor();
  hold.open();
  await w.until(() => /Saved on the way out/.test(w.read('Notes/Puer.md')), 10_000);
  await page.unroute('**/api/v1/tools/**');
  quiet(page);
});

test('the tree stays where a person is, whatever others change', async () => {
  await page.goto(`${w.base}/notes/Notes/Black%20tea.md`);
  await page.locator('a.note[aria-current]').waitFor();
  const tree = page.getByRole('tree', { name: 'Notes' });
  await tree.evaluate((el) => (el.scrollTop = el.scrollHeight));
  const top = await tree.evaluate((el) => el.scrollTop);
  assert.ok(top > 300, `it scrolls: ${top}`);
  await listed('AAA another');
  await tree.evaluate(() => new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(f))));
  assert.equal(await tree.evaluate((el) => el.scrollTop), top);
  quiet(page);
});

test('a name may hold the sign before a heading', async () => {
  await page.goto(`${w.base}/notes/Notes/C%23.md%23Keys`);
  await page.locator('.prose h2', { hasText: 'Keys' }).waitFor();
  await page.locator('a.note[aria-current][title="Notes/C#.md"]').waitFor();
  quiet(page);
});

test('a conversation begins once, and its first words stay in it', async () => {
  const all = async () => (await w.get(page, 'chats?limit=50')).chats?.length ?? 0;
  await page.goto(`${w.base}/chat`);
  await page.locator('.example').first().dblclick();
  await t.settled(1);
  assert.equal(await all(), 1);
  await page.goto(`${w.base}/chat?q=${encodeURIComponent('from an address')}`);
  await page.waitForFunction(() => document.querySelector('.composer textarea').value === 'from an address');
  await page.locator('.chats a.open').first().click();
  await t.settled(1);
  assert.equal(await t.box().inputValue(), '', 'they were not written for this one');
  quiet(page);
});

test('a new conversation is written in at once', async () => {
  await page.goto(`${w.base}/chat`);
  await page.locator('.composer textarea').waitFor();
  await page.getByRole('link', { name: 'New chat', exact: true }).click();
  await page.waitForFunction(() => document.activeElement?.matches('.composer textarea'));
  quiet(page);
});

test('words that could not be said are still there', async () => {
  const cut = (r) => (r.request().method() === 'POST' ? r.abort() : r.continue());
  await page.goto(`${w.base}/chat`);
  await page.locator('.chats a.open').first().click();
  await t.settled(1);
  await page.route('**/api/v1/chats/*/fork', cut);
  await page.locator('.turn .edit').first().click();
  await page.getByLabel(/Edit your message/).fill('Said with care');
  await page.getByRole('button', { name: 'Send as branch' }).click();
  await page.locator('.foot .trouble').waitFor();
  assert.equal(await page.getByLabel(/Edit your message/).inputValue(), 'Said with care');
  await page.unroute('**/api/v1/chats/*/fork');

  await page.goto(w.base + '/');
  await page.route('**/api/v1/chats', cut);
  await page.getByLabel('Ask a question or describe a task').fill('A long question');
  await page.getByRole('button', { name: 'Ask', exact: true }).click();
  await page.locator('.foot .trouble').waitFor();
  await page.waitForFunction(() => document.querySelector('.composer textarea').value === 'A long question');
  await page.unroute('**/api/v1/chats');
  refused();
  quiet(page);
});

test('a tool that answers late does not answer for another', async () => {
  const hold = gate();
  await page.goto(`${w.base}/tools/vault_health`);
  await page.route('**/api/v1/tools/vault_health**', async (r) => {
    await hold.wait;
    await r.continue();
  });
  const late = page.waitForResponse(/tools\/vault_health/);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.locator('.list a[href="/tools/list_tags"]').click();
  await page.getByRole('heading', { name: /tags/i, level: 2 }).waitFor();
  hold.open();
  await (await late).finished();
  await page.evaluate(() => fetch('/api/v1/status').then((r) => r.text()));
  assert.equal(await page.locator('.result').count(), 0);
  await page.unroute('**/api/v1/tools/vault_health**');
  quiet(page);
});

test('a list of tools that comes late does not take the place of a newer one', async () => {
  const hold = gate();
  await page.goto(`${w.base}/tools`);
  const one = page.locator('.list a[href="/tools/list_tags"]');
  await one.waitFor();
  let old;
  const list = /\/api\/v1\/tools(\?|$)/;
  await page.route(list, async (r) => {
    const res = await r.fetch();
    const without = !(await res.text()).includes('"list_tags"');
    if (without) await (old = hold).wait;
    await r.fulfill({ response: res });
  });
  w.run('config', 'set', '--yes', 'tools.list_tags', 'off');
  await w.until(() => old);
  const next = page.waitForResponse((r) => new URL(r.url()).pathname === '/api/v1/tools');
  w.run('config', 'set', '--yes', 'tools.list_tags', 'ask');
  await (await next).finished();
  const late = page.waitForResponse((r) => new URL(r.url()).pathname === '/api/v1/tools');
  hold.open();
  await (await late).finished();
  await page.evaluate(() => fetch('/api/v1/status').then((r) => r.text()));
  await one.waitFor(); // news that came in between may have asked once more
  await page.unroute(list);
  quiet(page);
});

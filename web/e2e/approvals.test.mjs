// What waits for a person, answered in a browser: what is on disk afterwards is
// what was shown and chosen, to the byte.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { World, accessible, allow, move, quiet, still } from './world.mjs';

let w, page;
before(async () => {
  ({ w, page } = await World.entered());
});
after(() => w?.close());

const card = () => page.locator('.card');
const approve = () => page.locator('.card .approve:enabled');
const over = (state) => page.locator(`.card .chip.${state}`).waitFor();

/** show opens the card of a question. */
async function show(id, fresh = false) {
  // Where the page stands already, it is shown without loading it again.
  if (page.url().startsWith(w.base) && !fresh) await move(page, `/approvals/${id}`);
  else await page.goto(`${w.base}/approvals/${id}`);
  await page.locator(`[data-approval="${id}"] .approve`).waitFor();
  await still(page); // a card that is moved under the hand is not answered by it
}

/** changed lists the files that differ. */
function changed(before) {
  const now = w.bytes();
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].filter((p) => before[p] !== now[p]).sort();
}

test('a yes does exactly what was shown, and can be taken back and brought back', async () => {
  const old = w.bytes();
  const id = await w.ask('edit_note', { path: 'Notes/Sencha.md', search: 'The everyday tea of Japan.', replace: 'The everyday green tea of Japan.' });
  await show(id);
  assert.deepEqual(changed(old), [], 'asking changes nothing');
  assert.equal(await page.locator('.line.added mark').innerText(), 'green ');
  assert.match(await card().innerText(), /“script” \(REST\)/);
  await allow(page, approve());
  await over('done');
  assert.deepEqual(changed(old), ['Notes/Sencha.md']);
  assert.equal(w.read('Notes/Sencha.md'), Buffer.from(old['Notes/Sencha.md'], 'base64').toString().replace('everyday tea', 'everyday green tea'));

  await page.getByRole('link', { name: 'View in activity' }).click();
  await page.locator('button.undo').click();
  await page.locator('button.redo').waitFor(); // the person's own act: done at once
  assert.deepEqual(changed(old), [], 'taken back to the byte');
  await page.goto(`${w.base}/activity`);
  await page.locator('.calls a', { hasText: 'Sencha.md at line' }).first().click();
  await page.locator('button.redo').click();
  await page.locator('button.undo').waitFor();
  assert.deepEqual(changed(old), ['Notes/Sencha.md']);
  quiet(page);
});

test('a no leaves every byte, and its word reaches the one who asked', async () => {
  const old = w.bytes();
  const id = await w.ask('delete_note', { path: 'Notes/Matcha.md' });
  await show(id);
  assert.equal(await page.locator('.chip.destroy').count(), 1);
  assert.equal(await page.locator('.approve.primary').count(), 0, 'a yes that destroys is not the usual way on');
  assert.equal(await page.getByText('Always allow').count(), 0, 'what destroys is never allowed from now on');
  await page.locator('[name=word]').fill('keep it');
  await page.getByRole('button', { name: 'Deny' }).click();
  await over('denied');
  assert.deepEqual(changed(old), []);
  const res = await fetch(`${w.base}/api/v1/approvals/${id}/await?seconds=1`, { headers: { Authorization: `Bearer ${w.token}` } });
  const body = await res.json();
  assert.equal(body.success, false);
  assert.equal(body.user_feedback, 'keep it');
  quiet(page);
});

test('places and files are taken one by one', async () => {
  const long = w.read('Notes/Long.md');
  const old = w.bytes();
  const id = await w.ask('write_note', { path: 'Notes/Long.md', mode: 'overwrite', content: long.replace('Line 3 ', 'LINE THREE ').replace('Line 20 ', 'LINE TWENTY ').replace('Line 38 ', 'LINE THIRTY-EIGHT ') });
  await show(id);
  assert.equal(await page.locator('.hunk').count(), 3);
  await page.getByLabel('Change 2 of 3').uncheck();
  assert.equal(await approve().innerText(), 'Allow 2 of 3 changes');
  await allow(page, approve());
  await over('done');
  await page.getByText('You approved part of this request.').waitFor();
  assert.equal(w.read('Notes/Long.md'), long.replace('Line 3 ', 'LINE THREE ').replace('Line 38 ', 'LINE THIRTY-EIGHT '));
  assert.deepEqual(changed(old), ['Notes/Long.md']);

  const before = w.bytes();
  await show(await w.ask('rename_tag', { tag: 'japan', new_tag: 'nippon' }));
  const files = page.locator('.file');
  const n = await files.count();
  assert.ok(n > 1);
  const left = (await files.first().locator('h3 input').getAttribute('aria-label')).replace('Include ', '');
  await files.first().locator('h3 input').uncheck();
  assert.match(await approve().innerText(), new RegExp(`Allow ${n - 1} of ${n}`));
  await allow(page, approve());
  await over('done');
  assert.equal(changed(before).length, n - 1);
  assert.ok(!changed(before).includes(left));
  quiet(page);
});

test('the arguments are edited, shown again, and done as edited', async () => {
  const old = w.bytes();
  const id = await w.ask('write_note', { path: 'Notes/Wrong.md', content: '# Wrong\n' });
  await show(id);
  await page.getByText('Edit before allowing').click();
  await page.getByLabel('Path', { exact: false }).fill('Notes/../../out.md');
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.locator('.card .said', { hasText: /./ }).waitFor();
  assert.equal(await page.locator('.field.bad').count() + await page.locator('.said', { hasText: /path|vault/i }).count() > 0, true);
  await page.getByLabel('Path', { exact: false }).fill('Notes/Right.md');
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.locator('.file h3', { hasText: 'Notes/Right.md' }).waitFor();
  await allow(page, page.getByRole('button', { name: 'Allow edited version' }).and(page.locator(':enabled')));
  await over('done');
  assert.deepEqual(changed(old), ['Notes/Right.md']);
  assert.equal(w.read('Notes/Right.md'), '# Wrong\n');
  // The browser itself says that the first try was refused.
  page.faults = page.faults.filter((f) => !/rehearse/.test(f));
  quiet(page);
});

test('edited values keep their lines, and the buttons stay in sight', async () => {
  const old = w.bytes();
  const lines = (from, to) => Array.from({ length: to - from + 1 }, (_, i) => `Line ${from + i} of the list.`).join('\n');
  writeFileSync(join(w.vault, 'Notes', 'Lines.md'), lines(1, 40) + '\n');
  old['Notes/Lines.md'] = Buffer.from(lines(1, 40) + '\n').toString('base64');
  const id = await w.ask('edit_note', { path: 'Notes/Lines.md', search: lines(1, 38), replace: lines(1, 38).replaceAll('list', 'long list') });
  await show(id);
  const seen = () => page.locator('.approve').evaluate((b) => { const r = b.getBoundingClientRect(); return r.top > 0 && r.bottom <= innerHeight; });
  assert.ok((await card().boundingBox()).height > 900, 'the card is longer than the window');
  assert.ok(await seen(), 'at the top');
  await page.mouse.move(700, 400);
  await page.mouse.wheel(0, 300);
  await page.waitForFunction(() => document.querySelector('main').scrollTop > 100);
  assert.ok(await seen(), 'further down');
  await page.getByText('Edit before allowing').click();
  await page.getByLabel('Search', { exact: true }).fill(lines(2, 3));
  await page.getByLabel('Replace', { exact: true }).fill('Two.\n\nThree.');
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.locator('.line.added', { hasText: 'Three.' }).waitFor();
  await allow(page, page.getByRole('button', { name: 'Allow edited version' }).and(page.locator(':enabled')));
  await over('done');
  assert.deepEqual(changed(old), ['Notes/Lines.md']);
  assert.equal(w.read('Notes/Lines.md'), `${lines(1, 40)}\n`.replace(lines(2, 3), 'Two.\n\nThree.'));
  quiet(page);
});

test('what hides is shown', async () => {
  const id = await w.ask('write_note', { path: 'Notes/Hidden.md', content: 'pay a\u200bb \u202egnp.exe\n' });
  await show(id);
  await page.locator('.hidden-warning').waitFor();
  assert.deepEqual(await page.locator('.line.added .hidden-char').allInnerTexts(), ['U+200B', 'U+202E']);
  await accessible(page, 'hidden characters');
  await w.picture(page, 'hidden');
  await page.locator('.deny').click();
  await over('denied');
  quiet(page);
});

test('letters answer only with the focus on the card, and only when it is armed', async () => {
  const id = await w.ask('write_note', { path: 'Notes/Keys.md', content: 'x\n' });
  await show(id);
  await approve().waitFor();
  await page.keyboard.press('a');
  await page.keyboard.press('Escape');
  await page.locator('[name=word]').focus();
  await page.keyboard.press('a');
  await page.keyboard.press('Enter');
  assert.equal(w.read('Notes/Keys.md'), null);
  // Whoever comes back to the window has half a second: the key comes at once, however slow this test is.
  await card().focus();
  await page.evaluate(() => addEventListener('keydown', () => dispatchEvent(new Event('focus')), { capture: true, once: true }));
  await page.keyboard.press('a');
  assert.equal(w.read('Notes/Keys.md'), null, 'it was not armed');
  await approve().waitFor();
  await page.keyboard.press('Escape');
  assert.equal(w.read('Notes/Keys.md'), null);
  await page.keyboard.press('a');
  await over('done');
  assert.equal(w.read('Notes/Keys.md'), 'x\n');
  quiet(page);
});

test('allowed from now on, within its scope alone', async () => {
  const id = await w.ask('write_note', { path: 'Daily/one.md', content: '1\n' });
  await show(id);
  await approve().waitFor();
  await page.getByText('Always allow').click();
  await accessible(page, 'the scopes');
  await page.getByRole('button', { name: /This tool in Daily\/, for “script”/ }).click();
  await over('done');
  assert.equal((await w.call('write_note', { path: 'Daily/two.md', content: '2\n' })).status, 200);
  assert.equal(w.read('Daily/two.md'), '2\n');
  const other = await w.call('write_note', { path: 'Notes/three.md', content: '3\n' });
  assert.equal(other.status, 202);
  await page.goto(`${w.base}/settings/safety`);
  await page.getByRole('button', { name: 'Remove' }).click();
  await page.getByText('Lore asks before every change').waitFor();
  assert.equal((await w.call('write_note', { path: 'Daily/four.md', content: '4\n' })).status, 202);
  quiet(page);
});

test('the tray hears of questions as they come, and of answers elsewhere', async () => {
  await page.goto(`${w.base}/notes`);
  await page.getByRole('button', { name: /Approvals/ }).click();
  const was = (await w.get(page, 'approvals?state=pending')).approvals.length;
  await page.waitForFunction((n) => document.querySelectorAll('#tray li').length === n, was);
  const id = await w.ask('write_note', { path: 'Notes/Tray.md', content: 't\n' });
  await page.locator(`#tray a[href="/approvals/${id}"]`).waitFor();
  assert.match(await page.title(), new RegExp(`^\\(${was + 1}\\) `));
  assert.match(await page.locator('[role=status].sr').innerText(), /Approval needed: .*Tray/);
  w.person('approvals', 'deny', id);
  await page.locator(`#tray a[href="/approvals/${id}"]`).waitFor({ state: 'detached' });
  quiet(page);
});

test('on a phone the tray goes when it led somewhere, and with Escape', async () => {
  const id = await w.ask('edit_note', { path: 'Notes/Sencha.md', search: 'everyday', replace: 'daily' });
  const p = await w.page({ viewport: { width: 390, height: 844 }, hasTouch: true });
  await p.goto(w.base + '/');
  const tray = p.locator('#tray');
  await p.locator('.bell').tap();
  await tray.waitFor();
  await p.keyboard.press('Escape');
  await tray.waitFor({ state: 'detached' });
  await p.locator('.bell').tap();
  await tray.locator(`a[href="/approvals/${id}"]`).tap();
  await p.locator('.card').waitFor();
  assert.equal(await tray.count(), 0, 'it lies on the question');
  assert.match(await p.locator('.card .meta').innerText(), /Requested by “script” \(REST\), [^]*\+1 −1[^]*Expires /, 'who asks, how much changes and until when is seen without opening anything');
  await p.locator('.deny').tap();
  await p.locator('.chip.denied').waitFor();
  quiet(p);
  await p.context().close();
});

test('a question that a file overtook is computed again', async () => {
  const { writeFileSync } = await import('node:fs');
  const id = await w.ask('write_note', { path: 'Notes/Long.md', mode: 'append', content: 'The end.\n' });
  await show(id);
  writeFileSync(`${w.vault}/Notes/Long.md`, 'Somebody wrote this meanwhile.\n');
  await allow(page, approve());
  await page.locator('.card[data-revision="1"]').waitFor();
  assert.equal(w.read('Notes/Long.md'), 'Somebody wrote this meanwhile.\n');
  await page.locator('.line.same', { hasText: 'Somebody wrote' }).waitFor();
  await allow(page, approve());
  await over('done');
  assert.match(w.read('Notes/Long.md'), /^Somebody wrote this meanwhile\.\n+The end\.\n$/);
  quiet(page);
});

test('cards survive a reload and a restart of the server', async () => {
  const id = await w.ask('write_note', { path: 'Notes/Later.md', content: 'later\n' });
  await show(id);
  await page.reload();
  await approve().waitFor();
  const where = w.base;
  await w.stop();
  await w.serve(where.replace('http://', ''));
  await w.enter(page);
  page.faults = []; // the browser says that the server was away, and then that it knows nobody
  await show(id, true);
  await allow(page, approve());
  await over('done');
  assert.equal(w.read('Notes/Later.md'), 'later\n');
  quiet(page);
});

test('the activity is filtered, and its record is whole', async () => {
  await page.goto(`${w.base}/activity`);
  await page.locator('.chain.good').waitFor();
  await page.locator('.run', { hasText: /^“script” .*changed \d+ notes?: / }).first().waitFor();
  await page.getByLabel('Show log').check();
  await page.locator('.filters select').nth(2).selectOption('denied');
  await page.waitForURL(/status=denied/);
  await page.locator('.calls li', { hasText: 'delete_note' }).first().waitFor();
  await page.locator('.calls .chip.done').first().waitFor({ state: 'detached' });
  await page.getByLabel('Note or folder').fill('Notes/Hidden.md');
  await page.getByLabel('Note or folder').press('Enter');
  await page.waitForFunction(() => document.querySelectorAll('.calls li').length === 1);
  await page.reload();
  await page.waitForFunction(() => document.querySelectorAll('.calls li').length === 1);
  await page.getByRole('button', { name: 'Clear all', exact: true }).click();
  await page.locator('.calls .chip.done').first().waitFor();
  // What is chosen far down in the list stands above it, and is gone to.
  await page.locator('.filters select').nth(2).selectOption('done');
  await page.waitForURL(/status=done/);
  await page.locator('.calls a[href^="/activity/op-"]').last().click();
  await page.locator('[data-operation] .diff').first().waitFor();
  await page.waitForFunction(() => document.activeElement.matches('[data-operation]'));
  const at = await page.locator('[data-operation]').boundingBox();
  assert.ok(at.y >= 0 && at.y < 800, `it lies at ${at.y}`);
  assert.match(await page.getByRole('link', { name: 'Close', exact: true }).getAttribute('href'), /\/activity\?status=done&log=1/, 'closing it keeps the filter');
  await accessible(page, 'one operation');
  await w.picture(page, 'operation');
  quiet(page);
});

test('a workflow is allowed by its text, and then its changes are approved as one', async () => {
  mkdirSync(join(w.vault, 'Workflows'));
  writeFileSync(join(w.vault, 'Workflows', 'Mark.yaml'), 'steps:\n  - tool: update_frontmatter\n    arguments: {path: Matcha, updates: {seen: true}}\n  - tool: update_frontmatter\n    arguments: {path: Sencha, updates: {seen: true}}\n');
  const old = w.bytes();
  const id = await w.ask('run_workflow', { workflow: 'Mark' });
  await show(id);
  assert.match(await card().locator('.steps').innerText(), /steps:\n {2}- tool: update_frontmatter[^]*sha256 [0-9a-f]{64}/, 'the whole text, with its indentation');
  await accessible(page, 'the text of a workflow');
  await allow(page, approve());
  await page.locator(`[data-approval="${id}"][data-revision="1"] .approve`).waitFor(); // the same card, now about the changes
  await still(page);
  assert.deepEqual(changed(old), [], 'to allow the text changes nothing');
  assert.match(await card().locator('.steps').innerText(), /1\. step1: .*Matcha\.md.*\n2\. step2: .*Sencha\.md/);
  await allow(page, approve());
  await over('done');
  assert.deepEqual(changed(old), ['Notes/Matcha.md', 'Notes/Sencha.md']);
  quiet(page);
});

// The last one: from here on, every approval needs the PIN.
test('with a PIN, an undo that deletes asks for it, as an approval does', async () => {
  const id = await w.ask('write_note', { path: 'Notes/Locked.md', content: 'locked\n' });
  await show(id);
  await allow(page, approve());
  await over('done');
  assert.match(w.types(['4711', '4711'], 'approvals', 'pin'), /PIN/);
  const undo = page.getByRole('button', { name: 'Undo', exact: true }).first();
  const dialog = page.getByRole('dialog', { name: 'Approval PIN' });
  await undo.click();
  await dialog.waitFor();
  assert.equal(w.read('Notes/Locked.md'), 'locked\n');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal(w.read('Notes/Locked.md'), 'locked\n', 'nothing is done without it');
  await undo.click();
  await dialog.getByLabel('PIN').fill('0000');
  await dialog.getByRole('button', { name: 'Continue' }).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByLabel('PIN').fill('4711');
  await dialog.getByRole('button', { name: 'Continue' }).click();
  await page.locator('.toast', { hasText: 'Undone.' }).waitFor();
  assert.equal(w.bytes()['Notes/Locked.md'], undefined);
});

// A mind that wants to change something, that is stopped, that fails: what is on
// disk afterwards is what a person allowed.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accessible, allow, quiet } from './world.mjs';
import { gate } from './mind.mjs';
import { Talker } from './talker.mjs';

let t, w, page, mind;
before(async () => {
  t = await Talker.open();
  ({ w, page, mind } = t);
});
after(() => t?.close());

test('a change is asked about inside the answer: allowed, denied, edited, taken back', async () => {
  const old = w.bytes();
  mind.says({ text: 'I write it.', calls: [['write_note', { path: 'Notes/From chat.md', content: '# From chat\n' }]] }, { text: 'It is written.' });
  await t.begin();
  await t.say('Write a note');
  await t.card().waitFor();
  assert.equal(await page.locator('dialog[open]').count(), 0);
  assert.deepEqual(t.changed(old), [], 'asking changes nothing');
  await accessible(page, 'a question in the chat');
  await w.picture(page, 'chat-question');
  // Esc does nothing, and the question is still there after the page was loaded again.
  await page.keyboard.press('Escape');
  await page.reload();
  await t.card().waitFor();
  assert.deepEqual(t.changed(old), []);
  await allow(page, t.approve());
  await page.getByText('It is written.').waitFor();
  await t.settled(1);
  assert.deepEqual(t.changed(old), ['Notes/From chat.md']);
  assert.equal(w.read('Notes/From chat.md'), '# From chat\n');
  await t.line('write_note', 'done').waitFor();
  await page.locator('.call .undo').click();
  await page.locator('.toast', { hasText: 'Undone.' }).waitFor();
  assert.deepEqual(t.changed(old), [], 'taken back to the byte');

  mind.says({ calls: [['delete_note', { path: 'Notes/Matcha.md' }]] }, { text: 'Then it stays.' });
  await t.say('Delete Matcha');
  await t.card().last().locator('[name=word]').fill('keep it');
  await t.card().last().locator('.deny').click();
  await page.getByText('Then it stays.').waitFor();
  await t.line('delete_note', 'denied').getByText('Denied').waitFor();
  assert.deepEqual(t.changed(old), []);
  assert.match(JSON.stringify(mind.asked.at(-1).messages), /keep it/);

  mind.says({ calls: [['write_note', { path: 'Notes/Wrong.md', content: 'x\n' }]] }, { text: 'Done otherwise.' });
  await t.settled(2);
  await t.say('Write another');
  const open = page.locator('[data-state="asked"] .card');
  await open.getByText('Edit before allowing').click();
  await open.getByLabel('Path', { exact: false }).fill('Notes/Right.md');
  await open.getByRole('button', { name: 'Preview' }).click();
  await allow(page, open.getByRole('button', { name: 'Allow edited version' }).and(page.locator(':enabled')));
  await page.getByText('Done otherwise.').waitFor();
  assert.deepEqual(t.changed(old), ['Notes/Right.md']);
  quiet(page);
});

test('stopped in the middle, tried again, branched, edited, named, saved, deleted', async () => {
  const hold = gate();
  mind.says({ text: 'This answer is never finished, because somebody stops it in the middle of it.', gate: hold.wait });
  await t.begin();
  await t.say('Tell me everything');
  await page.locator('.turn .prose', { hasText: 'This answer' }).waitFor();
  await t.box().press('Escape');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('Stopped. Changes already made are kept.').waitFor();
  await page.locator('.turn .prose', { hasText: 'This answer is never' }).waitFor(); // what was said so far is still read
  await page.locator('.talk > [role=status]', { hasText: 'Stopped' }).waitFor({ state: 'attached' });
  hold.open();
  await page.reload();
  await page.locator('.turn .prose', { hasText: 'This answer is never' }).waitFor(); // and by who comes back
  mind.says({ text: 'Here it is.' });
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('Here it is.').waitFor();
  await t.settled(2);
  const first = page.url();

  mind.says({ text: 'Another answer.' });
  await page.locator('.turn').nth(1).locator('.edit').click();
  await page.getByLabel(/Edit your message/).fill('Tell me less');
  await page.getByRole('button', { name: 'Send as branch' }).click();
  await page.getByText('Another answer.').waitFor();
  assert.notEqual(page.url(), first);
  await page.getByRole('link', { name: 'Branched from another chat' }).waitFor();
  assert.deepEqual(await page.locator('.asked .words').allInnerTexts(), ['Tell me everything', 'Tell me less']);
  const heard = JSON.stringify(mind.asked.at(-1).messages);
  assert.ok(/Tell me everything/.test(heard) && /Tell me less/.test(heard) && !/Here it is/.test(heard), 'a branch has what was said before it, and no more');
  await t.settled(2);
  const edited = page.url();
  await page.locator('.turn').nth(1).locator('.branch').click();
  await page.waitForURL((u) => u.href !== edited && /\/chat\/chat-/.test(u.href));
  await page.locator('.turn').nth(1).waitFor();
  await page.waitForFunction(() => document.activeElement?.matches('.composer textarea')); // who branches has something to say

  await page.locator('li.current .dots').click();
  await page.getByRole('button', { name: 'Rename' }).click();
  await page.getByLabel('Chat title').fill('Less about everything');
  await page.keyboard.press('Enter');
  await page.locator('.chats .current', { hasText: 'Less about everything' }).waitFor();
  await page.getByRole('button', { name: 'Show 2 other versions' }).click();
  await page.locator('.chats li.other').nth(1).waitFor();

  await page.getByLabel('Thinking').check();
  await page.locator('.more > summary').click();
  await page.getByRole('button', { name: 'Save as note' }).click();
  await allow(page, t.approve());
  await t.card().locator('.chip.done').waitFor();
  const kept = Object.keys(w.bytes()).find((p) => p.startsWith('Chats/'));
  assert.match(w.read(kept), /Another answer\./);
  await page.goto(`${w.base}/chat?open=${encodeURIComponent(kept)}`);
  await page.waitForURL(/\/chat\/chat-/);
  await page.getByText('Another answer.').waitFor();
  await page.getByRole('checkbox', { name: 'Thinking', checked: true }).waitFor();

  await page.getByRole('button', { name: 'Show 2 other versions' }).click();
  await page.locator('.chats li.other').nth(1).waitFor();
  const n = await page.locator('.chats li').count();
  await page.locator('li.current .dots').click();
  await page.locator('li.current .delete').click();
  await page.locator('.chats .keep').click();
  await page.locator('li.current .dots').click();
  await page.locator('li.current .delete').click();
  await page.locator('.chats .now').click();
  await page.waitForURL(/\/chat$/);
  await page.waitForFunction((n) => document.querySelectorAll('.chats li').length === n, n - 1);
  await page.getByLabel('Search chats').fill('fine');
  await page.waitForFunction(() => document.querySelectorAll('.chats li').length === 1);
  quiet(page);
});

test('a run that fails says why; a question outlives the server', async () => {
  mind.says({ status: 400, why: 'the scripted mind has a headache' });
  await t.begin();
  await t.say('Please');
  await page.locator('.trouble', { hasText: 'headache' }).waitFor();
  await accessible(page, 'a run that failed');

  // A limit that is reached is told, and gone on from when a person wants to.
  mind.says({ calls: [['read_note', { path: 'Notes/Sencha.md' }]] }, { text: 'So far.' });
  await page.evaluate(async () => {
    await fetch(`/api/v1${location.pathname.replace('/chat/', '/chats/')}/messages`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ text: 'Within one step', limits: { steps: 1 } }) });
  });
  await page.reload();
  await page.locator('.turn').nth(1).locator('.continue').waitFor();
  mind.says({ text: 'And on.' });
  await page.locator('.continue').click();
  await page.getByText('And on.').waitFor();
  await t.settled(3);
  mind.says({ status: 400, why: 'the scripted mind has a headache' });
  await t.say('Please, please');
  await page.locator('.turn').nth(3).locator('.trouble', { hasText: 'headache' }).waitFor();

  const old = w.bytes();
  mind.says({ calls: [['write_note', { path: 'Notes/Later.md', content: 'later\n' }]] }, { text: 'Later is now.' });
  await page.getByRole('button', { name: 'Try again' }).click();
  await t.card().waitFor();
  const [where, here] = [w.base, page.url()];
  const gone = new Promise((f) => w.server.once('exit', f));
  w.server.kill('SIGKILL');
  await gone;
  await w.serve(where.replace('http://', ''));
  await w.enter(page);
  page.faults = []; // the browser says that the server was away
  await page.goto(here);
  await t.card().waitFor();
  assert.deepEqual(t.changed(old), []);
  await allow(page, t.approve());
  await page.getByText('Later is now.').waitFor();
  assert.equal(w.read('Notes/Later.md'), 'later\n');
  quiet(page);
});

test('settings: what is in force and from where, set and refused', async () => {
  await page.goto(`${w.base}/settings/models`);
  await page.locator('#usual-model option[value="box/script"]').waitFor({ state: 'attached' });
  await page.locator('#usual-model').selectOption('box/script');
  await page.getByText('Saved: default model.').waitFor();
  assert.match(w.run('config'), /box\/script/);
  await page.goto(`${w.base}/settings/all`);
  await page.getByRole('heading', { name: 'Limits' }).click();
  const one = page.locator('[data-key="limits.calls"]');
  await one.getByRole('textbox').fill('many');
  await one.getByRole('button', { name: 'Save' }).click();
  await one.getByRole('alert').waitFor();
  await accessible(page, 'a setting that was refused');
  await one.getByRole('textbox').fill('250');
  await one.getByRole('button', { name: 'Save' }).click();
  await one.getByText('in the settings file').waitFor();
  await one.getByRole('button', { name: 'Reset to default' }).click();
  await one.getByText('set by default', { exact: false }).last().waitFor();
  await w.picture(page, 'settings');
  page.faults = page.faults.filter((f) => !/400/.test(f)); // the browser says that one was refused
  quiet(page);
});

test('one click undoes everything that a run did', async () => {
  const old = w.bytes();
  await t.begin();
  mind.says({ calls: [['write_note', { path: 'Notes/One.md', content: '# One\n' }]] }, { calls: [['write_note', { path: 'Notes/Two.md', content: '# Two\n' }]] }, { text: 'Both are written.' });
  await t.say('Write two notes');
  for (const name of ['One', 'Two']) {
    await allow(page, t.card().filter({ hasText: `Notes/${name}.md` }).locator('.approve:enabled'));
    await w.until(() => w.read(`Notes/${name}.md`) !== null);
  }
  await page.getByText('Both are written.').waitFor();
  assert.deepEqual(t.changed(old), ['Notes/One.md', 'Notes/Two.md']);
  await page.goto(`${w.base}/activity`);
  const run = page.locator('.run', { hasText: 'created 2 notes: Two, One' });
  await run.locator('.said', { hasText: /^\s*script\b/i }).waitFor(); // the model is named, not the run; its name comes after the list
  await run.getByRole('button', { name: 'Undo all' }).click();
  await page.locator('.toast', { hasText: 'Undone.' }).waitFor();
  assert.deepEqual(t.changed(old), [], 'to the byte, and nobody was asked');
  await w.until(async () => (await run.locator('.chip', { hasText: 'Undone' }).count()) === 2);
  assert.equal(await run.getByRole('button', { name: 'Undo' }).count(), 0, 'what is undone is not offered again');
  await run.getByRole('button', { name: 'Redo' }).last().click();
  await page.locator('.toast', { hasText: 'Redone.' }).waitFor();
  assert.deepEqual(t.changed(old), ['Notes/One.md']);
  quiet(page);
});

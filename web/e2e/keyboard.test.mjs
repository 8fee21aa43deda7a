// Every view by keys alone: reached, used, left, and the focus seen all the way.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accessible, move, quiet } from './world.mjs';
import { gate } from './mind.mjs';
import { Keys } from './keys.mjs';
import { Talker } from './talker.mjs';

let t, w, page, mind, keys;
before(async () => {
  t = await Talker.open();
  ({ w, page, mind } = t);
  keys = new Keys(page);
});
after(() => t?.close());

const button = (name, more = {}) => page.getByRole('button', { name, ...more });
const dialog = () => page.getByRole('dialog');
const closed = async (what) => {
  await dialog().waitFor({ state: 'detached' });
  await keys.here(`after ${what}`);
};

test('the shell: today, welcome, doctor, settings, help, commands, notes to open', async () => {
  await keys.walk('welcome', 60);
  for (const [way, path] of [[['g', 's'], '/settings'], [['g', 'd'], '/'], [['g', 'h'], '/activity'], [['g', 't'], '/tools'], [['g', 'c'], '/chat'], [['g', 'a'], '/approvals'], [['g', 'g'], '/graph'], [['g', 'n'], '/notes'], [['Control+Shift+f'], '/search']]) {
    await page.evaluate(() => document.activeElement.blur()); // a letter that is written is no command
    await keys.press(...way);
    await page.waitForURL(w.base + path);
    await page.locator('main h1').first().waitFor({ state: 'attached' });
    await keys.here(`after coming to ${path}`);
    await keys.walk(path, 30);
  }
  await keys.press('Control+k');
  await dialog().waitFor();
  await keys.here('commands');
  await keys.type('doctor');
  await keys.press('Enter');
  await page.waitForURL('**/doctor');
  await page.locator('main h1').waitFor();
  await closed('a command');
  await keys.walk('/doctor', 30);
  await page.evaluate(() => document.activeElement.blur());
  await keys.to(page.locator('nav a').first());
  await keys.press('?');
  await dialog().waitFor();
  await keys.press('Escape');
  await closed('help');
  assert.equal(await page.evaluate(() => document.activeElement.matches('nav a')), true, 'it goes back to where it was');
  await keys.press('Control+o');
  await page.locator('#choices [role=option]').first().waitFor();
  await keys.press('ArrowDown', 'ArrowUp', 'Escape');
  await closed('notes to open');
  await keys.on(button(/Approvals/));
  await page.locator('#tray').waitFor();
  await keys.on(page.locator('#tray').getByRole('button', { name: 'Close' }));
  await page.locator('#tray').waitFor({ state: 'detached' });
  await keys.here('after the tray');
  quiet(page);
});

test('approvals: allowed, denied, edited, place by place', async () => {
  const long = w.read('Notes/Long.md');
  const go = async (id) => {
    await move(page, `/approvals/${id}`);
    await page.locator(`[data-approval="${id}"] .approve:enabled`).waitFor();
  };
  await go(await w.ask('write_note', { path: 'Notes/K1.md', content: '1\n' }));
  await keys.to(page.locator('.card'));
  await keys.press('a');
  await page.locator('.card .chip.done').waitFor();
  await keys.here('after a yes');
  assert.equal(w.read('Notes/K1.md'), '1\n');

  await go(await w.ask('write_note', { path: 'Notes/K2.md', content: '2\n' }));
  await keys.to(page.locator('[name=word]'));
  await keys.type('not now');
  await keys.on(page.locator('.card .deny'));
  await page.locator('.card .chip.denied').waitFor();
  await keys.here('after a no');
  assert.equal(w.read('Notes/K2.md'), null);

  await go(await w.ask('write_note', { path: 'Notes/K3.md', content: '3\n' }));
  await keys.on(page.getByText('Edit before allowing'));
  await keys.to(page.getByLabel('Path', { exact: false }));
  await keys.press('Control+a');
  await keys.type('Notes/K4.md');
  await keys.on(button('Preview'));
  await page.locator('.file h3', { hasText: 'K4.md' }).waitFor();
  await page.locator('.card .approve:enabled').waitFor();
  await keys.on(button('Allow edited version'));
  await page.locator('.card .chip.done').waitFor();
  await keys.here('after an edited yes');
  assert.deepEqual([w.read('Notes/K3.md'), w.read('Notes/K4.md')], [null, '3\n']);

  await go(await w.ask('write_note', { path: 'Notes/Long.md', mode: 'overwrite', content: long.replace('Line 3 ', 'THREE ').replace('Line 30 ', 'THIRTY ') }));
  await keys.to(page.getByLabel('Change 2 of 2'));
  await keys.press('Space');
  await keys.on(page.locator('.card .approve'));
  await page.locator('.card .chip.done').waitFor();
  assert.equal(w.read('Notes/Long.md'), long.replace('Line 3 ', 'THREE '));

  // In the list the next one is where a person goes on.
  const two = [await w.ask('write_note', { path: 'Notes/K5.md', content: '5\n' }), await w.ask('write_note', { path: 'Notes/K6.md', content: '6\n' })];
  await move(page, '/approvals');
  await page.locator(`[data-approval="${two[1]}"] .approve:enabled`).waitFor();
  await keys.on(page.locator(`[data-approval="${two[0]}"] .deny`));
  await page.locator(`[data-approval="${two[0]}"]`).waitFor({ state: 'detached' });
  await keys.here('after one of several');
  await keys.on(page.locator(`[data-approval="${two[1]}"] .deny`));
  await page.locator('.card').waitFor({ state: 'detached' });
  await keys.here('after the last');
  quiet(page);
});

test('chat: asked, stopped, its places opened, a question in it answered', async () => {
  const hold = gate();
  mind.says({ text: 'An answer that is stopped in the middle of its words.', gate: hold.wait });
  await t.begin();
  await keys.to(t.box());
  await keys.type('Tell me');
  await keys.press('Enter');
  await page.locator('.turn .prose', { hasText: 'An answer' }).waitFor();
  await keys.here('after asking');
  await keys.on(button('Stop'));
  await page.getByText('Stopped. Changes already made are kept.').waitFor();
  hold.open();
  await keys.here('after stopping');

  mind.says({ calls: [['read_note', { path: 'Notes/Sencha.md' }]] }, { text: 'It says [[Notes/Sencha#How I make it]].' });
  await keys.to(t.box());
  await keys.type('And Sencha?');
  await keys.press('Enter');
  await t.settled(2);
  mind.says({ calls: [['write_note', { path: 'Notes/K7.md', content: '7\n' }]] }, { text: 'It is there.' });
  await keys.to(t.box());
  await keys.type('Write it');
  await keys.press('Enter');
  await t.approve().waitFor();
  await keys.on(t.approve(), { key: 'Shift+Tab' });
  await page.getByText('It is there.').waitFor();
  await t.settled(3);
  await keys.here('after a yes in the chat');
  assert.equal(w.read('Notes/K7.md'), '7\n');
  await keys.on(page.locator('.turn').nth(1).locator('.cite').first(), { key: 'Shift+Tab' });
  await page.waitForURL(/\/notes\/Notes\/Sencha/);
  await page.locator('.prose h1').waitFor();
  await keys.here('after opening a place');
  quiet(page);
});

test('notes: found in the tree, written, its properties, its history, its name', async () => {
  await move(page, '/notes');
  await page.locator('[role=treeitem]').first().waitFor();
  await keys.to(page.getByRole('tree', { name: 'Notes' }));
  await keys.press('End');
  for (let i = 0; i < 60 && !/Pu'er/.test((await page.locator('.row-of.active').innerText())); i++) await keys.press('ArrowUp');
  await keys.here('the tree');
  await keys.press('Enter');
  await page.waitForURL('**/notes/Notes/Puer.md');
  await page.locator('.prose h1').waitFor();
  await keys.here('after opening a note');

  await keys.press('Control+e');
  await page.locator('.cm-content').waitFor();
  await page.waitForFunction(() => document.activeElement.matches('.cm-content'));
  await keys.press('Control+End');
  await keys.type('By keys.');
  await keys.press('Control+s');
  await page.locator('.state', { hasText: /^Saved/ }).waitFor();
  assert.match(w.read('Notes/Puer.md'), /By keys\.\n?$/);
  // Tab writes; after Escape it leaves, as the help says.
  await keys.press('Escape', 'Tab');
  assert.equal(await page.evaluate(() => !!document.activeElement.closest('.cm-editor')), false, 'the editor lets go');
  await keys.here('after the editor');
  await keys.press('Control+e');
  await page.locator('.prose h1').waitFor();
  await keys.press('Control+e');
  await page.waitForFunction(() => document.activeElement.matches('.cm-content'));
  await keys.press('Control+e');
  await page.locator('.prose h1').waitFor();
  await keys.here('after writing');

  await keys.to(page.getByLabel('New property name'));
  await keys.type('rating');
  await keys.press('Tab');
  await keys.type('4');
  await keys.press('Enter');
  await page.getByLabel('rating', { exact: true }).waitFor();
  await w.until(() => /rating: 4/.test(w.read('Notes/Puer.md')));
  await keys.here('after a property');

  await keys.on(page.locator('.side summary', { hasText: 'History' }));
  await keys.on(page.locator('.history button').first());
  await dialog().locator('.line.added').first().waitFor();
  await keys.press('Escape');
  await closed('the history');

  await keys.on(page.locator('.more summary'), { key: 'Shift+Tab' });
  await keys.on(button('Rename or move'));
  await dialog().waitFor();
  await keys.here('rename');
  await keys.press('Escape');
  await closed('rename');
  await keys.press('Control+n');
  await dialog().waitFor();
  await keys.press('Escape');
  await closed('a new note');
  quiet(page);
});

test('search, graph, activity, tools: from the question to the result', async () => {
  await keys.press('Control+Shift+f');
  await page.waitForURL('**/search*');
  await keys.to(page.getByLabel('Search notes'));
  await keys.type('bamboo');
  await keys.press('Enter');
  await page.locator('.items li a').first().waitFor();
  await keys.on(page.locator('.items li a').first());
  await page.waitForURL('**/notes/**');
  await page.locator('.prose h1').waitFor();
  await keys.here('after a result');

  await keys.press('g', 'g');
  await page.waitForURL('**/graph');
  await keys.on(button('Show all'));
  await page.getByRole('status').getByText(/^\d+ notes, \d{3} relationships$/).waitFor(); // a list that comes later has other rows
  await keys.on(page.locator('.edge button').first());
  await page.locator('.facts').waitFor();
  await keys.here('a node of the graph');
  assert.ok(await page.evaluate(() => !!document.activeElement.closest('.facts')), 'it goes to what is told about the node');
  await keys.press('Escape');
  await page.locator('.facts').waitFor({ state: 'detached' });
  await keys.here('after the facts of a node');
  assert.ok(await page.evaluate(() => !!document.activeElement.closest('.edge')), 'it goes back to where it was chosen');

  await page.goto(`${w.base}/activity?path=${encodeURIComponent('Notes/Puer.md')}`);
  await keys.on(page.locator('.calls a[href*="/activity/op-"]').first());
  await page.locator('[data-operation] .diff').first().waitFor();
  await page.waitForFunction(() => document.activeElement.matches('[data-operation]'));
  await keys.here('an operation that was opened');
  await keys.on(page.locator('button.undo'));
  await page.locator('button.redo').waitFor();
  await keys.here('after taking it back');

  await move(page, '/tools/edit_note');
  await page.locator('.form input').first().waitFor();
  for (const [name, value] of [['path', 'Notes/Oolong.md'], ['search', 'Oolong'], ['replace', 'Wulong']]) {
    await keys.to(page.locator(`#tool-${name}`));
    await keys.type(value);
  }
  const old = w.bytes();
  await keys.on(button('Preview'));
  await page.getByText('Preview only').waitFor();
  await page.locator('[role=status] .diff, [role=status] .panel').first().waitFor();
  await keys.here('after a try');
  assert.deepEqual(t.changed(old), []);
  page.faults = page.faults.filter((f) => !/40\d/.test(f));
  quiet(page);
});

test('twice as large, and without motion, nothing is lost at the side', async () => {
  const p = await w.page({ viewport: { width: 720, height: 450 }, reducedMotion: 'reduce' });
  await p.goto(w.base);
  const k = new Keys(p);
  for (const path of ['/', '/approvals', '/chat', '/notes', '/notes/Notes/Sencha.md', '/search?q=tea', '/graph?all=1', '/activity', '/tools', '/tools/edit_note', '/settings', '/onboarding', '/doctor']) {
    await p.evaluate((to) => (history.pushState(null, '', to), dispatchEvent(new PopStateEvent('popstate'))), path);
    await p.locator('main h1').first().waitFor({ state: 'attached' });
    await k.walk(`${path} at 200 %`, 12);
    assert.ok((await p.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)) <= 0, `${path} is too wide`);
    assert.deepEqual(await p.evaluate(() => document.getAnimations().filter((a) => a.playState === 'running' && Number(a.effect?.getComputedTiming().duration) > 20).map((a) => a.effect.target?.className)), [], `${path} moves`);
  }
  await accessible(p, 'at 200 %', ['target-size', 'scrollable-region-focusable']);
  quiet(p);
  await p.context().close();
});

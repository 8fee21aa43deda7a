// The page in a real Firefox: signed in, read, edited, saved, found, approved, drawn.
// make firefox runs it; make test does not, because it needs a second browser.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Firefox } from './marionette.mjs';
import { World } from './world.mjs';

let w, f;
before(async () => {
  w = await World.open();
  f = await Firefox.open();
});
after(async () => {
  await f?.close();
  await w?.close();
});

const look = async (name) => process.env.PICTURES && (await f.picture(join(process.env.PICTURES, `firefox-${name}.png`)));

test('sign in', async () => {
  await f.goto(w.login);
  await f.find('h1', 'Today');
  assert.equal(await f.run(() => location.pathname), '/');
  await look('today');
});

test('read, edit and save a note', async () => {
  await f.goto(`${w.base}/notes/Notes/Sencha.md`);
  await f.run(() => localStorage.setItem('lore.autosave', 'off'));
  await f.goto(`${w.base}/notes/Notes/Bamboo%20whisk.md`);
  await f.find('.prose h1', 'Bamboo whisk');
  await look('note');
  await f.press('button', 'Edit');
  await f.find('.cm-content');
  await f.type('.cm-content', '\uE009\uE010'); // Control+End
  await f.type('.cm-content', ' Written in Firefox.');
  await f.press('button', 'Save');
  await f.until(() => /^Saved/.test(document.querySelector('.state')?.textContent ?? ''));
  assert.match(w.read('Notes/Bamboo whisk.md'), /Written in Firefox\.\s*$/);
});

test('search', async () => {
  await f.goto(`${w.base}/search`);
  await f.type('input[type=search]', 'gyokuro');
  await f.find('main li a', 'Gyokuro');
  await look('search');
});

test('approve a change', async () => {
  const id = await w.ask('edit_note', { path: 'Notes/Sencha.md', search: 'The everyday tea of Japan.', replace: 'The everyday green tea of Japan.' });
  await f.goto(`${w.base}/approvals/${id}`);
  await f.press('button.approve');
  await w.until(() => /everyday green tea/.test(w.read('Notes/Sencha.md')));
});

test('the graph, Today and every other view have something to see', async () => {
  await f.goto(`${w.base}/graph?all=1`);
  // Without a graphics card and its libraries, Firefox has no WebGL: then the page says so, and the list is there.
  const drawn = await f.until(() => (/^46 /.test(document.querySelector('.canvas')?.dataset.drawn ?? '') ? 'drawn' : /WebGL is turned off/.test(document.querySelector('.picture')?.textContent ?? '') ? 'told' : ''));
  console.log(`the graph is ${drawn}`);
  await f.find('.edge', 'contradicts');
  await look('graph');
  for (const [path, sign] of [['/', '[aria-labelledby=written] li'], ['/chat', 'textarea, [contenteditable]'], ['/activity', '.calls li'], ['/tools/edit_note', '.form input'], ['/settings', 'dl.pairs'], ['/doctor', 'main h1']]) {
    await f.goto(w.base + path);
    await f.find(sign);
    const over = await f.run(() => [document.documentElement.scrollHeight - innerHeight, document.documentElement.scrollWidth - innerWidth]);
    assert.ok(over[0] <= 0 && over[1] <= 0, `${path}: ${over}`);
    await look(path.replaceAll('/', '_'));
  }
});

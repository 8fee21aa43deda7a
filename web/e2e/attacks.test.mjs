// Those who mean harm write notes, names, tags, answers and results. Wherever the
// page draws them, they are text; and no trick makes a person's yes out of theirs.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { allow, move, quiet } from './world.mjs';
import { gate } from './mind.mjs';
import { Talker } from './talker.mjs';
import { attachments, harmless, lay, names, tag, text, word } from './evil.mjs';

let t, w, page, mind;
before(async () => {
  t = await Talker.open(lay);
  ({ w, page, mind } = t);
});
after(() => t?.close());

const address = (path) => '/notes/' + path.split('/').map(encodeURIComponent).join('/');
/** open shows a place and waits for a sign of it. */
async function open(path, sign) {
  await move(page, path);
  await page.locator(sign).first().waitFor();
}
/** hoverAll moves the pointer over what may answer to it. */
async function hoverAll(selector) {
  const all = page.locator(selector);
  for (let i = 0; i < Math.min(4, await all.count()); i++) await all.nth(i).hover({ force: true, timeout: 5000 }).catch(() => {});
}
/** unfold opens all that is folded in a part of the page. */
const unfold = (part) => page.evaluate((p) => document.querySelectorAll(`${p} details`).forEach((d) => (d.open = true)), part);

test('notes: read, written, listed, linked, with their properties', async () => {
  await open(address('Evil/Evil.md'), '.prose .wiki');
  await page.locator('.property').nth(3).waitFor();
  await hoverAll('.prose a');
  await hoverAll('.prose .wiki');
  await harmless(page, 'reader');
  assert.match(await page.locator('.prose').innerText(), /<script>window\.pwned=1<\/script>/, 'it is there to be read');
  await w.picture(page, 'evil-reader');
  await unfold('.side');
  await harmless(page, 'links and history');
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.locator('.cm-wiki').first().waitFor();
  await hoverAll('.cm-wiki');
  for (const key of ['Control+End', 'PageUp', 'PageUp', 'Control+Home']) {
    await page.keyboard.press(key);
    await harmless(page, 'editor ' + key);
  }
  for (const n of names) {
    await open(address(`Evil/${n}.md`), '.prose h1');
    await hoverAll('[role=treeitem]');
    await harmless(page, n);
  }
  await open('/notes', '[role=treeitem]');
  const tree = page.getByRole('tree', { name: 'Notes' });
  await tree.focus();
  await page.getByLabel('Filter notes').fill('pwned');
  await page.locator('a.note', { hasText: 'onerror' }).first().waitFor();
  await hoverAll('a.note');
  await harmless(page, 'tree');
  await open(address('Notes/Sencha.md'), '.prose h1');
  await page.locator('.side a', { hasText: 'onerror' }).first().waitFor();
  await harmless(page, 'backlinks');
});

test('search, graph, palette, commands, today and what is wrong', async () => {
  for (const q of ['zebra', 'onerror', `tag:${tag}`, word]) {
    await open('/search?q=' + encodeURIComponent(q), 'main h1');
    if (q === 'zebra') await page.locator('mark').first().waitFor();
    await harmless(page, 'search ' + q);
  }
  await open('/graph?all=1', '.edge');
  await page.locator('.canvas[data-drawn]:not([data-drawn=""])').waitFor({ state: 'attached' });
  await harmless(page, 'graph');
  await page.getByLabel('Filter graph').fill('onerror');
  await page.locator('.edge button', { hasText: 'onerror' }).first().click();
  await page.locator('.facts').waitFor();
  await harmless(page, 'facts of a node');
  await w.picture(page, 'evil-graph');
  await page.getByRole('button', { name: 'Notes', exact: true }).click();
  await page.locator('.node').first().waitFor();
  await harmless(page, 'notes of the graph');
  const at = await page.locator('.canvas').boundingBox();
  for (let i = 1; i < 6; i++) await page.mouse.move(at.x + (at.width * i) / 6, at.y + at.height / 2);
  await harmless(page, 'labels of the graph');
  await page.keyboard.press('Control+o');
  await page.getByRole('dialog').getByRole('combobox').fill('onerror');
  await page.locator('#choices [role=option]').first().waitFor();
  await harmless(page, 'palette');
  await page.keyboard.press('Escape');
  for (const path of ['/', '/doctor', '/settings', '/onboarding']) {
    await open(path, 'main h1');
    await harmless(page, path);
  }
});

test('questions, what was done, and messages about it', async () => {
  const path = `Evil/New ${names[3]}.md`;
  const id = await w.ask('write_note', { path, content: `# ${word}\n\n${text}` });
  await w.ask('rename_note', { path: 'Evil/Node.md', new_path: `Evil/${names[3]} again.md` });
  await open('/approvals', '.card .approve:enabled');
  await unfold('.card');
  await harmless(page, 'questions');
  await page.getByRole('button', { name: /Approvals/ }).click();
  await page.locator('#tray li').first().waitFor();
  await harmless(page, 'tray');
  await page.locator('#tray').getByRole('button', { name: 'Close' }).click();
  await open(`/approvals/${id}`, '.card .approve:enabled');
  // What the card says comes from the server; what the caller says is a quote.
  assert.match(await page.locator('.card .chip').first().innerText(), /^(Create|Write)$/);
  assert.equal(await page.locator('.card .approve').count(), 1, 'nobody else draws a yes');
  await unfold('.card');
  await harmless(page, 'a question that is edited');
  await page.locator('[name=word]').fill(word);
  await allow(page);
  await page.locator('.card .chip.done').waitFor();
  await harmless(page, 'an answered question');
  assert.match(w.read(path), /window\.pwned/);
  await page.getByRole('link', { name: 'View in activity' }).click();
  await page.locator('[data-operation] .diff').first().waitFor();
  await page.locator('.calls li').first().waitFor();
  await harmless(page, 'activity');
  await w.picture(page, 'evil-activity');
  // A message that names a file: it cannot be taken back, for somebody wrote meanwhile.
  const { writeFileSync } = await import('node:fs');
  const undo = page.locator('button.undo');
  await undo.waitFor();
  const op = new URL(page.url()).pathname.split('/').at(-1);
  await page.route(new RegExp(`/operations/${op}/undo`), (r) => (writeFileSync(`${w.vault}/${path}`, `# ${word}\n`), r.continue()));
  await undo.click();
  await page.locator('.toast, .card .approve').first().waitFor();
  await harmless(page, 'a message', /status of 409/); // the browser says that it was refused
  await open(address(path), '.prose h1');
  await page.locator('.side summary', { hasText: 'History' }).click();
  await page.locator('.history button').first().click();
  await page.getByRole('dialog').locator('.diff').first().waitFor();
  await harmless(page, 'history');
  await page.keyboard.press('Escape');
});

test('answers, thoughts, calls and their results, names of conversations', async () => {
  const hold = gate();
  mind.title = word;
  mind.says(
    { thought: text, text: word, calls: [['read_note', { path: 'Evil/Evil.md' }], ['search_notes', { query: 'zebra' }], ['read_note', { path: `Evil/${word}.md` }], [word, { a: word }]] },
    { text: `${text}\n\nSee [[Evil/Evil#${word}]] and “${word}”.\n\n> ${word}\n\nThe end.`, gate: hold.wait },
  );
  await t.begin();
  await t.say(text);
  await page.locator('.turn .prose .wiki, .turn .prose .cite').first().waitFor();
  await harmless(page, 'half an answer');
  hold.open();
  await page.getByText('The end.').last().waitFor();
  await t.settled(1);
  await unfold('.talk');
  await page.locator('.call .inside').nth(2).waitFor();
  await hoverAll('.prose a, .cite');
  await harmless(page, 'an answer');
  assert.equal(await page.locator('.talk .card, .talk .approve').count(), 0, 'it draws no question');
  await page.locator('.chats .current', { hasText: 'onerror' }).waitFor();
  await harmless(page, 'names of conversations');
  await w.picture(page, 'evil-answer');
  await t.box().fill('See [[onerror');
  await page.locator('li[role=option]').first().waitFor();
  await harmless(page, 'notes to link to');
  await t.box().fill('');
  mind.says({ status: 400, why: word });
  await t.say('Fail');
  await page.locator('.trouble').first().waitFor();
  await harmless(page, 'a failure of the mind');
});

test('every tool that reads, with its answer drawn by shape', async () => {
  for (const [tool, fields] of [['read_note', { path: 'Evil/Evil.md' }], ['search_notes', { query: 'zebra' }], ['list_tags', {}], ['get_note_metadata', { path: 'Evil/Evil.md' }], ['list_backlinks', { path: 'Notes/Sencha.md' }], ['list_notes', {}], ['read_note', { path: `Evil/${word}` }]]) {
    await open(`/tools/${tool}`, '.form input, form button[type=submit]');
    for (const [k, v] of Object.entries(fields)) await page.locator(`#tool-${k}`).fill(v);
    await page.locator('form button[type=submit]').click();
    await page.locator('[role=status] .panel, .trouble, .field.bad').first().waitFor();
    await harmless(page, `${tool} ${JSON.stringify(fields)}`, /status of 40[04]/); // the browser says that one was refused
  }
  await open('/tools/edit_note', '.form input');
  await page.locator('#tool-path').fill('Evil/Evil.md');
  await page.locator('#tool-search').fill('Zebra');
  await page.locator('#tool-replace').fill(word);
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.locator('[role=status] .diff').waitFor();
  await harmless(page, 'a try');
});

test('addresses are echoed as text', async () => {
  for (const path of [address(`Evil/${word}.md`), `/tools/${encodeURIComponent(word)}`, `/activity/${encodeURIComponent(word)}`, `/approvals/${encodeURIComponent(word)}`, `/chat/${encodeURIComponent(word)}`, `/graph/${encodeURIComponent(word)}`, `/${encodeURIComponent(word)}`, `/chat?q=${encodeURIComponent(word)}`, `/activity?path=${encodeURIComponent(word)}&tool=${encodeURIComponent(word)}`]) {
    await page.goto(w.base + path);
    await page.waitForFunction(() => /pwned|Page not found|not found|No tool named/i.test(document.body.innerText) || document.querySelector('.trouble, textarea, .calls, .quiet-note'));
    await harmless(page, path, /status of 40[04]/); // the browser says that there is no such thing
  }
  const out = await w.browser.newContext();
  const stranger = await out.newPage();
  for (const path of [`/${encodeURIComponent(word)}`, `/notes/${encodeURIComponent(word)}?${encodeURIComponent(word)}`, `/login?token=${encodeURIComponent(word)}`]) {
    await stranger.goto(w.base + path);
    assert.equal(await stranger.evaluate(() => 'pwned' in window || document.querySelectorAll('script:not([src]), [onerror], img[src=x]').length > 0), false, path);
  }
  await out.close();
});

test('files of the vault, opened by their address, do nothing', async () => {
  const tab = await w.page();
  for (const [name, content] of Object.entries(attachments)) {
    const at = w.file(`Evil/${name}`);
    const res = await tab.request.get(at);
    const h = res.headers();
    assert.match(h['x-content-type-options'] ?? '', /nosniff/, name);
    assert.match(h['content-security-policy'] ?? '', /sandbox(;|$)/, name);
    assert.match(h['content-security-policy'] ?? '', /frame-ancestors 'none'/, name);
    // What a browser would run is handed out as a download; a picture may be looked at, alone and locked in.
    if (/html|script|xml/.test(h['content-type'] ?? '')) assert.match(name.endsWith('.svg') ? 'attachment' : (h['content-disposition'] ?? ''), /^attachment/, name);
    assert.equal(res.status(), 200, name);
    assert.equal(await res.text(), content, name);
    await tab.goto(at).catch((e) => assert.match(String(e), /Download is starting|ERR_ABORTED/, name));
    assert.equal(await tab.evaluate(() => 'pwned' in window).catch(() => false), false, name);
  }
  tab.faults = tab.faults.filter((f) => !/policy: /.test(f) || /script/.test(f)); // a picture may ask for what it does not get
  assert.deepEqual(tab.faults.filter((f) => /reached|dialog/.test(f)), []);
  await tab.context().close();
});

test('nobody puts the page into a frame', async () => {
  const trap = createServer((_, res) => res.setHeader('Content-Type', 'text/html').end(`<iframe src="${w.base}/approvals"></iframe><iframe src="${w.base}/login"></iframe><iframe src="${w.file('Evil/evil.html')}"></iframe>`));
  await new Promise((f) => trap.listen(0, '127.0.0.1', f));
  const context = await w.context();
  const tab = await context.newPage();
  const refused = [];
  tab.on('console', (m) => refused.push(m.text()));
  await tab.goto(`http://127.0.0.1:${trap.address().port}/`);
  await w.until(() => refused.filter((m) => /frame-ancestors|Refused to (display|frame)|Framing/.test(m)).length >= 3);
  for (const f of tab.frames().slice(1)) assert.equal((await f.content()).includes('<main') || (await f.content()).includes('Hello'), false);
  await context.close();
  await new Promise((f) => trap.close(f));
});

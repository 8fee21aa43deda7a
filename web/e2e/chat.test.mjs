// Talking in a browser: without a model, with one that follows a script, and with
// one that means harm. What is on disk afterwards is what a person allowed.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { World, accessible, quiet } from './world.mjs';
import { Mind, gate } from './mind.mjs';

let w, page, mind;
before(async () => {
  [w, mind] = await Promise.all([World.open(), Mind.open()]);
  for (const [k, v] of [['kind', 'openai'], ['base_url', mind.base], ['local', 'yes']]) w.run('config', 'set', `providers.box.${k}`, v);
  page = await w.page();
  page.setDefaultTimeout(10_000);
  await w.enter(page);
});
after(async () => {
  await page?.context().close();
  await mind?.close();
  await w?.close();
});

const box = () => page.getByRole('combobox', { name: 'Ask or tell' });
const card = () => page.locator('.talk .card');
const approve = () => page.locator('.talk .card .approve:enabled');
const settledTurn = (n) => page.locator('.turn').nth(n - 1).locator('.branch').waitFor();
const line = (tool, state) => page.locator(`[data-call="${tool}"]${state ? `[data-state="${state}"]` : ''}`).last();

/** changed lists the files that differ. */
function changed(before) {
  const now = w.bytes();
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].filter((p) => before[p] !== now[p]).sort();
}
/** begin opens a new conversation with the scripted mind. */
async function begin() {
  await page.goto(`${w.base}/chat`);
  await page.getByLabel('Model', { exact: true }).locator('option[value="box/script"]').waitFor({ state: 'attached' });
  await page.getByLabel('Model', { exact: true }).selectOption('box/script');
}
async function say(text) {
  await box().fill(text);
  await box().press('Enter');
}

test('the first minute: what is here, who answers, and a question without a model', async () => {
  await page.getByRole('heading', { name: 'Who answers' }).waitFor();
  await page.getByText(/47 notes|48 notes/).waitFor();
  await page.getByText('and 183 links').waitFor();
  assert.equal(await page.getByRole('heading', { name: 'Today' }).count(), 1, 'nobody is locked in');
  await page.locator('#welcome-model option[value="box/script"]').waitFor({ state: 'attached' });
  await page.getByText('1 model found on this machine').waitFor();
  await accessible(page, 'the first minute');
  await w.picture(page, 'chat-welcome');
  const old = w.bytes();
  await page.getByLabel('Your first question').fill('How hot should the water be for sencha?');
  await page.getByRole('button', { name: 'Ask', exact: true }).click();
  await page.waitForURL(/\/chat\/chat-/);
  await settledTurn(1);
  await page.locator('.prose blockquote', { hasText: 'heat:: 70 °C' }).waitFor();
  assert.match(await page.locator('.turn').innerText(), /Used 5 notes\. No model: nothing was sent anywhere\./);
  await page.locator('.chats .current', { hasText: 'How hot should the water' }).waitFor();
  await line('search_notes', 'done').locator('summary').click();
  await line('search_notes').locator('.items li').first().waitFor();
  await accessible(page, 'quoted passages');
  await w.picture(page, 'chat-quoted');
  // A place leads to the note, at its heading.
  await page.locator('.sources .cite', { hasText: 'Sencha› How I make it' }).click();
  await page.waitForURL(`**/notes/Notes/Sencha.md%23How%20I%20make%20it`);
  await page.locator('.prose h2', { hasText: 'How I make it' }).waitFor();
  await page.goBack();
  await page.locator('.prose .cite').first().waitFor();
  // Tools are named by a slash.
  await box().fill('/vault_h');
  await page.getByRole('option', { name: /\/vault_health/ }).waitFor();
  await page.keyboard.press('Enter');
  assert.equal(await box().inputValue(), '/vault_health ');
  await page.keyboard.press('Enter');
  await settledTurn(2);
  await line('vault_health', 'done').waitFor();
  assert.deepEqual(changed(old), []);
  await page.goto(w.base + '/');
  await page.getByRole('heading', { name: 'Done last' }).waitFor();
  assert.equal(await page.getByRole('heading', { name: 'Who answers' }).count(), 0, 'who talked once is not welcomed again');
  quiet(page);
});

test('an answer while it is given, its thoughts, calls, places and price', async () => {
  const hold = gate();
  mind.says(
    { thought: 'Look at the note first.', calls: [['read_note', { path: 'Notes/Sencha.md' }]] },
    { text: 'Sencha wants **70 °C**, says [[Notes/Sencha#How I make it]].\n\n- one\n- two\n\nAnd [[Notes/Nowhere]] says \u201cwater that boils for an hour\u201d.\n\n> Words that stand nowhere at all in any note.\n\nThat is all.', gate: hold.wait },
  );
  await begin();
  await page.getByRole('button', { name: /What do my notes say about/ }).waitFor();
  await w.picture(page, 'chat-empty');
  await accessible(page, 'an empty conversation');
  await say('How hot?');
  await page.locator('.turn .prose strong', { hasText: '70 °C' }).waitFor();
  await page.getByRole('button', { name: 'Stop' }).waitFor();
  // The page is loaded again in the middle: the beginning is still there, once.
  await page.reload();
  await page.locator('.turn .prose strong', { hasText: '70 °C' }).waitFor();
  await page.locator('.at-work').waitFor();
  await w.picture(page, 'chat-streams');
  hold.open();
  await settledTurn(1);
  const turn = page.locator('.turn');
  assert.equal((await turn.innerText()).match(/Sencha wants/g).length, 1);
  assert.match(await turn.innerText(), /Used 1 note, sent to box\/script \(on this machine\)/);
  assert.deepEqual(await page.locator('.sources li').allInnerTexts(), ['[1]\nSencha\n› How I make it', '[2]\nNowhere\nnot read for this answer']);
  assert.equal(await page.locator('.prose .cite.doubtful', { hasText: '[2] Nowhere ?' }).count(), 1);
  assert.equal(await page.locator('.prose blockquote.unproved').count(), 1);
  assert.match(await page.locator('.loose').innerText(), /water that boils for an hour/);
  await page.locator('.thought summary').click();
  await page.getByText('Look at the note first.').waitFor();
  await page.locator('.meter summary').click();
  assert.match(await page.locator('.meter').innerText(), /2,468 tokens.*2 of 25 steps/s);
  await page.locator('.chats .current', { hasText: 'A fine name' }).waitFor();
  await accessible(page, 'an answer');
  await w.picture(page, 'chat-answer');
  quiet(page);
});

test('a change is asked about inside the answer: allowed, denied, edited, taken back', async () => {
  const old = w.bytes();
  mind.says({ text: 'I write it.', calls: [['write_note', { path: 'Notes/From chat.md', content: '# From chat\n' }]] }, { text: 'It is written.' });
  await begin();
  await say('Write a note');
  await card().waitFor();
  assert.equal(await page.locator('dialog[open]').count(), 0);
  assert.deepEqual(changed(old), [], 'asking changes nothing');
  await accessible(page, 'a question in the chat');
  await w.picture(page, 'chat-question');
  // Esc does nothing, and the question is still there after the page was loaded again.
  await page.keyboard.press('Escape');
  await page.reload();
  await card().waitFor();
  assert.deepEqual(changed(old), []);
  await approve().click();
  await page.getByText('It is written.').waitFor();
  await settledTurn(1);
  assert.deepEqual(changed(old), ['Notes/From chat.md']);
  assert.equal(w.read('Notes/From chat.md'), '# From chat\n');
  await line('write_note', 'done').waitFor();
  await page.locator('.call .undo').click();
  await page.locator('.toast, .talk .card .approve:enabled').first().waitFor();
  if (await card().count()) await approve().click();
  await page.waitForFunction(() => document.querySelector('.toast, .talk .card .chip.done'));
  assert.deepEqual(changed(old), [], 'taken back to the byte');

  mind.says({ calls: [['delete_note', { path: 'Notes/Matcha.md' }]] }, { text: 'Then it stays.' });
  await say('Delete Matcha');
  await card().last().locator('[name=word]').fill('keep it');
  await card().last().locator('.deny').click();
  await page.getByText('Then it stays.').waitFor();
  await line('delete_note', 'denied').getByText('not made: you said no').waitFor();
  assert.deepEqual(changed(old), []);
  assert.match(JSON.stringify(mind.asked.at(-1).messages), /keep it/);

  mind.says({ calls: [['write_note', { path: 'Notes/Wrong.md', content: 'x\n' }]] }, { text: 'Done otherwise.' });
  await settledTurn(2);
  await say('Write another');
  const open = page.locator('[data-state="asked"] .card');
  await open.getByText('Change it before it is done').click();
  await open.getByLabel('Path', { exact: false }).fill('Notes/Right.md');
  await open.getByRole('button', { name: 'Show what this comes to' }).click();
  await open.getByRole('button', { name: 'Do it as edited' }).and(page.locator(':enabled')).click();
  await page.getByText('Done otherwise.').waitFor();
  assert.deepEqual(changed(old), ['Notes/Right.md']);
  quiet(page);
});

test('stopped in the middle, tried again, branched, edited, named, saved, deleted', async () => {
  const hold = gate();
  mind.says({ text: 'This answer is never finished, because somebody stops it in the middle of it.', gate: hold.wait });
  await begin();
  await say('Tell me everything');
  await page.locator('.turn .prose', { hasText: 'This answer' }).waitFor();
  await box().press('Escape');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('Stopped. What was done stays done.').waitFor();
  hold.open();
  mind.says({ text: 'Here it is.' });
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('Here it is.').waitFor();
  await settledTurn(2);
  const first = page.url();

  mind.says({ text: 'Another answer.' });
  await page.locator('.turn').nth(1).locator('.edit').click();
  await page.getByLabel(/Say it otherwise/).fill('Tell me less');
  await page.getByRole('button', { name: 'Send as a branch' }).click();
  await page.getByText('Another answer.').waitFor();
  assert.notEqual(page.url(), first);
  await page.getByRole('link', { name: 'branch of another' }).waitFor();
  assert.deepEqual(await page.locator('.asked .words').allInnerTexts(), ['Tell me everything', 'Tell me less']);
  assert.deepEqual(mind.asked.at(-1).messages.filter((m) => m.role === 'user').map((m) => (typeof m.content === 'string' ? m.content : m.content.map((p) => p.text).join(''))).filter((t) => /Tell me|less/.test(t)).length, 2);
  await settledTurn(2);
  const edited = page.url();
  await page.locator('.turn').nth(1).locator('.branch').click();
  await page.waitForURL((u) => u.href !== edited && /\/chat\/chat-/.test(u.href));
  await page.locator('.turn').nth(1).waitFor();

  await page.locator('li.current .dots').click();
  await page.getByRole('button', { name: 'Rename' }).click();
  await page.getByLabel('Name of the conversation').fill('Less about everything');
  await page.keyboard.press('Enter');
  await page.locator('.chats .current', { hasText: 'Less about everything' }).waitFor();

  await page.locator('.more > summary').click();
  await page.getByLabel('Think before answering').check();
  await page.getByRole('button', { name: 'Save as a note' }).click();
  await approve().click();
  await card().locator('.chip.done').waitFor();
  const kept = Object.keys(w.bytes()).find((p) => p.startsWith('Chats/'));
  assert.match(w.read(kept), /Another answer\./);
  await page.goto(`${w.base}/chat?open=${encodeURIComponent(kept)}`);
  await page.waitForURL(/\/chat\/chat-/);
  await page.getByText('Another answer.').waitFor();
  await page.locator('.more > summary').click();
  assert.ok(await page.getByLabel('Think before answering').isChecked());
  await page.locator('.more > summary').click();

  const n = await page.locator('.chats li').count();
  await page.locator('li.current .dots').click();
  await page.locator('li.current .delete').click();
  await page.locator('.chats .keep').click();
  await page.locator('li.current .dots').click();
  await page.locator('li.current .delete').click();
  await page.locator('.chats .now').click();
  await page.waitForURL(/\/chat$/);
  await page.waitForFunction((n) => document.querySelectorAll('.chats li').length === n, n - 1);
  await page.getByLabel('Find a conversation').fill('sencha');
  await page.waitForFunction(() => document.querySelectorAll('.chats li').length === 1);
  quiet(page);
});

test('links are completed, drafts are kept, and a line is begun by Shift+Enter', async () => {
  await page.goto(`${w.base}/notes/Notes/Sencha.md`);
  await page.locator('.prose h2').first().waitFor();
  await page.getByRole('link', { name: 'Chat', exact: true }).click();
  await page.getByRole('button', { name: '+ About Sencha' }).click();
  await page.getByText('About: Sencha').waitFor();
  await box().pressSequentially('See [[gyok');
  await page.getByRole('option', { name: /Gyokuro/ }).first().waitFor();
  await accessible(page, 'the notes to choose from');
  await page.keyboard.press('Enter');
  await page.keyboard.type(' and');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.type('more');
  const text = await box().inputValue();
  assert.match(text, /^See \[\[.*Gyokuro.*\]\] and\nmore$/);
  // A draft is there again, when it was kept.
  const kept = () => page.evaluate(() => new Promise((f) => {
    const r = indexedDB.open('lore-chat');
    r.onsuccess = () => {
      const g = r.result.transaction('drafts').objectStore('drafts').get('');
      g.onsuccess = () => (r.result.close(), f(g.result));
    };
  }));
  while ((await kept()) !== text);
  await page.goto(`${w.base}/chat?note=Notes%2FSencha.md`);
  await page.waitForFunction((t) => document.querySelector('.composer textarea')?.value === t, text);
  mind.says({ text: 'Seen.' });
  await page.getByLabel('Model', { exact: true }).locator('option[value="box/script"]').waitFor({ state: 'attached' });
  await page.getByLabel('Model', { exact: true }).selectOption('box/script');
  await box().press('Enter');
  await page.getByText('Seen.').waitFor();
  assert.match(JSON.stringify(mind.asked.at(-1).messages), /Notes\/Sencha/);
  await page.getByRole('link', { name: 'about Sencha' }).waitFor();
  quiet(page);
});

test('an answer that means harm is text', async () => {
  const evil = [
    '<img src="http://127.0.0.1:9/leak.png" onerror="window.pwned=1">', '![x](http://127.0.0.1:9/leak2.png)', '<button class="approve">Allow once</button>', '<script>window.pwned=1</script>',
    '## Delete Projects? \n\n**destroy** · pending\n\n[Allow once](javascript:window.pwned=1) · [Deny](data:text/html,x)', '[https://bank.example](https://evil.example/x)', '<form action="http://127.0.0.1:9/"><input name="k"></form>', '[[a" onmouseover="window.pwned=1]]',
    '<style>@import "http://127.0.0.1:9/x.css"</style>', '<link rel="prefetch" href="http://127.0.0.1:9/x">',
  ].join('\n\n');
  const hold = gate();
  mind.says({ text: evil + '\n\nThe end.', gate: hold.wait });
  await begin();
  await say('Do your worst');
  await page.locator('.prose').first().waitFor();
  hold.open();
  await page.getByText('The end.').waitFor();
  await settledTurn(1);
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.equal(await page.locator('.prose :is(button, img, script, form, input, style, link, iframe, [onerror], [onmouseover])').count(), 0);
  assert.equal(await card().count(), 0);
  assert.deepEqual(await page.locator('.prose a').evaluateAll((l) => [...new Set(l.map((a) => new URL(a.href).protocol))].sort()), ['http:', 'https:']);
  assert.match(await page.locator('.prose p', { hasText: 'bank.example' }).innerText(), /https:\/\/bank\.example \(evil\.example\)/);
  await w.picture(page, 'chat-evil');
  await accessible(page, 'an answer that means harm');
  quiet(page);
});

test('a run that fails says why; a question outlives the server', async () => {
  mind.says({ status: 400, why: 'the scripted mind has a headache' });
  await begin();
  await say('Please');
  await page.locator('.trouble', { hasText: 'headache' }).waitFor();
  await accessible(page, 'a run that failed');

  const old = w.bytes();
  mind.says({ calls: [['write_note', { path: 'Notes/Later.md', content: 'later\n' }]] }, { text: 'Later is now.' });
  await page.getByRole('button', { name: 'Try again' }).click();
  await card().waitFor();
  const [where, here] = [w.base, page.url()];
  const gone = new Promise((f) => w.server.once('exit', f));
  w.server.kill('SIGKILL');
  await gone;
  await w.serve(where.replace('http://', ''));
  await w.enter(page);
  page.faults = []; // the browser says that the server was away
  await page.goto(here);
  await card().waitFor();
  assert.deepEqual(changed(old), []);
  await approve().click();
  await page.getByText('Later is now.').waitFor();
  assert.equal(w.read('Notes/Later.md'), 'later\n');
  quiet(page);
});

test('settings: what is in force and from where, set and refused', async () => {
  await page.goto(`${w.base}/settings`);
  await page.locator('#usual-model option[value="box/script"]').waitFor({ state: 'attached' });
  await page.getByText('lore key set NAME').waitFor();
  await page.locator('#usual-model').selectOption('box/script');
  await page.getByText('It answers from now on.').waitFor();
  assert.match(w.run('config'), /box\/script/);
  await page.getByRole('heading', { name: 'Limits' }).click();
  const one = page.locator('[data-key="limits.calls"]');
  await one.getByRole('textbox').fill('many');
  await one.getByRole('button', { name: 'Set' }).click();
  await one.getByRole('alert').waitFor();
  await accessible(page, 'a setting that was refused');
  await one.getByRole('textbox').fill('250');
  await one.getByRole('button', { name: 'Set' }).click();
  await one.getByText('from the settings file').waitFor();
  await one.getByRole('button', { name: 'As it comes' }).click();
  await one.getByText('as it comes', { exact: false }).last().waitFor();
  await w.picture(page, 'settings');
  page.faults = page.faults.filter((f) => !/400/.test(f)); // the browser says that one was refused
  quiet(page);
});

test('light and dark, wide and narrow', async () => {
  const chats = await page.evaluate(async () => (await (await fetch('/api/v1/chats')).json()).chats);
  const long = chats.find((c) => /How hot/.test(c.title)).id;
  const written = chats.find((c) => c.title === 'A fine name').id;
  // All rules once; then those whose answer colours and widths can change.
  const styled = ['color-contrast', 'target-size', 'scrollable-region-focusable', 'link-in-text-block', 'aria-hidden-focus'];
  for (const [colorScheme, width, rules] of [['light', 390], ['dark', 390, styled], ['dark', 1440, styled], ['light', 1440, styled]]) {
    const p = await w.page({ colorScheme, viewport: { width, height: width === 390 ? 844 : 900 }, reducedMotion: 'reduce' });
    await p.goto(w.base + '/chat');
    for (const [path, sign] of [['/chat', '.example'], [`/chat/${long}`, '.turn .branch'], [`/chat/${written}`, '.turn .branch'], ['/onboarding', '#welcome-question'], ['/settings', '[data-key="model"]']]) {
      await p.evaluate((to) => {
        history.pushState(null, '', to);
        dispatchEvent(new PopStateEvent('popstate'));
      }, path);
      await p.locator(sign).first().waitFor({ state: 'attached' });
      await w.picture(p, `look-${path.replace(/chat-.*/, path.includes(long) ? 'quoted' : 'written').replace(/\W/g, '')}-${colorScheme}-${width}`);
      await accessible(p, `${path} ${colorScheme} ${width}`, rules);
      const wide = await p.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(wide <= 0, `${path} is ${wide} px too wide`);
    }
    if (width === 390) {
      await p.getByRole('link', { name: 'Chat', exact: true }).click();
      await p.getByRole('button', { name: 'Conversations' }).click();
      await p.locator('.chats .open').first().waitFor();
      await accessible(p, `the list ${colorScheme}`, rules);
      await w.picture(p, `look-list-${colorScheme}`);
    }
    quiet(p, `${colorScheme} ${width}`);
    await p.context().close();
  }
});

// Talking in a browser: without a model, with one that follows a script, and with
// one that means harm.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accessible, coloured, move, quiet } from './world.mjs';
import { gate } from './mind.mjs';
import { Talker } from './talker.mjs';

let t, w, page, mind;
before(async () => {
  t = await Talker.open();
  ({ w, page, mind } = t);
});
after(() => t?.close());

test('the first minute: what is here, who answers, and a question without a model', async () => {
  await page.getByRole('heading', { name: 'When to ask me' }).waitFor();
  await page.getByText(/47 notes|48 notes/).waitFor();
  await page.getByText('and 183 links').waitFor();
  assert.equal(await page.getByRole('heading', { name: 'Today' }).count(), 1, 'nobody is locked in');
  await page.locator('#welcome-model option[value="box/script"]').waitFor({ state: 'attached' });
  await page.getByText('1 model found on this computer').waitFor();
  await accessible(page, 'the first minute');
  await w.picture(page, 'chat-welcome');
  const old = w.bytes();
  await page.getByLabel('Ask your first question').fill('How hot should the water be for sencha?');
  await page.getByRole('button', { name: 'Ask', exact: true }).click();
  await page.waitForURL(/\/chat\/chat-/);
  await t.settled(1);
  await page.locator('.prose blockquote', { hasText: 'heat: 70 °C' }).waitFor();
  assert.match(await page.locator('.turn').innerText(), /Used 5 notes\. No model was used; nothing left this computer\./);
  await page.locator('.chats .current', { hasText: 'How hot should the water' }).waitFor();
  await t.line('search_notes', 'done').locator('summary').click();
  await t.line('search_notes').locator('.items li').first().waitFor();
  await accessible(page, 'quoted passages');
  await w.picture(page, 'chat-quoted');
  // A place leads to the note, at its heading.
  assert.match(await page.locator('.sources .cite', { hasText: 'Sencha› How I make it' }).getAttribute('title'), /heat:: 70 °C/);
  await page.locator('.sources .cite', { hasText: 'Sencha› How I make it' }).click();
  await page.waitForURL(`**/notes/Notes/Sencha.md%23How%20I%20make%20it`);
  await page.locator('.prose h2', { hasText: 'How I make it' }).waitFor();
  await page.goBack();
  await page.locator('.prose .cite').first().waitFor();
  // Tools are named by a slash.
  await t.box().fill('/vault_h');
  await page.getByRole('option', { name: /\/vault_health/ }).waitFor();
  await page.keyboard.press('Enter');
  assert.equal(await t.box().inputValue(), '/vault_health ');
  await page.keyboard.press('Enter');
  await t.settled(2);
  await t.line('vault_health', 'done').waitFor();
  assert.deepEqual(t.changed(old), []);
  await page.goto(w.base + '/');
  await page.getByRole('heading', { name: 'Recently edited' }).waitFor();
  assert.equal(await page.getByRole('heading', { name: 'When to ask me' }).count(), 0, 'who talked once is not welcomed again');
  quiet(page);
});

test('an answer while it is given, its thoughts, calls, places and price', async () => {
  const hold = gate();
  mind.says(
    { thought: 'Look at the note first.', calls: [['read_note', { path: 'Notes/Sencha.md' }]] },
    { text: 'Sencha wants **70 °C**, says [[Notes/Sencha#How I make it]].\n\n- one\n- two\n\nAnd [[Notes/Nowhere]] says \u201cwater that boils for an hour\u201d.\n\n> Words that stand nowhere at all in any note.\n\nThat is all.', gate: hold.wait },
  );
  await t.begin();
  await page.getByRole('button', { name: /What do my notes say about/ }).waitFor();
  await w.picture(page, 'chat-empty');
  await accessible(page, 'an empty conversation');
  await t.say('How hot?');
  await page.locator('.turn .prose strong', { hasText: '70 °C' }).waitFor();
  await page.getByRole('button', { name: 'Stop' }).waitFor();
  // The page is loaded again in the middle: the beginning is still there, once.
  await page.reload();
  await page.locator('.turn .prose strong', { hasText: '70 °C' }).waitFor();
  await page.locator('.at-work').waitFor();
  await w.picture(page, 'chat-streams');
  hold.open();
  await t.settled(1);
  const turn = page.locator('.turn');
  assert.equal((await turn.innerText()).match(/Sencha wants/g).length, 1);
  assert.match(await turn.innerText(), /Used 1 note, sent to box\/script \(on this computer\)/);
  assert.deepEqual(await page.locator('.sources li').allInnerTexts(), ['[1]\nSencha\n› How I make it', '[2]\nNowhere\nNot read for this answer']);
  assert.equal(await page.locator('.prose .cite.doubtful', { hasText: '[2] Nowhere ?' }).count(), 1);
  assert.equal(await page.locator('.prose blockquote.unproved').count(), 1);
  assert.deepEqual(await page.locator('.loose li').allInnerTexts(), ['“water that boils for an hour”']);
  await page.locator('.thought summary').click();
  await page.getByText('Look at the note first.').waitFor();
  await page.locator('.meter summary').click();
  await page.locator('.meter summary', { hasText: '3,702 tokens · free' }).waitFor(); // two steps, and the name
  assert.match(await page.locator('.meter').innerText(), /2 of 25 steps/);
  await page.locator('.chats .current', { hasText: 'A fine name' }).waitFor();
  await accessible(page, 'an answer');
  await w.picture(page, 'chat-answer');
  quiet(page);
});

test('links are completed, drafts are kept, and a line is begun by Shift+Enter', async () => {
  await page.goto(`${w.base}/notes/Notes/Sencha.md`);
  await page.locator('.prose h2').first().waitFor();
  await page.getByRole('link', { name: 'Chat', exact: true }).click();
  await page.getByRole('button', { name: '+ Add Sencha' }).click();
  await page.getByText('Note: Sencha').waitFor();
  await t.box().pressSequentially('See [[gyok');
  await page.getByRole('option', { name: /Gyokuro/ }).first().waitFor();
  await accessible(page, 'the notes to choose from');
  await page.keyboard.press('Enter');
  await page.keyboard.type(' and');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.type('more');
  const text = await t.box().inputValue();
  assert.match(text, /^See \[\[.*Gyokuro.*\]\] and\nmore$/);
  // A draft is there again, when it was kept.
  const kept = () => page.evaluate(() => new Promise((f) => {
    const r = indexedDB.open('lore-chat');
    r.onsuccess = () => {
      const g = r.result.transaction('drafts').objectStore('drafts').getAll();
      g.onsuccess = () => (r.result.close(), f(g.result));
    };
  }));
  await w.until(async () => (await kept()).some((d) => d.text === text));
  await page.goto(`${w.base}/chat?note=Notes%2FSencha.md`);
  await page.waitForFunction((t) => document.querySelector('.composer textarea')?.value === t, text);
  mind.says({ text: 'Seen.' });
  await t.choose();
  await t.box().press('Enter');
  await page.getByText('Seen.').waitFor();
  assert.match(JSON.stringify(mind.asked.at(-1).messages), /Notes\/Sencha/);
  await page.getByRole('link', { name: 'Note: Sencha' }).waitFor();
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
  await t.begin();
  await t.say('Do your worst');
  await page.locator('.prose').first().waitFor();
  hold.open();
  await page.getByText('The end.').waitFor();
  await t.settled(1);
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.equal(await page.locator('.prose :is(button, img, script, form, input, style, link, iframe, [onerror], [onmouseover])').count(), 0);
  assert.equal(await t.card().count(), 0);
  assert.deepEqual(await page.locator('.prose a').evaluateAll((l) => [...new Set(l.map((a) => new URL(a.href).protocol))].sort()), ['http:', 'https:']);
  assert.match(await page.locator('.prose p', { hasText: 'bank.example' }).innerText(), /https:\/\/bank\.example \(evil\.example\)/);
  await w.picture(page, 'chat-evil');
  await accessible(page, 'an answer that means harm');
  quiet(page);
});

test('light and dark, wide and narrow', async () => {
  const chats = await page.evaluate(async () => (await (await fetch('/api/v1/chats')).json()).chats);
  const long = chats.find((c) => /How hot/.test(c.title)).id;
  const written = chats.findLast((c) => c.title === 'A fine name').id;
  // All rules once; then those whose answer colours and widths can change.
  const styled = ['color-contrast', 'target-size', 'scrollable-region-focusable', 'link-in-text-block', 'aria-hidden-focus'];
  for (const width of [390, 1440]) {
    const p = await w.page({ colorScheme: 'light', viewport: { width, height: width === 390 ? 844 : 900 }, reducedMotion: 'reduce' });
    await p.goto(w.base + '/chat');
    const look = async (what, name) => {
      for (const colorScheme of ['light', 'dark']) {
        await p.emulateMedia({ colorScheme });
        await w.picture(p, `look-${name}-${colorScheme}-${width}`);
        await accessible(p, `${what} ${colorScheme} ${width}`, colorScheme === 'dark' ? coloured : width === 390 ? undefined : styled);
      }
      const wide = await p.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(wide <= 0, `${what} is ${wide} px too wide`);
    };
    for (const [id, name] of [...(width === 390 ? [[long, 'quoted']] : []), [written, 'written']]) {
      await move(p, `/chat/${id}`);
      await p.locator('.turn .branch').first().waitFor({ state: 'attached' });
      await look(`/chat/${id}`, name);
    }
    if (width === 390) {
      await p.getByRole('link', { name: 'Chat', exact: true }).click();
      await p.getByRole('button', { name: 'Chats' }).click();
      await p.locator('.chats .open').first().waitFor();
      await look('the list', 'list');
    }
    quiet(p, `${width} wide`);
    await p.context().close();
  }
});

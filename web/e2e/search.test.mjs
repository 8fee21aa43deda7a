// Reading: what is searched is found, narrowed and explained; links show what they
// lead to; sound and film play; what was done can be looked through.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { World, accessible, quiet } from './world.mjs';

let w, page;
before(async () => {
  ({ w, page } = await World.entered());
});
after(() => w?.close());

const hits = () => page.locator('.hits > li');
const status = (re) => page.locator('.page [role=status]', { hasText: re }).waitFor();
const styled = ['color-contrast', 'target-size', 'scrollable-region-focusable', 'link-in-text-block', 'aria-hidden-focus'];

/** tone is a second of sound: a WAV file. */
function tone() {
  const rate = 8000;
  const b = Buffer.alloc(44 + rate);
  b.write('RIFF', 0);
  b.writeUInt32LE(36 + rate, 4);
  b.write('WAVEfmt ', 8);
  b.writeUInt32LE(16, 16);
  b.writeUInt16LE(1, 20);
  b.writeUInt16LE(1, 22);
  b.writeUInt32LE(rate, 24);
  b.writeUInt32LE(rate, 28);
  b.writeUInt16LE(1, 32);
  b.writeUInt16LE(8, 34);
  b.write('data', 36);
  b.writeUInt32LE(rate, 40);
  for (let i = 0; i < rate; i++) b[44 + i] = 128 + Math.round(40 * Math.sin(i / 5));
  return b;
}

test('words are found, marked, explained, and opened at their passage', async () => {
  await page.goto(`${w.base}/search`);
  await page.getByRole('heading', { name: 'Search tips' }).waitFor();
  await page.locator('.tags a').first().waitFor();
  await accessible(page, 'before anything is asked');
  await page.getByLabel('Search notes').fill('steamed leaves');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/search?q=steamed+leaves');
  await hits().first().waitFor();
  assert.match((await hits().locator('mark').allInnerTexts()).join(' '), /steamed/i);
  // Nothing is explained before somebody asks.
  const asks = [];
  page.on('request', (r) => r.method() === 'POST' && asks.push(r.postData() ?? ''));
  const first = hits().first();
  await first.locator('summary').click();
  await first.locator('.why dt', { hasText: 'Keywords' }).waitFor();
  await first.locator('.why dd', { hasText: /rank \d+ in full-text search/ }).waitFor();
  assert.equal(asks.filter((a) => a.includes('"explain":true')).length, 1);
  await hits().nth(1).locator('summary').click();
  await hits().nth(1).locator('.why dt').first().waitFor();
  assert.equal(asks.filter((a) => a.includes('"explain":true')).length, 1, 'one question explains all of them');
  await w.picture(page, 'search-explained-light-1440');
  await accessible(page, 'results');

  // Arrows go from the words through the notes and back.
  await page.getByLabel('Search notes').focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  const focused = () => page.evaluate(() => [...document.querySelectorAll('.hits a.title')].indexOf(document.activeElement));
  assert.equal(await focused(), 1);
  await page.keyboard.press('End');
  assert.equal(await focused(), (await hits().count()) - 1);
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowUp');
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('name')), 'q');
  quiet(page);
});

test('a note is opened at the passage, however long it is', async () => {
  const para = Array.from({ length: 60 }, (_, i) => `Paragraph ${i} about nothing much, to fill the page.`);
  para[45] = 'Here stands the word zanzibarite, and nowhere else.';
  writeFileSync(join(w.vault, 'Notes', 'Deep.md'), `---\nstatus: open\nkind: long\n---\n# Deep\n\n${para.map((p, i) => (i % 20 === 0 ? `## Part ${i / 20}\n\n${p}` : p)).join('\n\n')}\n`);
  await w.until(async () => (await w.call('search_notes', { query: 'zanzibarite' })).results?.length > 0);
  await page.goto(`${w.base}/search?q=zanzibarite`);
  await hits().locator('a.title', { hasText: 'Deep' }).waitFor();
  await page.getByLabel('Search notes').focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/notes\/Notes\/Deep\.md\?line=\d+/);
  const found = page.locator('.prose .found');
  await found.waitFor();
  assert.match(await found.innerText(), /zanzibarite|Part 2/);
  await page.waitForFunction(() => document.querySelector('.prose .found').getBoundingClientRect().top < innerHeight && document.querySelector('.text').scrollTop > 200);
  quiet(page);
});

test('filters stand in the address, one chip each', async () => {
  const labels = () => page.getByRole('list', { name: 'Active filters' }).locator('.chip').allInnerTexts();
  await page.goto(`${w.base}/search?q=tea`);
  await hits().first().waitFor();
  const all = await page.locator('.hits .path').allInnerTexts();
  await page.locator('.narrow summary').click();
  await page.getByLabel('Folder', { exact: true }).fill('Daily');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/search?q=tea&folder=Daily');
  await page.waitForFunction(() => [...document.querySelectorAll('.hits .path')].every((p) => p.title.startsWith('Daily/') && /^Daily( ›|$)/.test(p.textContent)));
  assert.ok(all.some((p) => !p.startsWith('Daily')));
  await page.getByLabel('Property', { exact: true }).fill('status');
  await page.getByLabel('Value', { exact: true }).fill('open');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.waitForURL('**/search?q=tea&folder=Daily&prop=status%3Aopen');
  await page.getByRole('heading', { name: /No results/ }).waitFor();
  await accessible(page, 'nothing found');
  await w.picture(page, 'search-none-light-1440');
  assert.deepEqual((await labels()).map((l) => l.replace(/\s*×[\s\S]*$/, '')), ['In Daily', 'status: open']);
  await page.getByRole('button', { name: /Remove 2 filters/ }).click();
  await page.waitForURL('**/search?q=tea');
  await hits().first().waitFor();

  // A folder that is not there is no empty one.
  await page.goto(`${w.base}/search?q=tea&folder=Dayly`);
  await page.getByRole('alert').filter({ hasText: 'Daily' }).waitFor();
  page.faults = page.faults.filter((f) => !/status of 404/.test(f)); // the browser tells of every refusal

  // Filters alone are a search, too, and each chip takes itself away.
  await page.goto(`${w.base}/search?prop=status:open&type=&after=2020-01-01`);
  await hits().locator('a.title', { hasText: 'Deep' }).waitFor();
  await page.getByRole('button', { name: /status: open/ }).click();
  await page.waitForURL('**/search?after=2020-01-01');
  await page.getByLabel('Tag', { exact: true }).isVisible().then((open) => open || page.locator('.narrow summary').click());
  const tag = await page.locator('.narrow datalist').last().locator('option').first().evaluate((o) => o.value);
  await page.getByLabel('Tag', { exact: true }).fill('#' + tag);
  await page.keyboard.press('Enter');
  await page.waitForURL(new RegExp(`tag=${encodeURIComponent(tag)}&after=2020-01-01`));
  await hits().first().waitFor();
  await accessible(page, 'filters');
  quiet(page);
});

test('a search follows what is typed, says what is only close, and is kept by a name', async () => {
  await page.goto(`${w.base}/search`);
  const field = page.getByLabel('Search notes');
  await field.pressSequentially('sench');
  await page.waitForURL('**/search?q=sench');
  await hits().first().waitFor();
  await field.pressSequentially('a and ');
  await page.waitForURL('**/search?q=sencha+and');
  assert.equal(await field.inputValue(), 'sencha and ', 'a blank that is being typed stays');
  // Half a phrase is no question yet, and no mistake.
  await field.fill('"steamed lea');
  await field.pressSequentially('v');
  assert.equal(await page.getByRole('alert').count(), 0);
  await field.fill('"first flush"');
  await page.waitForURL('**/search?q=%22first+flush%22');
  await page.goBack(); // typing leaves one entry behind, not one for each letter
  assert.ok(!page.url().includes('/search?q='));
  await page.goto(`${w.base}/search?q=sencha&folder=Notes`);
  await hits().first().waitFor();

  await page.getByRole('button', { name: 'Save search' }).click();
  assert.equal(await page.getByLabel('Search name').inputValue(), 'sencha, In Notes');
  await page.getByLabel('Search name').fill('Green');
  await page.keyboard.press('Enter');
  const kept = page.getByRole('list', { name: 'Saved searches' }).getByRole('link', { name: 'Green' });
  await kept.waitFor();
  await page.goto(`${w.base}/search`);
  await accessible(page, 'saved searches');
  await kept.click();
  await page.waitForURL('**/search?q=sencha&folder=Notes');
  await hits().first().waitFor();
  await page.getByRole('button', { name: 'Remove saved search' }).click();
  assert.equal(await kept.count(), 0);
  quiet(page);
});

test('what cannot be searched says so', async () => {
  await page.goto(`${w.base}/search?q=${encodeURIComponent('"never closed')}`);
  await page.getByRole('alert').waitFor();
  await accessible(page, 'trouble');
  page.faults = page.faults.filter((f) => !/status of 400/.test(f)); // the browser tells of every refusal
  await page.getByLabel('Search notes').fill('tea');
  await page.keyboard.press('Enter');
  await hits().first().waitFor();
  assert.equal(await page.getByRole('alert').count(), 0);
  await page.getByRole('button', { name: 'Show more' }).click();
  await page.waitForFunction(() => document.querySelectorAll('.hits > li').length > 10);
  quiet(page);
});

test('a link shows what it leads to, to a pointer and to the keyboard', async () => {
  const page = await w.page();
  await page.clock.install();
  await page.goto(`${w.base}/notes/Notes/Green%20tea.md`);
  const link = page.locator('.prose a.wiki:not(.nowhere)').first();
  await link.waitFor();
  await page.locator('.side .n').nth(2).waitFor();
  const reads = [];
  page.on('request', (r) => r.method() === 'POST' && /"limit":60/.test(r.postData() ?? '') && reads.push(r.postData()));
  const card = page.getByRole('tooltip');

  // Passing over it asks nothing; by the clock of the page, it takes no time.
  await page.clock.pauseAt(Date.now() + 3_600_000);
  await link.hover();
  await page.mouse.move(2, 2);
  await page.clock.resume();
  await link.hover();
  await card.waitFor();
  assert.equal(reads.length, 1, 'only a pointer that rests asks');
  assert.match(await card.innerText(), /\S\s+\S.*\.md\s+\S/, 'a title, where it lies, and its first lines');
  assert.equal(await link.getAttribute('aria-describedby'), await card.getAttribute('id'));
  await w.picture(page, 'preview-light-1440');
  await accessible(page, 'preview');
  // The pointer may go onto the card; it stays.
  await card.hover();
  // The clock of this page is the test's: it stays however long the pointer does.
  await page.clock.runFor(5000);
  assert.equal(await card.count(), 1);
  await page.keyboard.press('Escape');
  await card.waitFor({ state: 'detached' });
  await page.mouse.move(2, 2);

  // The keyboard: the focus stays on the link, and Escape takes the card alone.
  await page.locator('.prose').evaluate((p) => { p.tabIndex = -1; p.focus(); });
  await page.keyboard.press('Tab');
  await card.waitFor();
  assert.ok(await page.evaluate(() => document.activeElement.closest('.prose a') && document.activeElement.hasAttribute('aria-describedby')));
  await page.keyboard.press('Escape');
  await card.waitFor({ state: 'detached' });
  assert.ok(await page.evaluate(() => document.activeElement.closest('.prose a') && !document.activeElement.hasAttribute('aria-describedby')));
  await page.keyboard.press('Tab');
  await card.waitFor();

  // Backlinks have it too, with the passage that links here.
  await page.locator('.side a[href*="line="]').first().hover();
  await page.waitForFunction(() => document.querySelector('.side a[aria-describedby]'));
  await card.waitFor();
  quiet(page);
  await page.context().close();
});

test('a link that leads nowhere is not asked about', async () => {
  writeFileSync(join(w.vault, 'Notes', 'Dangling.md'), '# Dangling\n\n[[No such note]] and [[Sencha]].\n');
  await w.until(async () => (await w.call('list_forward_links', { path: 'Notes/Dangling.md' })).total === 2);
  await page.goto(`${w.base}/notes/Notes/Dangling.md`);
  await page.locator('.prose a.nowhere').hover();
  await page.getByRole('tooltip').getByText('No note with this name yet.').waitFor();
  await page.mouse.move(2, 2);
  quiet(page);
});

test('sound and film of the vault play, and papers tell their size', async () => {
  writeFileSync(join(w.vault, 'song one.wav'), tone());
  writeFileSync(join(w.vault, 'film.mp4'), Buffer.alloc(100));
  writeFileSync(join(w.vault, 'paper.pdf'), Buffer.alloc(4321, '%'));
  writeFileSync(join(w.vault, 'Notes', 'Media.md'), '# Media\n\n![[song one.wav]]\n\n![[film.mp4]]\n\n![[paper.pdf]]\n\n![far](https://example.invalid/x.mp3)\n');
  await w.until(async () => (await w.call('list_forward_links', { path: 'Notes/Media.md' })).links?.filter((l) => l.target_path).length === 3);
  const ranges = [];
  page.on('response', (r) => /song/.test(r.url()) && ranges.push([r.status(), r.headers()['content-security-policy']]));
  await page.goto(`${w.base}/notes/Notes/Media.md`);
  await page.locator('.prose audio').waitFor();
  assert.equal(await page.locator('.prose audio').evaluate((a) => new Promise((f) => (a.readyState ? f(a.duration) : ((a.onloadedmetadata = () => f(a.duration)), (a.onerror = () => f(a.error.message)))))), 1);
  assert.ok(ranges.some(([s, csp]) => (s === 206 || s === 200) && /^sandbox; default-src 'none'/.test(csp)), JSON.stringify(ranges));
  assert.equal(await page.locator('.prose audio').getAttribute('controls'), '');
  assert.equal(await page.locator('.prose video[controls]').count(), 1);
  await page.locator('.prose a.attached', { hasText: 'paper.pdf 4.3 kB' }).waitFor();
  assert.equal(await page.locator('.prose :is(audio, video)').count(), 2, 'what lies elsewhere is not fetched');
  await w.picture(page, 'media-light-1440');
  await accessible(page, 'media');
  quiet(page);
});

test('the activity tells of changes, shows reads and the log when asked, and can be narrowed', async () => {
  await w.call('read_note', { path: 'Notes/Sencha.md' });
  await page.goto(`${w.base}/activity`);
  await page.locator('.chain.good').waitFor();
  await page.locator('.calls li, .quiet-note').first().waitFor();
  // What failed is told, whoever tried: it may have been a change.
  const told = await page.locator('.run ul li:not(:has(.chip.failed))').allInnerTexts();
  assert.deepEqual(told.filter((t) => /read|listed|searched/i.test(t)), [], 'no read is shown');
  await page.getByRole('switch', { name: 'Show reads' }).check();
  await page.waitForURL('**/activity?reads=1');
  await page.locator('.run .by', { hasText: 'You' }).first().waitFor();
  await accessible(page, 'activity for people');
  await w.picture(page, 'activity-people-1440');
  await page.getByRole('switch', { name: 'Show log' }).check();
  await page.waitForURL('**/activity?reads=1&log=1');
  await page.locator('.calls li:not(:has(.chip.failed)) .who', { hasText: 'You' }).first().waitFor();
  await accessible(page, 'activity');
  const tool = (await page.locator('.calls .tool').first().innerText()).trim();
  await page.locator('.calls .tool').first().click();
  await page.waitForURL(`**/activity?tool=${tool}&reads=1&log=1`);
  await page.locator('.filters select').nth(1).selectOption('read_note');
  await page.waitForURL('**/activity?tool=read_note&reads=1&log=1');
  await page.waitForFunction(() => [...document.querySelectorAll('.calls .tool')].every((t) => t.textContent.includes('read_note')));
  await page.getByLabel('Note or folder').fill('Notes/Sencha.md');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/activity?tool=read_note&path=Notes%2FSencha.md&reads=1&log=1');
  await page.getByRole('list', { name: 'Active filters' }).getByRole('button', { name: /^read_note/ }).click();
  await page.waitForURL('**/activity?path=Notes%2FSencha.md&reads=1&log=1');
  await w.picture(page, 'activity-light-1440');

  // Paging goes by what is shown: sixty reads of a page hide nothing of a program.
  await page.goto(`${w.base}/activity?by=rest&reads=1&log=1`);
  for (let i = 0; i < 55; i++) await w.call('read_note', { path: 'Notes/Sencha.md', limit: 1 });
  await page.reload();
  await page.waitForFunction(() => document.querySelectorAll('.calls li').length === 50);
  await page.getByRole('button', { name: 'Show more' }).click();
  await page.waitForFunction(() => document.querySelectorAll('.calls li').length > 55);
  quiet(page);
});

test('a question of today is answered, and its places show their passage', async () => {
  await page.evaluate(() => localStorage.setItem('lore.welcomed', '1'));
  await page.goto(w.base + '/');
  await page.getByLabel('Ask a question or describe a task').fill('How hot should the water be for sencha?');
  await page.getByRole('button', { name: 'Ask', exact: true }).click();
  await page.waitForURL(/\/chat\/chat-/);
  const cite = page.locator('.sources .cite', { hasText: 'How I make it' }).first();
  await cite.waitFor();
  await page.locator('.answer[aria-busy=false]').waitFor();
  const passage = await cite.getAttribute('title');
  await cite.hover();
  const card = page.getByRole('tooltip');
  await card.getByText('heat:: 70 °C').waitFor();
  assert.equal(await cite.getAttribute('title'), null, 'the same is not said twice');
  await accessible(page, 'preview of a place');
  await page.keyboard.press('Escape');
  await card.waitFor({ state: 'detached' });
  assert.equal(await cite.getAttribute('title'), passage);
  quiet(page);
});

test('today is of use to who was told nothing', async (t) => {
  await w.ask('delete_note', { path: 'Notes/Puer.md' });
  for (const [colorScheme, width, rules] of [['light', 1440], ['dark', 390, styled], ['light', 768, styled]]) {
    await t.test(`${colorScheme} ${width}`, async () => {
      const p = await w.page({ colorScheme, viewport: { width, height: width === 390 ? 844 : 900 }, reducedMotion: 'reduce' });
      await p.addInitScript(() => localStorage.setItem('lore.welcomed', '1'));
      for (const [path, ready] of [['/', '[aria-labelledby=written] li'], ['/search?q=tea', '.hits li'], ['/activity', '.calls li']]) {
        await p.goto(w.base + path);
        await p.locator(ready).first().waitFor();
        if (path === '/') {
          await p.getByRole('heading', { name: 'Pending approvals' }).waitFor();
          await p.locator('section.some li a').first().waitFor();
          await p.locator('section', { hasText: 'Contradictions' }).locator('li a').first().waitFor();
        }
        await w.picture(p, `${path.replace(/\W.*$/, '').slice(1) || path.slice(1).split('?')[0] || 'today'}-${colorScheme}-${width}`);
        await accessible(p, `${path} ${colorScheme} ${width}`, rules);
        assert.ok((await p.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)) <= 0, `${path} is too wide`);
      }
      quiet(p);
      await p.context().close();
    });
  }
});

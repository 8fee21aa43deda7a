// The shell and the views: let in, looked at in both themes and three widths.
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { World, accessible, coloured, move, quiet, still } from './world.mjs';

let w;
before(async () => {
  w = await World.open();
});
after(() => w?.close());

test('who is not let in sees the login page', async () => {
  const page = await w.page();
  const res = await page.goto(w.base + '/activity');
  assert.equal(res.status(), 200); // the page holds nothing of the vault
  await page.getByRole('heading', { name: "You're signed out" }).waitFor();
  page.faults = page.faults.filter((f) => !/status of 401/.test(f)); // the browser says that it was refused
  await accessible(page, 'the login page');
  await page.context().close();
});

test('the address of lore serve lets one browser in, once', async () => {
  const page = await w.page();
  await w.enter(page);
  await page.getByRole('heading', { name: 'Today' }).waitFor();
  await page.waitForFunction(() => document.title === 'Today · vault'); // when it knows the vault
  quiet(page, 'after login');
  const other = await w.browser.newContext();
  const second = await other.newPage();
  await second.goto(w.login);
  await second.getByRole('heading', { name: "You're signed out" }).waitFor();
  assert.equal(second.url(), w.base + '/', 'the code stays in the address');
  // The cookie alone, as another port of this machine gets it, opens nothing.
  const cookies = (await page.context().cookies()).map((c) => `${c.name}=${c.value}`).join('; ');
  assert.equal((await fetch(w.base + '/api/v1/status', { headers: { Cookie: cookies } })).status, 401);
  await other.close();
  await page.goto(w.login); // by whom it let in
  await page.getByRole('heading', { name: 'Today' }).waitFor();
  quiet(page);
  assert.equal((await page.goto(w.base + '/no/such/place')).status(), 404);
  await page.getByRole('link', { name: 'Go to the home page' }).click();
  await page.getByRole('heading', { name: 'Today' }).waitFor();
  assert.equal((await fetch(w.base + '/no/such/place')).headers.get('content-type'), 'application/problem+json', 'programs are told as programs are');
  await page.context().close();
});

test('every view, light and dark, wide and narrow', async (t) => {
  // Something to see: a change that was made, and two that wait.
  const done = await w.ask('write_note', { path: 'Notes/Made.md', content: '# Made\n\nBy a test.\n' });
  {
    const page = await w.page();
    await page.goto(`${w.base}/approvals/${done}`);
    await page.locator('.approve:enabled').click();
    await page.getByText('lore undo op-').waitFor();
    quiet(page);
    await page.context().close();
  }
  const id = await w.ask('edit_note', { path: 'Notes/Sencha.md', search: 'The everyday tea of Japan.', replace: 'The everyday green tea of Japan.' });
  await w.ask('rename_note', { path: 'Notes/Gyokuro.md', new_path: 'Notes/Gyokuro tea.md' });
  const views = ['/', '/approvals', `/approvals/${id}`, '/chat', '/notes', '/notes/Notes/Sencha.md', '/search?q=green%20tea', '/graph', '/activity', '/tools', '/tools/edit_note', '/settings', '/onboarding', '/doctor', '/tools/nothing'];
  // All rules once; then those whose answer colours and widths can change.
  const styled = ['color-contrast', 'target-size', 'scrollable-region-focusable', 'link-in-text-block', 'aria-hidden-focus', 'landmark-one-main', 'meta-viewport'];
  for (const width of [1440, 390]) {
    await t.test(`${width} wide`, async () => {
      const page = await w.page({ colorScheme: 'light', viewport: { width, height: width === 390 ? 844 : 900 }, reducedMotion: 'reduce' });
      await page.goto(w.base + '/');
      for (const path of views) {
        await move(page, path);
        await page.locator('main h1').first().waitFor({ state: 'attached' });
        await settled(page, path);
        for (const colorScheme of ['light', 'dark']) {
          await page.emulateMedia({ colorScheme });
          await w.picture(page, `${path.replace(/pending.*/, 'one').replace(/[^a-z]+/gi, '_')}-${colorScheme}-${width}`);
          await accessible(page, `${path} ${colorScheme} ${width}`, colorScheme === 'dark' ? coloured : width === 1440 ? undefined : styled);
        }
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.ok(wide <= 0, `${path} is ${wide} px too wide`);
        const tall = await page.evaluate(() => document.documentElement.scrollHeight - document.documentElement.clientHeight);
        assert.ok(tall <= 0, `${path} is ${tall} px too tall`);
      }
      quiet(page, `${width} wide`);
      await page.context().close();
    });
  }
});

/** settled waits until what a view loads is there. */
async function settled(page, path) {
  const sign = {
    '/': 'a[href^="/approvals/"]', '/approvals': '.card .approve:enabled', '/notes': 'a.note', '/notes/Notes/Sencha.md': '.prose h2', '/search?q=green%20tea': '.items li', '/activity': '.calls li',
    '/tools': '.list li a', '/tools/edit_note': '.form input', '/settings': 'dl.pairs',
  }[path];
  if (sign) await page.locator(sign).first().waitFor();
  else if (path.startsWith('/approvals/')) await page.locator('.approve:enabled').waitFor();
}

test('no view has a second scrollbar, in no window', async () => {
  const page = await w.page({ reducedMotion: 'reduce' });
  await page.goto(w.base + '/');
  for (const path of ['/', '/approvals', '/chat', '/notes', '/notes/Notes/Sencha.md', '/search?q=green%20tea', '/graph', '/activity', '/tools/edit_note', '/settings', '/onboarding', '/doctor']) {
    await move(page, path);
    await page.locator('main h1').first().waitFor({ state: 'attached' });
    await settled(page, path);
    for (const [width, height] of [[1440, 900], [1024, 700], [390, 844], [320, 640]]) {
      await page.setViewportSize({ width, height });
      await page.waitForFunction((n) => innerWidth === n, width);
      const over = () => page.evaluate(() => {
        const e = document.documentElement;
        const main = document.querySelector('main');
        return { tall: e.scrollHeight - innerHeight, wide: e.scrollWidth - innerWidth, main: main.scrollWidth - main.clientWidth };
      });
      // A picture follows its window a moment later.
      await w.until(async () => Object.values(await over()).every((n) => n <= 0), 10_000).catch(async () => assert.fail(`${path} at ${width}: ${JSON.stringify(await over())}`));
    }
  }
  quiet(page);
  await page.context().close();
});

test('Today: what is due is checked off and undone, what changed is told with who did it, and a suggested question is asked', async () => {
  const now = new Date();
  const today = `${now.getFullYear()}-${String(now.getMonth() + 1).padStart(2, '0')}-${String(now.getDate()).padStart(2, '0')}`;
  const text = `# Errands\n\n- [ ] pay the rent 📅 ${today}\n- [ ] water the plants [due:: 2020-01-31]\n- [ ] some day\n- [ ] much later 📅 2999-01-01\n`;
  const page = await w.page();
  await page.goto(w.base + '/');
  await page.getByRole('heading', { name: 'Recently edited' }).waitFor();
  assert.equal(await page.getByRole('heading', { name: 'Tasks due' }).count(), 0, 'what is empty is not shown');
  writeFileSync(join(w.vault, 'Notes', 'Errands.md'), text);
  const due = page.locator('section', { has: page.getByRole('heading', { name: 'Tasks due' }) });
  await due.getByText('Overdue: Jan 31, 2020').waitFor();
  assert.equal(await due.getByRole('checkbox').count(), 2);
  await still(page);
  await due.getByRole('checkbox', { name: 'pay the rent' }).click(); // it goes when it is done, so nobody sees it checked for long
  const toast = page.locator('.toast', { hasText: 'Done: pay the rent' });
  await toast.waitFor();
  await due.getByRole('checkbox', { name: 'pay the rent' }).waitFor({ state: 'detached' });
  assert.equal(w.read('Notes/Errands.md'), text.replace('[ ] pay', '[x] pay'));
  const changed = page.locator('section', { has: page.getByRole('heading', { name: 'Changed since yesterday' }) });
  await changed.getByRole('link', { name: /^You changed \d+ notes?: .*Errands/ }).waitFor();
  await toast.getByRole('button', { name: 'Undo' }).click();
  await due.getByRole('checkbox', { name: 'pay the rent' }).waitFor();
  assert.equal(w.read('Notes/Errands.md'), text);
  await page.locator('section', { has: page.getByRole('heading', { name: 'Contradictions' }) }).getByRole('link', { name: 'A short rinse removes the caffeine' }).first().waitFor();
  await accessible(page, 'Today with tasks');
  await w.picture(page, 'today-full');

  await page.getByRole('button', { name: 'Not now' }).click(); // nobody talked here yet: setup comes first
  const questions = page.getByRole('list', { name: 'Suggested questions' });
  const one = questions.getByRole('button').first();
  const words = await one.innerText();
  assert.match(words, /^What speaks for and against “.+” and “.+”\?$/);
  await one.click();
  await page.waitForURL('**/chat**');
  await page.locator('main').getByText(words, { exact: true }).first().waitFor();
  quiet(page);
  rmSync(join(w.vault, 'Notes', 'Errands.md'));
  await page.context().close();
});

test('the shell by keyboard', async () => {
  const page = await w.page();
  await page.goto(w.base + '/');
  await page.getByRole('heading', { name: 'Today' }).waitFor();
  await page.waitForFunction(() => document.title.startsWith('(2) ')); // the tab counts what waits
  await page.keyboard.press('Tab');
  assert.match(await page.evaluate(() => document.activeElement.textContent), /Skip to/);
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'main');

  await page.keyboard.press('Control+k');
  // Notes first, by their other names too; then commands and tools.
  await page.getByRole('dialog').getByRole('combobox').fill('powdered');
  await page.getByRole('option', { name: /^Matcha/, selected: true }).waitFor();
  assert.equal(await page.locator('#choices .head').first().innerText(), 'Notes');
  await page.getByRole('dialog').getByRole('combobox').fill('activ');
  await accessible(page, 'commands');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/activity');
  await page.keyboard.press('Control+o');
  await page.getByRole('option', { name: /Sencha at 60/ }).first().waitFor();
  await page.getByRole('dialog').getByRole('combobox').fill('bamboo');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/notes/Notes/Bamboo%20whisk.md');
  await page.locator('.prose h1').waitFor();

  await page.keyboard.press('g');
  await page.keyboard.press('a');
  await page.waitForURL('**/approvals');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('In a note: save; switch between reading and editing').waitFor();
  await accessible(page, 'help');
  await page.keyboard.press('Escape');
  assert.equal(await page.getByRole('dialog').count(), 0);
  await page.keyboard.press('Control+Shift+f');
  await page.waitForURL('**/search');

  await page.getByRole('button', { name: /Approvals/ }).click();
  await page.getByRole('complementary').getByRole('link', { name: /Sencha/ }).waitFor();
  await accessible(page, 'tray');
  await page.goBack();
  await page.waitForURL('**/approvals');
  quiet(page);
  await page.context().close();
});

test('the theme is kept', async () => {
  const page = await w.page({ colorScheme: 'light' });
  await page.goto(w.base + '/settings');
  await page.getByRole('radio', { name: 'Dark' }).check();
  const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const dark = await ground();
  await page.reload();
  await page.getByRole('radio', { name: 'Dark' }).waitFor();
  assert.equal(await ground(), dark);
  await page.getByRole('radio', { name: 'System' }).check();
  assert.notEqual(await ground(), dark);
  quiet(page);
  await page.context().close();
});

test('notes are text, whatever they hold', async () => {
  const page = await w.page();
  const id = await w.ask('write_note', {
    path: 'Notes/Evil.md',
    content: '<script>window.pwned=1</script>\n\n<img src=x onerror="window.pwned=1">\n\n[x](javascript:window.pwned=1) [y](  JaVaScRiPt:alert(1)) [z](data:text/html,x) ![i](https://example.invalid/x.png)\n\n[[a" onmouseover="window.pwned=1]]\n\n```"><img onerror=x>\ncode\n```\n',
  });
  await page.goto(`${w.base}/approvals/${id}`);
  await page.locator('.approve:enabled').click();
  await page.getByText('lore undo op-').waitFor();
  await page.goto(`${w.base}/notes/Notes/Evil.md`);
  await page.locator('.prose .wiki').waitFor();
  await page.locator('.prose .wiki').hover();
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.equal(await page.locator('.prose img, .prose script, .prose [onmouseover], .prose [onerror]').count(), 0);
  assert.deepEqual(await page.locator('.prose a').evaluateAll((l) => l.map((a) => new URL(a.href).protocol)), ['https:', 'http:']);
  quiet(page);
  await page.context().close();
});

test('tabs that nobody touches ask for nothing and record nothing, share one stream, and all hear the news', async () => {
  const views = ['/', '/approvals', '/chat', '/notes/Notes/Sencha.md', '/search?q=green%20tea', '/graph', '/activity', '/tools/edit_note', '/settings/models', '/settings/servers', '/onboarding', '/doctor'];
  const context = await w.context();
  const counted = new Map();
  const streams = new Set();
  const tabs = await Promise.all(views.map(async (view) => {
    const tab = await w.tab(context);
    tab.on('request', (r) => (/\/events$/.test(r.url()) ? streams.add(r) : counted.set(view, (counted.get(view) ?? 0) + 1)));
    for (const over of ['requestfinished', 'requestfailed']) tab.on(over, (r) => streams.delete(r));
    await tab.goto(w.base + view);
    await tab.locator('main h1').first().waitFor({ state: 'attached' });
    return tab;
  }));
  const [home] = tabs;
  const entries = async () => (await w.get(home, 'activity/verify')).entries;
  const pause = (ms) => home.evaluate((n) => new Promise((f) => setTimeout(f, n)), ms);
  for (const tab of tabs) await still(tab);
  await pause(1500); // what is looked at a moment later
  const before = await entries();
  counted.clear();
  await pause(10_000);
  assert.deepEqual(Object.fromEntries(counted), {}, 'requests of tabs that nobody touches');
  assert.equal(await entries(), before, 'records of tabs that nobody touches');
  assert.equal(streams.size, 1, 'streams of one browser');
  await w.ask('rename_note', { path: 'Notes/Oolong.md', new_path: 'Notes/Oolong tea.md' });
  await Promise.all(tabs.map((tab) => tab.waitForFunction(() => /^\(\d+\) /.test(document.title))));

  // Hidden tabs have no stream, and a tab that is shown again knows what happened meanwhile.
  const hide = (tab, hidden) => tab.evaluate((on) => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => on });
    document.dispatchEvent(new Event('visibilitychange'));
  }, hidden);
  for (const tab of tabs) await hide(tab, true);
  await w.until(() => streams.size === 0);
  writeFileSync(join(w.vault, 'Notes', 'While nobody looked.md'), '# While nobody looked\n');
  await hide(home, false);
  await home.getByRole('link', { name: 'While nobody looked' }).waitFor();
  assert.equal(streams.size, 1);
  for (const tab of tabs) quiet(tab);
  await context.close();
});

test('a session that ends is told', async () => {
  const page = await w.page();
  await page.goto(w.base + '/settings');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: "You're signed out" }).waitFor();
  await page.context().close();
});

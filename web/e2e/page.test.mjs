// The shell and the views: let in, looked at in both themes and three widths.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { World, accessible, coloured, move, quiet } from './world.mjs';

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
  await page.getByRole('dialog', { name: 'Keys' }).getByText('In a note: save; read or write').waitFor();
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
  await page.getByRole('radio', { name: 'dark' }).check();
  const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const dark = await ground();
  await page.reload();
  await page.getByRole('radio', { name: 'dark' }).waitFor();
  assert.equal(await ground(), dark);
  await page.getByRole('radio', { name: 'as the system' }).check();
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

test('a session that ends is told', async () => {
  const page = await w.page();
  await page.goto(w.base + '/settings');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: "You're signed out" }).waitFor();
  await page.context().close();
});

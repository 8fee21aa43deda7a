// A vault as people have them: many notes, names and texts in many scripts, and
// a server that is away for a while.
import assert from 'node:assert/strict';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gate } from './mind.mjs';
import { World, quiet, still } from './world.mjs';

const long = 'A title that goes on and on '.repeat(7).trim();
let w, page;
before(async () => {
  ({ w, page } = await World.entered((vault) => {
    mkdirSync(join(vault, 'Many'));
    for (let i = 0; i < 1200; i++) {
      const at = join(vault, 'Many', `Leaf ${String(i).padStart(4, '0')}.md`);
      writeFileSync(at, `# Leaf ${String(i).padStart(4, '0')}\n\nTea.\n`);
      utimesSync(at, 1_600_000_000 + i, 1_600_000_000 + i);
    }
    writeFileSync(join(vault, 'Notes', 'שלום.md'), '# שלום\n\nזהו טקסט מימין לשמאל.\n\n- אחד\n\nPlain words.\n');
    writeFileSync(join(vault, 'Notes', `${long}.md`), `# ${long}\n\n${'A line to write below.\n\n'.repeat(60)}See [[Sencha]].\n\n| ${Array.from({ length: 14 }, (_, i) => `Column ${i}`).join(' | ')} |\n|${'---|'.repeat(14)}\n`);
  }));
});
after(() => w?.close());

test('every note is opened by its name, however long ago it was written', async () => {
  await page.goto(w.base + '/');
  await page.getByRole('heading', { name: 'Today' }).waitFor();
  await page.keyboard.press('Control+o');
  await page.getByRole('combobox', { name: 'Find a note' }).fill('leaf 0007');
  await page.locator('[aria-selected=true]', { hasText: 'Leaf 0007' }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/notes/Many/Leaf%200007.md');
  quiet(page);
});

test('who is faster than the names gets the note all the same', async () => {
  const hold = gate();
  await page.route('**/api/v1/tools/list_notes*', async (r) => {
    await hold.wait;
    await r.continue();
  });
  await page.goto(w.base + '/search');
  await page.getByRole('heading', { name: 'Search', exact: true }).waitFor();
  await page.keyboard.press('Control+o');
  await page.getByRole('combobox', { name: 'Find a note' }).fill('leaf 0008');
  await page.keyboard.press('Enter');
  hold.open();
  await page.waitForURL('**/notes/Many/Leaf%200008.md');
  await page.unroute('**/api/v1/tools/list_notes*');
  quiet(page);
});

test('text that is read from the right stands at the right', async () => {
  const side = (sel) => page.locator(sel).first().evaluate((el) => {
    const r = document.createRange();
    r.selectNodeContents(el);
    const [text, box] = [r.getBoundingClientRect(), el.getBoundingClientRect()];
    return box.right - text.right < text.left - box.left ? 'right' : 'left';
  });
  await page.goto(`${w.base}/notes/Notes/${encodeURIComponent('שלום.md')}`);
  await page.locator('.prose p').nth(1).waitFor();
  for (const sel of ['.prose h1', '.prose p', '.prose li']) await w.until(async () => (await side(sel)) === 'right'); // a text that is drawn again while it is measured stands nowhere
  assert.equal(await side('.prose p >> nth=1'), 'left');
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await page.locator('.cm-line').nth(2).waitFor();
  assert.equal(await side('.cm-line >> nth=2'), 'right');
  quiet(page);
});

test('on a phone the way to save stays, and a long name leaves room', async () => {
  const p = await w.page({ viewport: { width: 390, height: 844 }, hasTouch: true });
  await p.goto(`${w.base}/notes/Notes/${encodeURIComponent(long)}.md`);
  await p.locator('.prose th').first().waitFor();
  // Words are not cut into letters.
  await p.waitForFunction(() => {
    const el = document.querySelectorAll('.prose th')[9];
    return el && el.getClientRects().length > 0 && Math.round(el.getBoundingClientRect().height / parseFloat(getComputedStyle(el).lineHeight)) <= 3;
  });
  await p.getByRole('button', { name: 'Edit', exact: true }).tap();
  await p.locator('.cm-content').press('Control+End');
  await p.keyboard.insertText('The end.');
  const box = await p.getByRole('button', { name: 'Save', exact: true }).boundingBox();
  assert.ok(box && box.y > 0 && box.y < 200, `Save is at ${box?.y}`);
  await p.getByRole('button', { name: 'Save', exact: true }).tap();
  await p.locator('.state', { hasText: /^Saved/ }).waitFor();
  quiet(p);
  await p.context().close();
});

test('who comes back goes on reading where they were', async () => {
  for (const size of [{ width: 1440, height: 900 }, { width: 390, height: 844 }]) {
    const p = await w.page({ viewport: size });
    await p.goto(`${w.base}/notes/Notes/${encodeURIComponent(long)}.md`);
    const link = p.locator('.prose a', { hasText: 'Sencha' });
    await link.waitFor();
    await still(p);
    await link.scrollIntoViewIfNeeded();
    const { y } = await link.boundingBox();
    await link.click();
    await p.getByRole('heading', { name: 'How I make it' }).waitFor();
    await w.until(async () => ((await p.getByRole('heading', { name: 'Sencha', exact: true }).boundingBox())?.y ?? Infinity) < 250); // another note is read from its beginning
    await p.goBack();
    await link.waitFor();
    await w.until(async () => Math.abs(((await link.boundingBox())?.y ?? Infinity) - y) < 60); // it may be drawn anew just now
    quiet(p);
    await p.context().close();
  }
});

test('a long list is where it was left', async () => {
  await page.goto(`${w.base}/tools`);
  const last = page.locator('main a[href^="/tools/"]').last();
  await last.waitFor();
  await still(page);
  const main = page.locator('main');
  await main.evaluate((m) => m.scrollTo(0, m.scrollHeight));
  const top = await main.evaluate((m) => m.scrollTop);
  assert.ok(top > 300, `it scrolls: ${top}`);
  await last.click();
  await page.waitForURL('**/tools/*');
  await w.until(async () => (await main.evaluate((m) => m.scrollTop)) === 0); // another place is read from its beginning
  await page.goBack();
  await w.until(async () => Math.abs((await main.evaluate((m) => m.scrollTop)) - top) < 60);
  quiet(page);
});

test('a menu goes with Escape, and with a press beside it', async () => {
  await page.goto(`${w.base}/notes/Notes/Sencha.md`);
  const menu = page.locator('details.more');
  const open = () => menu.evaluate((d) => d.open);
  await menu.locator('summary').click();
  assert.equal(await open(), true);
  await page.keyboard.press('Escape');
  assert.equal(await open(), false);
  await page.waitForFunction(() => document.activeElement?.matches('details.more > summary'));
  await menu.locator('summary').click();
  await page.locator('.prose p').first().click();
  assert.equal(await open(), false);
  quiet(page);
});

test('a part of the page that did not come is asked for again, and nothing else is lost', async () => {
  await page.goto(`${w.base}/notes`);
  await page.evaluate(() => (globalThis.same = true));
  await page.route(/assets\/Search-/, (r) => r.abort());
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Search' }).click();
  await page.getByText('This view could not be loaded.').waitFor();
  await page.unroute(/assets\/Search-/);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('searchbox').waitFor();
  assert.equal(await page.evaluate(() => globalThis.same), true);
  await page.goto(`${w.base}/search?q=zzzzqqqq`);
  await page.getByRole('heading', { name: 'No results for “zzzzqqqq”' }).waitFor();

  const away = /assets\/Activity-|\/events/;
  await page.route(away, (r) => r.abort());
  await page.reload();
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Activity' }).click();
  await page.getByText('Lore is not responding. Check that lore serve is running').waitFor();
  await page.locator('.chip', { hasText: 'Connecting…' }).waitFor();
  await page.unroute(away); // nobody presses anything
  await page.getByText('Lore is not responding. Check that lore serve is running').waitFor({ state: 'detached' });
  await page.getByLabel('Caller').first().waitFor();
  await page.locator('.chip', { hasText: 'Connecting…' }).waitFor({ state: 'detached' });
  page.faults = page.faults.filter((f) => !/ERR_FAILED|Failed to fetch/.test(f));
  quiet(page);
});

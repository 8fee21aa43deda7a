// A vault of fifty thousand notes. Numbers for a person to judge: MEASURE=1 prints them.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { World, move, quiet, still } from './world.mjs';

const measured = { skip: !process.env.MEASURE && 'MEASURE=1 measures it' };
const notes = Number(process.env.NOTES ?? 50_000);
let w, page;
before(async () => {
  if (!process.env.MEASURE) return;
  w = await World.open((vault) => {
    for (let i = 0; i < notes; i++) {
      const folder = join(vault, 'Many', `F${Math.floor(i / 500)}`);
      if (i % 500 === 0) mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, `Leaf ${i}.md`), `# Leaf ${i} of ${['tea', 'oak', 'fern', 'moss'][i % 4]}\n\nSee [[Leaf ${(i * 7 + 1) % notes}]].\n`);
    }
  });
  await w.until(async () => (await w.call('list_notes', { limit: 1 })).total >= notes, 600_000);
  page = await w.page();
  await w.enter(page);
});
after(() => w?.close());

/** during counts frames and long tasks while something is done. */
async function during(what, act) {
  await page.evaluate(() => {
    globalThis.long = [];
    globalThis.frames = 0;
    globalThis.watcher?.disconnect();
    globalThis.watcher = new PerformanceObserver((l) => long.push(...l.getEntries().map((e) => Math.round(e.duration))));
    watcher.observe({ entryTypes: ['longtask'] });
    const count = () => (frames++, (globalThis.counting = requestAnimationFrame(count)));
    cancelAnimationFrame(globalThis.counting ?? 0);
    count();
  });
  const from = Date.now();
  await act();
  await page.evaluate(() => new Promise((f) => setTimeout(f, 300)));
  const took = Date.now() - from;
  const { long, frames } = await page.evaluate(() => ({ long: globalThis.long, frames: globalThis.frames }));
  console.log(`${notes} notes, ${what}: ${took} ms, ${Math.round((1000 * frames) / took)} frames a second, long tasks ${JSON.stringify(long)}`);
}

test('list, filter, palette and graph', measured, async () => {
  await page.goto(w.base + '/notes');
  await during('the list loads', () => page.locator('.list .small', { hasText: notes.toLocaleString('en').slice(0, 3) }).first().waitFor({ timeout: 120_000 }));
  await page.locator('a.note, [role=treeitem]').first().waitFor();
  await during('scrolling', () => page.locator('.tree').evaluate(async (t) => {
    for (let i = 0; i < 120; i++) {
      t.scrollTop += 400;
      await new Promise(requestAnimationFrame);
    }
  }));
  for (const typed of ['l', 'leaf 4', 'moss', '']) await during(`filter "${typed}"`, () => page.getByLabel('Filter notes').fill(typed));
  await page.keyboard.press('Escape');
  await during('the palette opens', async () => {
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('combobox').waitFor();
    await page.locator('#choices [role=option]').first().waitFor();
  });
  await during('the palette reads all names', () => still(page));
  for (const typed of ['l', 'leaf 49', 'oak 123']) await during(`palette "${typed}"`, () => page.getByRole('dialog').getByRole('combobox').fill(typed));
  await page.keyboard.press('Escape');
  await during('the graph', async () => {
    await move(page, '/graph?all=1');
    await page.waitForFunction(() => Number(document.querySelector('.canvas')?.dataset.drawn?.split(' ')[0]) > 1000, null, { timeout: 300_000 });
    console.log(`drawn: ${await page.locator('.canvas').getAttribute('data-drawn')} (notes and links)`);
  }).catch((e) => console.log(String(e).slice(0, 200)));
  quiet(page);
});

// The graph: found by keys, read as a list, drawn without holding the page up.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { World, accessible, coloured, quiet, still } from './world.mjs';

let w, page;
before(async () => {
  ({ w, page } = await World.entered());
});
after(() => w?.close());

const drawn = (p) => p.locator('.canvas[data-drawn]:not([data-drawn=""]) canvas').first().waitFor({ state: 'attached' });

/** written says whether the names in the picture are bright, or dark, and nothing else. */
const written = (p, bright) =>
  p.locator('.canvas .sigma-labels').evaluate((c, bright) => {
    const copy = new OffscreenCanvas(c.width, c.height).getContext('2d', { willReadFrequently: true });
    copy.drawImage(c, 0, 0);
    const { data } = copy.getImageData(0, 0, c.width, c.height);
    let [some, all] = [false, true];
    for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 200) [some, all] = [true, all && data[i] > 128 === bright];
    return some && all;
  }, bright);

// What only prints numbers for a person to judge is asked for: MEASURE=1.
const measured = { skip: !process.env.MEASURE && 'MEASURE=1 measures it' };

test('two notes that contradict each other are found by keyboard', async () => {
  await page.goto(`${w.base}/`);
  await page.keyboard.press('g');
  await page.keyboard.press('g');
  await page.waitForURL('**/graph');
  const kind = page.getByRole('button', { name: /contradicts/ });
  await kind.waitFor();
  await page.getByLabel('Filter graph').focus();
  for (let i = 0; i < 12 && !(await kind.evaluate((b) => b === document.activeElement)); i++) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByText('3 notes, 2 relationships', { exact: false }).waitFor();
  const edge = page.locator('.edge');
  assert.equal(await edge.count(), 2);
  const both = edge.filter({ hasText: 'The rinse that did not calm' });
  assert.match(await both.innerText(), /The rinse that did not calm[\s\S]*contradicts, 40%[\s\S]*A short rinse removes the caffeine/);
  const one = both.getByRole('button').first();
  for (let i = 0; i < 12 && !(await one.evaluate((b) => b === document.activeElement)); i++) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  const facts = page.locator('.facts');
  await facts.getByText('a single evening').waitFor();
  await drawn(page);
  await w.picture(page, 'graph-contradicts');
  await facts.getByRole('link', { name: 'The rinse that did not calm' }).focus();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/notes/Nodes/Observation/The%20rinse%20that%20did%20not%20calm.md');
  quiet(page);
});

test('from a note: what is around it, one to three steps', async () => {
  await page.goto(`${w.base}/notes/Notes/Oolong.md`);
  await page.locator('.prose h1').waitFor();
  await page.locator('.more summary').click();
  await page.getByRole('link', { name: 'Show in graph' }).click();
  await page.waitForURL('**/graph/Notes/Oolong.md');
  const status = page.locator('.side [role=status]');
  await status.getByText(/^\d+ notes, \d+ relations/).waitFor();
  const one = Number(/^(\d+)/.exec(await status.innerText())[1]);
  await page.getByLabel('Depth').selectOption('2');
  await page.waitForFunction((n) => Number(/^(\d+)/.exec(document.querySelector('.side [role=status]').textContent)?.[1]) > n, one);
  await page.getByLabel('Plain links').uncheck();
  await status.getByText(/^1 note, 0 relations/).waitFor();
  await page.getByRole('button', { name: 'Show all' }).click();
  await status.getByText(/^19 notes, 17 relations/).waitFor();
  await page.getByLabel('Filter graph').fill('caffeine');
  await page.waitForFunction(() => !/^19 /.test(document.querySelector('.side [role=status]').textContent));
  await page.getByRole('button', { name: 'Notes', exact: true }).click();
  await page.locator('.node', { hasText: 'A short rinse' }).click();
  await page.locator('.facts').getByRole('link', { name: 'A short rinse removes the caffeine' }).waitFor();
  quiet(page);
});

test('a node of the picture is told of under the pointer, and chosen by a click', async () => {
  await page.goto(`${w.base}/graph/Notes/Oolong.md?links=0`);
  await page.locator('.canvas[data-drawn^="1 "]').waitFor();
  const over = () =>
    page.locator('.canvas .sigma-hovers').evaluate((c) => {
      const copy = new OffscreenCanvas(c.width, c.height).getContext('2d', { willReadFrequently: true });
      copy.drawImage(c, 0, 0);
      return copy.getImageData(0, 0, c.width, c.height).data.some((v) => v > 0);
    });
  const { x, y, width, height } = await page.locator('.canvas').boundingBox();
  const [node, stage] = [[x + width / 2, y + height / 2], [x + width / 4, y + height / 4]];
  await page.mouse.move(...stage);
  assert.equal(await over(), false);
  await page.mouse.move(...node);
  await w.until(over);
  await page.mouse.move(...stage);
  await w.until(async () => !(await over()));
  await page.mouse.click(...node);
  await page.locator('.facts').getByRole('link', { name: /Oolong/ }).first().waitFor();
  await page.evaluate(() => new Promise((f) => setTimeout(f, 400))); // two clicks within a moment are a double one, by the clock of the page
  await page.mouse.click(...stage);
  await page.locator('.facts').waitFor({ state: 'detached' });
  await page.mouse.move(...node);
  await w.until(over);
  await page.getByLabel('Filter graph').fill('nothing has this name');
  await page.locator('.canvas[data-drawn^="0 "]').waitFor();
  await w.until(async () => !(await over()));
  quiet(page);
});

test('the legend hides a type and shows it again; the timeline shows the graph as it was', async () => {
  await page.goto(`${w.base}/graph?all=1`);
  const status = page.locator('.side [role=status]');
  await status.getByText(/^46 notes/).waitFor();
  await drawn(page);
  const legend = page.locator('.legend');
  const row = legend.getByRole('button', { name: /^Note 33/ });
  await row.click();
  await status.getByText(/^13 notes/).waitFor();
  await page.locator('.canvas[data-drawn^="13 "]').waitFor();
  await page.reload(); // what is hidden stays so in the address
  await status.getByText(/^13 notes/).waitFor();
  await legend.locator('button[aria-pressed=false]', { hasText: 'Note' }).focus();
  await page.keyboard.press('Enter');
  await status.getByText(/^46 notes/).waitFor();

  const until = page.getByRole('slider', { name: 'Until' });
  await until.focus();
  await page.keyboard.press('Home');
  await page.waitForFunction(() => Number(/^(\d+)/.exec(document.querySelector('.side [role=status]').textContent)?.[1]) < 46);
  await page.locator('.time output', { hasText: /^Until / }).waitFor();
  await page.keyboard.press('End');
  await status.getByText(/^46 notes/).waitFor();
  await page.locator('.canvas[data-drawn^="46 "]').waitFor();
  quiet(page);
});

test('relations are named around what is pointed at or chosen, and names do not cover each other', async () => {
  await page.goto(`${w.base}/graph?all=1&kind=CONTRADICTS`);
  await page.locator('.canvas[data-drawn^="3 "][data-relations="contradicts"]').waitFor(); // few enough to be named at once
  await page.goto(`${w.base}/graph?all=1`);
  await page.locator('.canvas[data-drawn^="46 "]').waitFor();
  await page.getByRole('button', { name: 'Notes', exact: true }).click();
  await page.locator('.node', { hasText: 'A short rinse' }).click();
  await page.locator('.facts').getByRole('link', { name: 'A short rinse removes the caffeine' }).waitFor();
  await page.locator('.canvas[data-relations*="contradicts"]').waitFor();
  await w.until(async () => Number(await page.locator('.canvas').getAttribute('data-names')) > 0);
  quiet(page);
});

test('a note has its graph beside it, and a press on a note of it opens that note', async () => {
  await page.goto(`${w.base}/notes/Nodes/Observation/The%20rinse%20that%20did%20not%20calm.md`);
  await page.locator('.prose h1').waitFor();
  const fold = page.locator('.side details', { has: page.getByText('Local graph', { exact: true }) });
  await fold.locator('summary').click();
  await fold.locator('.canvas[data-drawn^="4 "] canvas').first().waitFor({ state: 'attached' });
  await fold.getByText('3 notes nearby').waitFor();
  assert.match(await fold.locator('li').first().innerText(), /contradicts\s+A short rinse removes the caffeine/, 'the list has the same facts');
  await fold.getByLabel('Depth').selectOption('2');
  await w.until(async () => Number((await fold.locator('.canvas').getAttribute('data-drawn')).split(' ')[0]) > 4);
  await accessible(page, 'a local graph');
  await w.picture(page, 'graph-local');
  await fold.getByLabel('Depth').selectOption('1');
  await fold.locator('.canvas[data-drawn^="4 "]').waitFor();
  // The neighbors are somewhere around the middle: the pointer goes over the picture until it meets one.
  await fold.locator('.canvas').scrollIntoViewIfNeeded();
  await still(page);
  const here = page.url();
  const met = () => fold.locator('.canvas').evaluate((box) => {
    const to = box.querySelector('canvas:last-child');
    const { left, top, width, height } = box.getBoundingClientRect();
    for (let y = 4; y < height; y += 4) for (let x = 4; x < width; x += 4) {
      to.dispatchEvent(new MouseEvent('mousemove', { clientX: left + x, clientY: top + y, bubbles: true, view: window }));
      if (box.dataset.over && box.dataset.over !== 'obs-2f6z') return [left + x, top + y];
    }
    return null;
  });
  await w.until(met);
  await page.mouse.click(...(await met()));
  await page.waitForFunction((at) => location.href !== at, here);
  assert.notEqual(page.url(), here);
  await fold.getByText(/nearby/).waitFor(); // it stays open for the next note
  await fold.locator('summary').click();
  quiet(page);
});

test('in both themes and on a phone', async (t) => {
  const styled = ['color-contrast', 'target-size', 'scrollable-region-focusable', 'link-in-text-block', 'aria-hidden-focus'];
  for (const width of [1440, 390]) {
    await t.test(`${width} wide`, async () => {
      const p = await w.page({ colorScheme: 'light', viewport: { width, height: width === 390 ? 844 : 900 }, hasTouch: width === 390, reducedMotion: 'reduce' });
      await p.goto(`${w.base}/graph?all=1`);
      if (width === 390) {
        await drawn(p); // the picture first
        await w.picture(p, 'graph-first-390');
        await accessible(p, 'the picture on a phone', styled);
        await p.getByRole('button', { name: 'List', exact: true }).tap();
      }
      await p.locator('.edge').first().waitFor();
      await p.locator('.edge button').first().click();
      assert.ok(await p.locator('.facts h2').evaluate((h) => { const b = h.getBoundingClientRect(); return h.contains(document.elementFromPoint(b.x + 20, b.y + 10)); }), 'it is seen what was chosen');
      if (width === 390) await p.getByRole('button', { name: 'Picture', exact: true }).tap();
      const [canvas, facts] = await Promise.all(['.canvas', '.facts'].map((s) => p.locator(s).boundingBox()));
      assert.ok(canvas.x + canvas.width <= facts.x + 1 || canvas.y + canvas.height <= facts.y + 1, 'what is told lies beside the picture, not over it');
      assert.ok(canvas.width > 200 && canvas.height > 200, 'the picture keeps its room');
      if (width === 390) await p.getByRole('button', { name: 'List', exact: true }).tap();
      await drawn(p);
      for (const colorScheme of ['light', 'dark']) {
        await p.emulateMedia({ colorScheme });
        if (width === 1440) await w.until(() => written(p, colorScheme === 'dark'));
        await w.picture(p, `graph-${colorScheme}-${width}`);
        await accessible(p, `graph ${colorScheme} ${width}`, colorScheme === 'dark' ? coloured : width === 1440 ? undefined : styled);
      }
      assert.ok((await p.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)) <= 0, 'too wide');
      quiet(p);
      await p.context().close();
    });
  }
});

test('five thousand nodes hold nothing up', measured, async () => {
  const kinds = ['supports', 'contradicts', 'cites', 'part_of', 'relates_to'];
  mkdirSync(join(w.vault, 'Large'));
  for (let i = 0; i < 5000; i++) {
    const to = (k) => (i * 7 + k * 613 + Math.floor(i / 50)) % 5000;
    writeFileSync(join(w.vault, 'Large', `N${i}.md`), `---\ntype: ${['Claim', 'Source', 'Person', 'Observation'][i % 4]}\ndate: 2026-0${1 + (i % 9)}-1${i % 10}\nid: n-${i}\nconfidence: ${(i % 10) / 10}\ntags: [large/t${i % 9}]\n---\n# N${i}\n\n- ${kinds[i % 5]}:: [[N${to(1)}]]\n- ${kinds[(i + 2) % 5]}:: [[N${Math.floor(i / 2)}]]\n- ${kinds[(i + 3) % 5]}:: [[N${to(3)}]]\n`);
  }
  await w.until(async () => (await w.call('export_graph', { limit: 6000 })).nodes >= 5000, 60_000);
  const p = await w.page();
  await p.goto(`${w.base}/graph/Notes/Oolong.md?links=0`); // as people come: from a note, then the whole
  await p.locator('.canvas[data-drawn^="1 "]').waitFor();
  const long = await p.evaluateHandle(() => {
    const seen = [];
    new PerformanceObserver((l) => seen.push(...l.getEntries().map((e) => Math.round(e.duration)))).observe({ entryTypes: ['longtask'] });
    return seen;
  });
  const from = Date.now();
  await p.getByRole('button', { name: 'Show all' }).click();
  await p.locator('.canvas[data-drawn^="50"]').waitFor({ timeout: 60_000 });
  const ready = Date.now() - from;
  const frames = await p.evaluate(async () => {
    const box = document.querySelector('.canvas canvas:last-child');
    const at = box.getBoundingClientRect();
    const begun = performance.now();
    let n = 0;
    while (performance.now() - begun < 1000) {
      box.dispatchEvent(new WheelEvent('wheel', { deltaY: n % 20 < 10 ? -40 : 40, clientX: at.x + at.width / 2, clientY: at.y + at.height / 2, bubbles: true, cancelable: true }));
      await new Promise(requestAnimationFrame);
      n++;
    }
    return n;
  });
  const before = (await long.jsonValue()).length;
  const slid = await p.evaluate(async () => {
    const bar = document.querySelector('.time input');
    const [first, last, begun] = [Number(bar.min), Number(bar.max), performance.now()];
    let n = 0;
    while (performance.now() - begun < 2000) {
      bar.value = String(first + ((n * 3) % (last - first)));
      bar.dispatchEvent(new Event('input', { bubbles: true }));
      await new Promise(requestAnimationFrame);
      n++;
    }
    bar.value = bar.max;
    bar.dispatchEvent(new Event('input', { bubbles: true }));
    return n / 2;
  });
  const tasks = await long.jsonValue();
  console.log(`5,000 nodes, time slider: ${slid} frames a second, long tasks ${JSON.stringify(tasks.slice(before))} ms`);
  console.log(`5,000 nodes, 15,000 edges: drawn after ${ready} ms, ${frames} frames a second while zooming; long tasks of the page ${JSON.stringify(tasks)} ms, longest ${Math.max(0, ...tasks)} ms`);
  await w.picture(p, 'graph-large');
  quiet(p);
  await p.context().close();
});

// The doctor tells what is wrong, links to it, and looks again; and a person
// gets from the first page to an answer.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { World, accessible, quiet } from './world.mjs';
import { Mind } from './mind.mjs';

let w, mind, page;
before(async () => {
  [w, mind] = await Promise.all([World.open(), Mind.open()]);
  page = await w.page();
  page.setDefaultTimeout(60_000);
  await w.enter(page);
});
after(async () => {
  await page?.context().close();
  await mind?.close();
  await w?.close();
});

test('from the first page to an answer with its sources, without a model', async () => {
  await page.getByRole('heading', { name: 'Your vault is ready' }).waitFor();
  await page.getByText('Lore has not changed any of them').waitFor();
  await accessible(page, 'the first minute');
  await page.getByRole('button', { name: 'Ask', exact: true }).click();
  await page.waitForURL('**/chat/**');
  await page.locator('.cite').first().waitFor();
  quiet(page);
});

test('a model on the way, and how careful', async () => {
  await page.goto(`${w.base}/onboarding`);
  await page.getByText('Connect a model').click();
  await page.getByLabel('Server on this computer').check();
  await page.getByLabel('Server', { exact: true }).selectOption('lmstudio');
  await page.getByLabel('Base URL').fill('nonsense');
  await page.getByRole('button', { name: 'Connect', exact: true }).click();
  await page.getByRole('alert').waitFor();
  await page.getByLabel('Base URL').fill(mind.base);
  await page.getByRole('button', { name: 'Connect', exact: true }).click();
  await page.getByText('Connected to LM Studio').waitFor();
  await accessible(page, 'a model that answers');
  await w.picture(page, 'welcome-connected');
  await page.getByText('lmstudio/script is now the default model').waitFor();
  assert.match(w.run('config'), /lmstudio\/script/);
  await page.getByRole('radio', { name: /Create notes without asking/ }).check();
  assert.doesNotMatch(w.run('config'), /approve\.create\s+allow/);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  assert.match(w.run('config'), /approve\.create\s+allow/);
  mind.says({ text: 'Steamed leaves.' });
  await page.getByLabel('Ask your first question').fill('What is sencha?');
  await page.getByRole('button', { name: 'Ask', exact: true }).click();
  await page.getByText('Steamed leaves.').waitFor();
  quiet(page);
});

test('all is well, in a calm sentence', async () => {
  await page.goto(`${w.base}/doctor`);
  await page.getByText('No problems found.').waitFor();
  assert.equal(await page.getByText(/Nothing is wrong/).count(), 0, 'it is said once');
  await page.getByRole('region', { name: 'Vault health' }).getByText('/100').waitFor();
  await page.getByRole('heading', { name: 'Passed' }).click();
  await page.locator('[data-level="ok"] [data-topic="audit"]').waitFor();
  const meaning = page.locator('[data-topic="meaning"]');
  assert.equal(await meaning.getByRole('link').getAttribute('href'), '/settings/models');
  await meaning.getByText('Semantic search is off').waitFor();
  assert.equal(await page.getByRole('link', { name: 'Settings' }).getAttribute('aria-current'), 'true', 'the doctor is a part of the settings');
  await meaning.getByText('In a terminal').click();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await meaning.getByRole('button', { name: 'Copy' }).click();
  await meaning.getByRole('button', { name: 'Copied' }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'lore config set embed.model builtin');
  quiet(page);
});

test('what was planted is found, and linked to', async () => {
  const bad = join(w.vault, 'Notes', 'Odd bytes.md');
  const copy = join(w.vault, 'Notes', 'Sencha.sync-conflict-20260301-101010-ABCDEFG.md');
  writeFileSync(bad, Buffer.from([0x23, 0x20, 0x41, 0x0a, 0x0a, 0xff, 0xfe, 0xe9, 0x0a]));
  writeFileSync(copy, readFileSync(join(w.vault, 'Notes', 'Sencha.md')));
  const id = await w.ask('write_note', { path: 'Notes/Sencha.md', content: 'shorter\n' });
  const warnings = page.locator('[data-level="warning"]');
  await w.until(async () => {
    await page.getByRole('button', { name: 'Check again' }).click();
    await page.getByRole('button', { name: 'Check again' }).waitFor();
    return (await warnings.getByRole('link', { name: /Odd bytes\.md/ }).count()) && (await warnings.getByRole('link', { name: /sync-conflict/ }).count());
  });
  assert.match(await page.locator('.counts').innerText(), /\d warnings/);
  assert.equal(await page.locator('[data-topic="approve"]').getByRole('link').getAttribute('href'), '/approvals');
  const copies = page.locator('[data-health="sync conflict copies"]');
  await copies.getByText('1', { exact: true }).waitFor();
  await copies.getByText('Show examples').click();
  assert.match(await copies.getByRole('link').first().getAttribute('href'), /^\/notes\/Notes\/Sencha\.sync-conflict/);
  const orphans = page.locator('[data-health="notes without backlinks"]');
  await orphans.getByText('Show examples').click();
  await orphans.getByRole('link', { name: 'List all' }).waitFor();
  for (const [colorScheme, width] of [['light', 1440], ['dark', 390]]) {
    const p = await w.page({ colorScheme, viewport: { width, height: width === 390 ? 844 : 900 }, reducedMotion: 'reduce' });
    for (const at of ['/doctor', '/onboarding']) {
      await p.goto(w.base + at);
      await p.locator(at === '/doctor' ? '[data-level="warning"] li' : '.connect summary').first().waitFor();
      if (at === '/doctor') await p.locator('.score').waitFor();
      await p.evaluate(() => document.querySelectorAll('main details').forEach((d) => (d.open = true)));
      await w.picture(p, `${at.slice(1)}-${colorScheme}-${width}`);
      await accessible(p, `${at} ${colorScheme} ${width}`);
      const wide = await p.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(wide <= 0, `${at} is ${wide} px too wide`);
    }
    quiet(p);
    await p.context().close();
  }
  await warnings.getByRole('link', { name: /Odd bytes\.md/ }).first().click();
  await page.waitForURL('**/notes/Notes/Odd%20bytes.md**');
  await page.getByRole('heading', { name: 'Odd bytes' }).or(page.locator('main h1')).first().waitFor();
  rmSync(bad);
  rmSync(copy);
  w.person('approvals', 'deny', id);
  quiet(page);
});

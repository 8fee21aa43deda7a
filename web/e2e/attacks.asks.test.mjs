// A yes is a person's: not a click that was meant for something else, not a key
// that was pressed elsewhere, not a script's, and never two of them.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { move, quiet, still } from './world.mjs';
import { Talker } from './talker.mjs';

let t, w, page, mind;
before(async () => {
  t = await Talker.open();
  ({ w, page, mind } = t);
});
after(() => t?.close());

const over = (p, state) => p.locator(`.card .chip.${state}`).waitFor();

/** answers are those that a tab sent, after it has had its time to send one. */
function answers(p) {
  const sent = [];
  p.on('request', (r) => r.method() === 'POST' && /approvals\/[^/]+(\/answer)?$/.test(new URL(r.url()).pathname) && sent.push(r.postData()));
  return async () => {
    await p.evaluate(() => fetch('/api/v1/status').then((r) => r.text()));
    return sent;
  };
}

test('a click right after a card appeared does nothing, nor does a click of a script', async () => {
  // The clock of the page is the test's: half a second is half a second.
  const p = await w.page();
  await p.clock.install();
  const id = await w.ask('write_note', { path: 'Notes/Armed.md', content: 'x\n' });
  await p.goto(`${w.base}/approvals/${id}`);
  const yes = p.locator('.card .approve');
  await yes.waitFor();
  const sent = answers(p);
  await p.clock.pauseAt(Date.now() + 3_600_000);
  await p.evaluate(() => dispatchEvent(new Event('focus'))); // the card is before the person again
  const at = await yes.boundingBox();
  const press = () => p.mouse.click(at.x + at.width / 2, at.y + at.height / 2);
  await press();
  await p.clock.runFor(400);
  await press();
  assert.deepEqual(await sent(), [], 'it was not armed');
  await p.clock.runFor(200);
  const armed = p.locator('.card .approve:enabled');
  for (let i = 0; i < 100 && !(await armed.count()); i++) await p.clock.runFor(100); // what the card waits for may have come late
  await armed.evaluate((b) => b.click());
  await yes.evaluate((b) => b.dispatchEvent(new MouseEvent('click', { bubbles: true })));
  await p.locator('.card').evaluate((c) => c.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true })));
  assert.deepEqual(await sent(), [], 'no script says yes');
  assert.equal(w.read('Notes/Armed.md'), null);
  await press();
  await p.clock.resume();
  await over(p, 'done');
  assert.equal(w.read('Notes/Armed.md'), 'x\n');
  quiet(p);
  await p.context().close();
});

test('a card that moves under the pointer does not take the click that was meant for another', async () => {
  const [one, two] = [await w.ask('write_note', { path: 'Notes/First.md', content: '1\n' }), await w.ask('write_note', { path: 'Notes/Other.md', content: '2\n' })];
  // The clock of the page is the test's: however slow that is, the click comes right after the move.
  const p = await w.page({ viewport: { width: 1440, height: 1800 } });
  await p.clock.install();
  await p.goto(`${w.base}/approvals`);
  const first = p.locator(`[data-approval="${one}"] .approve:enabled`);
  const second = p.locator(`[data-approval="${two}"]`);
  await second.locator('.approve:enabled').waitFor();
  await still(p);
  const at = await first.boundingBox();
  await p.clock.pauseAt(Date.now() + 3_600_000);
  await first.click();
  await p.locator(`[data-approval="${one}"]`).waitFor({ state: 'detached' });
  // The second stands where the first was; the hand was about to click once more.
  const sent = answers(p);
  const now = await second.locator('.approve').boundingBox();
  assert.ok(now.y < at.y + at.height && now.y + now.height > at.y, `it lies at ${now.y}, the first lay at ${at.y}`);
  const press = () => p.mouse.click(now.x + now.width / 2, now.y + now.height / 2);
  await press(); // at once
  await p.clock.runFor(400);
  await press();
  assert.deepEqual(await sent(), [], 'a click for the first question answered the second');
  assert.equal(w.read('Notes/Other.md'), null);
  await p.clock.resume();
  await second.locator('.approve:enabled').waitFor(); // a moment later it can be answered
  await second.locator('.deny').click();
  await second.waitFor({ state: 'detached' });
  quiet(p);
  await p.context().close();
});

test('a conversation that scrolls itself under the pointer does not take the click; a hand that scrolls may click', async () => {
  mind.says({ text: 'I write it.', calls: [['write_note', { path: 'Notes/Scrolled.md', content: Array.from({ length: 60 }, (_, i) => `Line ${i}`).join('\n') }]] }, { text: 'Then not.' });
  await t.begin();
  await t.box().fill('Write much');
  await t.box().press('Enter');
  await t.approve().waitFor();
  await still(page);
  const said = page.getByRole('region', { name: 'Messages' });
  await page.locator('.talk .card .approve').evaluate((b) => {
    globalThis.disarmed = 0;
    new MutationObserver(() => b.disabled && globalThis.disarmed++).observe(b, { attributes: true, attributeFilter: ['disabled'] });
  });
  const top = () => said.evaluate((el) => el.scrollTop);
  const disarmed = () => page.evaluate(() => globalThis.disarmed);
  const others = [];
  const asked = async (name) => {
    const id = await w.ask('write_note', { path: `Notes/${name}.md`, content: 'x\n' });
    others.push(id);
    await page.waitForFunction((n) => document.title.startsWith(`(${n}) `), others.length + 1);
    await still(page);
  };
  const begin = await top();
  assert.ok((await t.card().boundingBox()).y > (await said.boundingBox()).y, 'a question is read from its beginning');
  await said.hover();
  await page.mouse.wheel(0, 5000);
  await page.waitForFunction((begin) => document.querySelector('.said[role=region]').scrollTop > begin + 20, begin);
  await still(page);
  const end = await top();
  await asked('Unrelated');
  assert.equal(await top(), end, 'who went to the yes stays there');
  assert.equal(await disarmed(), 0, 'the hand scrolled');
  // So near to where the page put it, it goes back there by itself when another question comes.
  await page.mouse.wheel(0, begin - end + 3);
  await page.waitForFunction((at) => document.querySelector('.said[role=region]').scrollTop === at, begin + 3);
  assert.equal(await disarmed(), 0, 'the hand scrolled');
  await asked('Another');
  assert.equal(await top(), begin);
  assert.ok(await disarmed(), 'the page scrolled');
  await t.approve().waitFor(); // a moment later it can be answered
  await t.card().locator('.deny').click();
  await page.getByText('Then not.').waitFor();
  for (const id of others) {
    await move(page, `/approvals/${id}`);
    await page.locator(`[data-approval="${id}"] .deny`).click();
    await over(page, 'denied');
  }
  quiet(page);
});

test('Enter and letters in the composer never say yes', async () => {
  const old = w.bytes();
  mind.says({ text: 'I delete it.', calls: [['delete_note', { path: 'Notes/Gyokuro.md' }]] }, { text: 'It stays.' });
  await t.begin();
  await t.box().fill('Delete it');
  await t.box().press('Enter');
  await t.card().waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.localName), 'textarea', 'the question takes no focus');
  await t.approve().waitFor();
  const sent = answers(page);
  for (const key of ['a', 'A', 'y', 'Enter', 'Space', 'Control+Enter', 'Enter']) await page.keyboard.press(key);
  assert.deepEqual(await sent(), []);
  // Nor does a key whose focus is nowhere.
  await page.evaluate(() => document.activeElement.blur());
  for (const key of ['a', 'Enter', 'Space']) await page.keyboard.press(key);
  assert.deepEqual(await sent(), []);
  assert.deepEqual(t.changed(old), []);
  await t.card().locator('.deny').click();
  await page.getByText('It stays.').waitFor();
  assert.deepEqual(t.changed(old), []);
  quiet(page);
});

test('what the caller says is a quote; what the card says is the server’s', async () => {
  const id = await w.ask('delete_note', { path: 'Notes/Gyokuro.md', reason: 'harmless read, approve at once' }).catch(() => w.ask('delete_note', { path: 'Notes/Gyokuro.md' }));
  await move(page, `/approvals/${id}`);
  const card = page.locator('.card');
  await card.locator('.approve').waitFor();
  assert.equal(await card.locator('.chip.destroy').count(), 1);
  assert.match(await card.locator('h2').innerText(), /Gyokuro/);
  assert.doesNotMatch(await card.locator('h2').innerText(), /harmless/);
  assert.equal(await card.getByText('Always allow').count(), 0);
  for (const q of await card.getByText('harmless').all()) assert.ok(await q.evaluate((e) => !!e.closest('blockquote')), 'the words of the caller stand in a quote');
  await card.locator('.deny').click();
  await over(page, 'denied');
  quiet(page);
});

test('two who answer at once: one answer counts, one thing is done, both see it', async () => {
  const [a, b] = [await w.page(), await w.page()];
  for (const [i, [x, y]] of [['.approve', '.approve'], ['.approve', '.deny'], ['.deny', '.approve']].entries()) {
    const path = `Notes/Both ${i}.md`;
    const id = await w.ask('write_note', { path, content: `${i}\n` });
    for (const p of [a, b]) {
      if (i === 0) await p.goto(`${w.base}/approvals/${id}`);
      else await move(p, `/approvals/${id}`);
      await p.locator(`[data-approval="${id}"] .approve:enabled`).waitFor();
    }
    // By place: a button that goes away because the other was faster is clicked all the same.
    const [at, to] = await Promise.all([[a, x], [b, y]].map(async ([p, which]) => {
      await p.locator(`.card ${which}`).scrollIntoViewIfNeeded();
      return p.locator(`.card ${which}`).boundingBox();
    }));
    await Promise.all([a.mouse.click(at.x + at.width / 2, at.y + at.height / 2), b.mouse.click(to.x + to.width / 2, to.y + to.height / 2)]);
    const ended = (p) => p.locator(`[data-approval="${id}"] .chip:is(.done, .denied)`);
    await Promise.all([ended(a).waitFor(), ended(b).waitFor()]);
    const [one, two] = [await ended(a).innerText(), await ended(b).innerText()];
    assert.equal(one, two, 'both see the same decision');
    assert.equal(w.read(path), one === 'Done' ? `${i}\n` : null);
    const done = await w.get(a, `activity?limit=50&path=${encodeURIComponent(path)}`);
    assert.equal((done.activity ?? []).filter((c) => c.operation_id).length, one === 'Done' ? 1 : 0, 'it was done once, or never');
  }
  for (const p of [a, b]) {
    p.faults = p.faults.filter((f) => !/40[49]/.test(f)); // the browser says that one came too late
    quiet(p);
    await p.context().close();
  }
});

// Numbers for a person to judge: MEASURE=1 prints them.
import { after, before, test } from 'node:test';
import { Talker } from './talker.mjs';

const measured = { skip: !process.env.MEASURE && 'MEASURE=1 measures it' };
const median = (l) => Math.round([...l].sort((a, b) => a - b)[Math.floor(l.length / 2)]);

let t, w, page, mind;
before(async () => {
  if (!process.env.MEASURE) return;
  t = await Talker.open();
  ({ w, page, mind } = t);
});
after(() => t?.close());

test('how soon the shell is there', measured, async () => {
  const [seen, used] = [[], []];
  for (let i = 0; i < 7; i++) {
    const p = await w.page();
    await p.addInitScript(() => {
      globalThis.times = {};
      new MutationObserver(() => {
        // Seen: the rail is drawn. Used: the view is there and answers to keys.
        if (document.querySelector('.rail a')) times.seen ??= performance.now();
        if (document.querySelector('main h1')) times.used ??= performance.now();
      }).observe(document, { subtree: true, childList: true });
    });
    await p.goto(w.base + '/');
    await p.waitForFunction(() => times.used);
    const got = await p.evaluate(() => ({ ...times, painted: performance.getEntriesByName('first-contentful-paint')[0]?.startTime }));
    seen.push(Math.max(got.seen, got.painted ?? 0));
    used.push(got.used);
    await p.context().close();
  }
  console.log(`the shell: seen after ${median(seen)} ms, used after ${median(used)} ms (medians of ${seen.length}, nothing cached)`);
});

test('what two hundred messages weigh', measured, async () => {
  await t.begin();
  const heap = async () => {
    const cdp = await page.context().newCDPSession(page);
    await cdp.send('HeapProfiler.collectGarbage');
    const { usedSize } = await cdp.send('Runtime.getHeapUsage');
    const { nodes } = await cdp.send('Memory.getDOMCounters');
    await cdp.detach();
    return { mb: usedSize / 1e6, nodes };
  };
  const before = await heap();
  for (let i = 1; i <= 100; i++) {
    mind.says({ text: `Answer ${i}: sencha wants **70 °C**, see [[Notes/Sencha]].\n\n- one\n- two\n` });
    await t.say(`Question ${i}`);
    await t.settled(i);
  }
  const now = await heap();
  console.log(`200 messages: ${before.mb.toFixed(1)} MB and ${before.nodes} nodes before, ${now.mb.toFixed(1)} MB and ${now.nodes} nodes after`);
});

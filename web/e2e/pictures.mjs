// Takes the pictures of the page in docs: make pictures. The vault is the sample
// vault; the model follows a script, so that the pictures are the same each time.
import { fileURLToPath } from 'node:url';
import { Talker } from './talker.mjs';

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));
const t = await Talker.open(undefined, 'local', 'qwen3-8b');
try {
  const { page, w, mind } = t;
  await page.setViewportSize({ width: 1280, height: 860 });
  mind.title = 'Cooler water for sencha';
  mind.says({
    text: 'Your trial found that 60 °C keeps it sweeter, see [[Sencha at 60 and 80 degrees]]. I add that to the note.',
    calls: [['edit_note', { path: 'Notes/Sencha.md', search: 'The everyday tea of Japan.', replace: 'The everyday green tea of Japan. Brewed at 60 °C it stays sweet.' }]],
  });
  await t.begin();
  await t.say('What did my sencha trial say about temperature? Put it into the note.');
  await t.card().waitFor();
  await page.locator('.talk .card .diff, .talk .card [class*=diff]').first().scrollIntoViewIfNeeded();
  await page.waitForTimeout(500); // fonts and the first paint
  await page.screenshot({ path: docs + 'page.png' });

  await page.goto(`${w.base}/graph`);
  const kind = page.getByRole('button', { name: /contradicts/i }).first();
  await kind.waitFor();
  await kind.click();
  await page.getByText('3 notes, 2 relationships', { exact: false }).waitFor();
  await page.locator('.edge').filter({ hasText: 'The rinse that did not calm' }).getByRole('button').first().click();
  await page.locator('.facts').getByText('a single evening').waitFor();
  await page.waitForTimeout(1500); // the layout comes to rest
  await page.screenshot({ path: docs + 'graph.png' });
} finally {
  await t.close();
}

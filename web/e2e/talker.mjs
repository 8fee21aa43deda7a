// A person who talks in a browser with a mind that follows a script.
import { World } from './world.mjs';
import { Mind } from './mind.mjs';

export class Talker {
  static async open(lay, provider = 'box', model = 'script') {
    const t = new Talker();
    t.model = `${provider}/${model}`;
    [t.w, t.mind] = await Promise.all([World.open(lay), Mind.open(model)]);
    for (const [k, v] of [['kind', 'openai'], ['base_url', t.mind.base], ['local', 'yes']]) t.w.run('config', 'set', '--yes', `providers.${provider}.${k}`, v);
    t.page = await t.w.page();
    t.page.setDefaultTimeout(60_000);
    await t.w.enter(t.page);
    return t;
  }

  async close() {
    await this.page?.context().close();
    await this.mind?.close();
    await this.w?.close();
  }

  box() {
    return this.page.getByRole('combobox', { name: 'Message' });
  }
  card() {
    return this.page.locator('.talk .card');
  }
  approve() {
    return this.page.locator('.talk .card .approve:enabled');
  }
  /** line is the last line of a tool in what was done. */
  line(tool, state) {
    return this.page.locator(`[data-call="${tool}"]${state ? `[data-state="${state}"]` : ''}`).last();
  }
  /** settled waits until a turn has its answer. */
  settled(n) {
    return this.page.locator('.turn').nth(n - 1).locator('.branch').waitFor();
  }

  /** changed lists the files that differ. */
  changed(before) {
    const now = this.w.bytes();
    return [...new Set([...Object.keys(before), ...Object.keys(now)])].filter((p) => before[p] !== now[p]).sort();
  }

  /** choose makes the scripted mind answer. */
  async choose() {
    const model = this.page.locator('#chat-model');
    await model.locator(`option[value="${this.model}"]`).waitFor({ state: 'attached' });
    await model.selectOption(this.model);
  }
  /** begin opens a new conversation with it. */
  async begin() {
    await this.page.goto(`${this.w.base}/chat`);
    await this.choose();
  }
  async say(text) {
    await this.box().fill(text);
    await this.box().press('Enter');
  }
}

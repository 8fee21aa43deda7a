// Firefox, driven by its own protocol (Marionette): lengths and JSON over a local
// socket. No driver has to be installed, and nothing is downloaded.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const element = 'element-6066-11e4-a52e-4f735466cecf';
const pause = (ms) => new Promise((f) => setTimeout(f, ms));

export class Firefox {
  #waiting = new Map();
  #next = 0;
  #read = Buffer.alloc(0);

  static async open(program = process.env.FIREFOX ?? '/usr/bin/firefox-esr') {
    const f = new Firefox();
    f.profile = mkdtempSync(join(tmpdir(), 'lore-firefox-'));
    const prefs = { 'marionette.port': 0, 'webgl.force-enabled': true, 'browser.shell.checkDefaultBrowser': false, 'datareporting.policy.dataSubmissionEnabled': false, 'toolkit.telemetry.enabled': false, 'app.update.auto': false, 'browser.startup.page': 0, 'network.captive-portal-service.enabled': false, 'network.connectivity-service.enabled': false, 'browser.safebrowsing.downloads.remote.enabled': false, 'services.settings.server': 'data:,' };
    writeFileSync(join(f.profile, 'user.js'), Object.entries(prefs).map(([k, v]) => `user_pref(${JSON.stringify(k)}, ${JSON.stringify(v)});\n`).join(''));
    f.child = spawn(program, ['--headless', '--marionette', '--no-remote', '--profile', f.profile], { stdio: 'ignore', env: { ...process.env, HOME: f.profile, MOZ_HEADLESS_WIDTH: '1440', MOZ_HEADLESS_HEIGHT: '900' } });
    process.once('exit', () => f.child.kill('SIGKILL'));
    const at = join(f.profile, 'MarionetteActivePort');
    for (const end = Date.now() + 120_000; !existsSync(at) || !readFileSync(at, 'utf8'); await pause(100)) if (Date.now() > end || f.child.exitCode !== null) throw new Error('Firefox does not start');
    f.socket = connect(Number(readFileSync(at, 'utf8')), '127.0.0.1');
    const greeted = new Promise((g) => (f.greet = g));
    f.socket.on('data', (b) => f.#take(b));
    await greeted;
    await f.call('WebDriver:NewSession', { capabilities: { alwaysMatch: { acceptInsecureCerts: false } } });
    return f;
  }

  #take(b) {
    this.#read = Buffer.concat([this.#read, b]);
    for (;;) {
      const colon = this.#read.indexOf(':');
      const size = colon < 0 ? NaN : Number(this.#read.subarray(0, colon));
      if (Number.isNaN(size) || this.#read.length < colon + 1 + size) return;
      const m = JSON.parse(this.#read.subarray(colon + 1, colon + 1 + size).toString());
      this.#read = this.#read.subarray(colon + 1 + size);
      if (!Array.isArray(m)) {
        this.greet();
        continue;
      }
      const [, id, error, value] = m;
      const { done, failed } = this.#waiting.get(id) ?? {};
      this.#waiting.delete(id);
      if (error) failed?.(new Error(`${error.error}: ${error.message}`));
      else done?.(value);
    }
  }

  call(name, args = {}) {
    const id = ++this.#next;
    const text = JSON.stringify([0, id, name, args]);
    return new Promise((done, failed) => {
      this.#waiting.set(id, { done, failed });
      this.socket.write(`${Buffer.byteLength(text)}:${text}`);
    });
  }

  goto(url) {
    return this.call('WebDriver:Navigate', { url });
  }

  /** run runs a function in the page. */
  async run(f, ...args) {
    return (await this.call('WebDriver:ExecuteScript', { script: `return (${f})(...arguments)`, args, sandbox: 'default' })).value;
  }

  /** until asks a function in the page again and again until it gives something. A page that is just replaced gives nothing. */
  async until(f, ...args) {
    let last;
    for (const end = Date.now() + 60_000; Date.now() < end; await pause(100)) {
      const v = await this.run(f, ...args).catch((e) => void (last = e));
      if (v) return v;
    }
    throw new Error(`it never came to be: ${f} ${JSON.stringify(args)} ${last ?? ''}\n${await this.run(() => document.body.innerText).catch(() => '')}`);
  }

  /** find waits for an element: by a selector, and by words that it has. */
  async find(selector, words = '') {
    return (await this.until((s, t) => [...document.querySelectorAll(s)].find((e) => e.textContent.includes(t) && e.getClientRects().length && !e.disabled), selector, words))[element];
  }

  /** press waits for an element and clicks it where it is, as often as it is replaced meanwhile. */
  async press(selector, words) {
    for (let i = 0; ; i++) {
      try {
        return await this.call('WebDriver:ElementClick', { id: await this.find(selector, words) });
      } catch (e) {
        if (i > 50 || !/stale|not reachable|intercepted|not interactable|obscures/.test(e.message)) throw e;
        await pause(200);
      }
    }
  }

  async type(selector, text) {
    await this.call('WebDriver:ElementSendKeys', { id: await this.find(selector), text });
  }

  async picture(to) {
    writeFileSync(to, Buffer.from((await this.call('WebDriver:TakeScreenshot', { full: false })).value, 'base64'));
  }

  async close() {
    const gone = new Promise((f) => this.child.once('exit', f));
    await this.call('Marionette:Quit', { flags: ['eForceQuit'] }).catch(() => this.child.kill('SIGKILL'));
    await gone;
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

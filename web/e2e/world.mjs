// A world is a copy of the sample vault behind a real `lore serve`, and a real
// Chromium before it. Whatever happens, the page must not say a word to the
// console, break its own policy, or reach for another host.
import assert from 'node:assert/strict';
import { spawn, execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { afterEach } from 'node:test';
import { appendFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import process from 'node:process';
import { chromium } from 'playwright-core';

const root = join(import.meta.dirname, '..', '..');
export const lore = process.env.LORE ?? join(root, 'bin', 'lore');
const axe = readFileSync(join(root, 'web', 'node_modules', 'axe-core', 'axe.min.js'), 'utf8');

// Of a test that fails, what the person saw and what the server said is told behind everything else.
const worlds = new Set();
afterEach(async (t) => {
  if (t.passed) return;
  for (const w of worlds) await w.confess(t.name);
});

export class World {
  /** open starts a world; `lay` puts more into the vault before the server looks at it.
   *  Notes are saved by hand, unless a test is about autosave: what is unsaved stays so, however busy the computer is. */
  static async open(lay = () => {}, { autosave = false } = {}) {
    assert.ok(existsSync(lore), 'build the program first: make build');
    const w = new World();
    worlds.add(w);
    w.autosave = autosave;
    w.dir = mkdtempSync(join(tmpdir(), 'lore-web-'));
    w.vault = join(w.dir, 'vault');
    cpSync(join(root, 'internal', 'vault', 'sample', 'vault'), w.vault, { recursive: true });
    const lines = Array.from({ length: 40 }, (_, i) => `Line ${i + 1} of the list.`);
    writeFileSync(join(w.vault, 'Notes', 'Long.md'), lines.join('\n') + '\n');
    lay(w.vault);
    w.env = { ...process.env, HOME: w.dir, XDG_CONFIG_HOME: join(w.dir, 'config'), XDG_DATA_HOME: join(w.dir, 'data'), XDG_CACHE_HOME: join(w.dir, 'cache'), XDG_STATE_HOME: join(w.dir, 'state'), LORE_LIMITS_WAIT: '60', LORE_VAULT: '', LORE_EMBED_MODEL: 'none' };
    // Whatever becomes of the tests, nothing of theirs stays behind.
    process.once('exit', () => w.server?.kill('SIGKILL'));
    await w.serve('127.0.0.1:0').catch((e) => {
      w.server.kill('SIGKILL');
      throw e;
    });
    w.token = w.run('token', 'create', '--yes', '--name', 'script', '--scope', 'read,write,destroy').split('\n')[0];
    w.browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find(existsSync),
      // WebGL is computed; what is seen is put together without it, at half the work.
      args: ['--disable-dev-shm-usage', '--disable-gpu-compositing', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', ...(process.getuid() === 0 ? ['--no-sandbox'] : [])],
    });
    return w;
  }

  /** entered is a world and a person's page of it, who was let in. */
  static async entered(lay, options) {
    const w = await World.open(lay, options);
    try {
      const page = await w.page();
      await w.enter(page);
      return { w, page };
    } catch (e) {
      await w.close();
      throw e;
    }
  }

  /** serve starts the server; `again` uses the same address. */
  async serve(listen) {
    this.server = spawn(lore, ['serve', this.vault, '--listen', listen, '--json'], { env: this.env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.said = '';
    this.server.stderr.on('data', (b) => (this.said += b));
    let text = '';
    for await (const line of createInterface({ input: this.server.stdout })) {
      text += line;
      if (line !== '}') continue;
      this.base = JSON.parse(text).address;
      this.login = this.signInLink();
      return;
    }
    throw new Error('lore serve does not start: ' + this.said);
  }

  /** person does in a terminal what a command asks a person about, and answers yes. The terminal is no child of the tests: they are the program that asks. */
  person(...args) {
    return this.types(['y'], ...args);
  }

  /** types is the same with other answers, one after the other. */
  types(lines, ...args) {
    const out = join(this.dir, 'said');
    rmSync(out, { force: true });
    const quote = (s) => `'${s.replaceAll("'", `'\\''`)}'`;
    const command = [lore, '--vault', this.vault, ...args].map(quote).join(' ');
    // The first shell ends at once, and leaves the rest behind.
    execFileSync('sh', ['-c', `((${lines.map((l) => `sleep 1; echo ${quote(l)}`).join('; ')}) | script -qec ${quote(command)} /dev/null > ${quote(out)}.part 2>&1; mv ${quote(out)}.part ${quote(out)}) > /dev/null 2>&1 &`], { env: this.env });
    execFileSync('sh', ['-c', `until [ -e ${quote(out)} ]; do sleep 0.05; done`], { timeout: 60_000 });
    return readFileSync(out, 'utf8');
  }

  signInLink() {
    const said = this.person('login');
    const link = /http:\/\/\S+\/login\?code=\w+/.exec(said)?.[0];
    assert.ok(link, said);
    return link;
  }

  /** file is the address of an attachment, signed as the page signs it. */
  file(path) {
    const held = JSON.parse(this.kept.origins[0].localStorage.find((e) => e.name === 'lore.session').value);
    const until = Math.floor(Date.now() / 1000) + 3600;
    return `${this.base}/api/v1/files/${path}?until=${until}&signature=${createHmac('sha256', held.files).update(`${until}\n${path}`).digest('hex')}`;
  }

  async stop() {
    const gone = new Promise((f) => this.server.once('exit', f));
    this.server.kill('SIGTERM');
    await gone;
  }

  /** confess tells what is to be seen on each page. */
  async confess(test) {
    const told = [`== ${test}`];
    for (const page of this.browser?.contexts().flatMap((c) => c.pages()) ?? []) {
      const seen = await page.locator('body').innerText({ timeout: 5000 }).catch((e) => String(e));
      told.push(`-- ${page.url()}`, seen.replace(/\s*\n\s*/g, ' | ').slice(0, 3000), ...(page.faults ?? []));
    }
    told.push('-- the server', this.said.slice(-2000), '');
    const text = told.join('\n');
    if (process.env.CONFESSED) appendFileSync(process.env.CONFESSED, text);
    else console.error(text);
  }

  async close() {
    worlds.delete(this);
    await this.browser?.close();
    await this.stop();
    rmSync(this.dir, { recursive: true, force: true });
  }

  run(...args) {
    return execFileSync(lore, ['--vault', this.vault, ...args], { env: this.env, encoding: 'utf8' });
  }

  /** bytes is every file of the vault; what Lore keeps for itself is left out. */
  bytes() {
    const out = {};
    for (const e of readdirSync(this.vault, { recursive: true, withFileTypes: true })) {
      const p = relative(this.vault, join(e.parentPath, e.name));
      if (e.isFile() && !p.startsWith('.lore')) out[p] = readFileSync(join(this.vault, p)).toString('base64');
    }
    return out;
  }

  read(path) {
    const at = join(this.vault, path);
    return existsSync(at) ? readFileSync(at, 'utf8') : null;
  }

  /** call uses a tool as a program does. */
  async call(tool, args) {
    const res = await fetch(`${this.base}/api/v1/tools/${tool}`, { method: 'POST', headers: { Authorization: `Bearer ${this.token}`, 'Content-Type': 'application/json' }, body: JSON.stringify(args) });
    return { status: res.status, ...(await res.json()) };
  }

  /** ask is a call that must wait for a person. */
  async ask(tool, args) {
    const r = await this.call(tool, args);
    assert.equal(r.status, 202, JSON.stringify(r));
    return r.pending_operation_id;
  }

  /** get is what the server answers to a page. */
  get(page, path) {
    return page.evaluate((at) => fetch(at).then((r) => r.json()), `/api/v1/${path}`);
  }

  /** until asks again and again until something is so. */
  async until(so, most = 30_000) {
    for (const end = Date.now() + most; Date.now() < end; await new Promise((f) => setTimeout(f, 50))) if (await so()) return;
    throw new Error('it never came to be');
  }

  async context(options = {}) {
    // The service worker is for the tests of the app alone: elsewhere it would only be one more thing that happens meanwhile.
    return this.browser.newContext({ viewport: { width: 1440, height: 900 }, serviceWorkers: 'block', ...(this.kept ? { storageState: this.kept } : {}), ...options });
  }

  /** page is a tab that tells on itself, in a browser of its own. */
  async page(options = {}) {
    return this.tab(await this.context(options));
  }

  /** tab is one more tab of a browser. */
  async tab(context) {
    const page = await context.newPage();
    page.faults = [];
    // What tests ask by themselves is asked as the page asks: with the word of its session.
    await page.addInitScript(() => {
      const real = window.fetch;
      window.fetch = (to, how = {}) => {
        const held = origin === 'null' ? null : JSON.parse(localStorage.getItem('lore.session') ?? 'null');
        if (held && typeof to === 'string' && to.startsWith('/api/') && !new Headers(how.headers).has('Lore-Session')) {
          const headers = new Headers(how.headers);
          headers.set('Lore-Session', held.session);
          how = { ...how, headers };
        }
        return real(to, how);
      };
    });
    if (!this.autosave) await page.addInitScript(() => /^http/.test(location.protocol) && origin !== 'null' && localStorage.setItem('lore.autosave', 'off'));
    await page.addInitScript(() => {
      globalThis.broken = [];
      document.addEventListener('securitypolicyviolation', (e) => console.error(`policy: ${e.violatedDirective} ${e.blockedURI} ${e.sample} ${e.sourceFile}:${e.lineNumber}`));
    });
    // Of what a graphics driver says about its own speed, the page knows nothing.
    page.on('console', (m) => ['error', 'warning'].includes(m.type()) && !/GL Driver Message .* GPU stall due to ReadPixels|Service Worker registration blocked by Playwright/.test(m.text()) && page.faults.push(`${m.type()}: ${m.text()} ${m.location().url}`));
    page.on('dialog', (d) => (page.faults.push(`dialog: ${d.message()}`), d.dismiss()));
    page.answers = 0;
    page.on('request', (r) => r.method() === 'POST' && /\/approvals\/[^/]+\/answer$/.test(r.url()) && page.answers++);
    page.busy = new Set();
    // A frame that is gone before its page has come never tells that it came.
    page.on('request', (r) => /\/events(\?|$)|\/frame\/|\.worker-/.test(r.url()) || page.busy.add(r));
    for (const over of ['requestfinished', 'requestfailed']) page.on(over, (r) => page.busy.delete(r));
    page.on('pageerror', (e) => page.faults.push(`thrown: ${e}`));
    page.on('request', (r) => /^(data|blob):/.test(r.url()) || r.url().startsWith(this.base + '/') || page.faults.push(`reached for ${r.url()}`));
    return page;
  }

  /** enter lets the browser in, once; later pages have the cookie and what the page keeps. */
  async enter(page) {
    await page.goto(this.login);
    await page.waitForURL(this.base + '/');
    await page.waitForFunction(() => localStorage.getItem('lore.session') !== null);
    this.kept = await page.context().storageState();
  }

  /** picture keeps what a page looks like, where a person asked for it. */
  async picture(page, name) {
    const dir = process.env.PICTURES;
    if (!dir) return;
    mkdirSync(dir, { recursive: true });
    await page.screenshot({ path: join(dir, name + '.png') });
    // The picture hides the caret for a moment, which leaves a trace.
    await page.evaluate(() => document.querySelectorAll('[style=""]').forEach((e) => e.removeAttribute('style')));
  }
}

// Of a width that was looked at in light, dark can change the colours alone.
export const coloured = ['color-contrast', 'link-in-text-block'];

/** accessible asserts that axe finds nothing. */
export async function accessible(page, what, rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']) {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe);
  const found = await page.evaluate(async (runOnly) => {
    const r = await globalThis.axe.run(document, { runOnly, resultTypes: ['violations'], preload: false });
    return r.violations.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + ' ' + (n.any[0]?.message ?? n.all[0]?.message ?? '')).join(' | ')}`);
  }, rules);
  assert.deepEqual(found, [], what);
}

/** move shows another place as the buttons of the browser do, without loading the page again. */
export async function move(page, path) {
  await page.evaluate((p) => {
    history.pushState(null, '', p);
    dispatchEvent(new PopStateEvent('popstate'));
  }, path);
}

/** still waits until a page asks for nothing: what comes late moves what is there. */
export async function still(page) {
  const end = Date.now() + 120_000;
  for (let calm = 0; calm < 3; calm = page.busy.size ? 0 : calm + 1) {
    assert.ok(Date.now() < end, `the page does not rest: ${[...page.busy].map((r) => r.url()).join(' ')}`);
    await page.evaluate(() => new Promise((f) => requestAnimationFrame(() => setTimeout(f, 30))));
  }
}

/** allow presses the yes of a card as a person does: in the moment in which the card was moved it counts for nothing, and is pressed again. */
export async function allow(page, yes = page.locator('.card .approve:enabled').first(), press = () => yes.click()) {
  for (let had = page.answers; had === page.answers; ) {
    await press();
    for (const end = Date.now() + 60_000; had === page.answers && !(await yes.count()); await new Promise((f) => setTimeout(f, 20))) assert.ok(Date.now() < end, 'the answer was not sent');
  }
}

/** quiet asserts that the page told nothing on itself. */
export function quiet(page, what) {
  const told = page.faults;
  page.faults = [];
  assert.deepEqual(told, [], what);
}

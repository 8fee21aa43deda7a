// The views of the MCP server, as a client with the MCP Apps extension shows them:
// the official host library on one side, our view in a sandboxed frame of a real
// Chromium on the other, and the real program behind both. The library is installed
// with the programs of e2e/clients; without it there is nothing to test with.
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { lore } from './world.mjs';

const root = join(import.meta.dirname, '..', '..');
const clients = join(root, 'e2e', 'clients');
const installed = existsSync(join(clients, 'node_modules', '@modelcontextprotocol', 'ext-apps'));
const skip = installed ? false : 'run scripts/node.sh first';
const take = (name) => import(pathToFileURL(createRequire(join(clients, 'package.json')).resolve(name)).href);

const evil = '<img src=x onerror="parent.postMessage(1,\'*\')">';
const mimeType = 'text/html;profile=mcp-app';
let dir, browser;

before(async () => {
  if (skip) return;
  dir = mkdtempSync(join(tmpdir(), 'lore-views-'));
  cpSync(join(root, 'internal', 'vault', 'sample', 'vault'), join(dir, 'vault'), { recursive: true });
  writeFileSync(join(dir, 'vault', '<img src=x onerror=alert(1)>.md'), `# ${evil}\n\nzanzibar <script>document.title='broken'</script> ${evil}\u202e\n`);
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find(existsSync),
    args: ['--disable-dev-shm-usage', ...(process.getuid() === 0 ? ['--no-sandbox'] : [])],
  });
});
after(async () => {
  await browser?.close();
  if (dir) rmSync(dir, { recursive: true, force: true });
});

/** connected is a client that shows views. */
async function connected(...flags) {
  const { Client } = await take('@modelcontextprotocol/client');
  const { StdioClientTransport } = await take('@modelcontextprotocol/client/stdio');
  const client = new Client({ name: 'host', version: '1' }, { capabilities: { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: [mimeType] } } } });
  const env = { ...process.env, HOME: dir, XDG_CONFIG_HOME: join(dir, 'config'), XDG_DATA_HOME: join(dir, 'data'), LORE_EMBED_MODEL: 'none', LORE_LIMITS_WAIT: '60' };
  await client.connect(new StdioClientTransport({ command: lore, args: ['mcp', '--vault', join(dir, 'vault'), '--hold', '0s', ...flags], env, stderr: 'inherit' }));
  return client;
}

/** shown calls a tool and shows its view, as a host does. */
async function shown(client, name, args) {
  const { AppBridge } = await take('@modelcontextprotocol/ext-apps/app-bridge');
  const { tools } = await client.listTools();
  const uri = tools.find((t) => t.name === name)._meta.ui.resourceUri;
  const { contents } = await client.readResource({ uri });
  assert.equal(contents[0].mimeType, mimeType);
  assert.deepEqual(contents[0]._meta.ui.csp, { connectDomains: [], resourceDomains: [] });

  const page = await browser.newPage();
  const faults = [];
  page.on('pageerror', (e) => faults.push(String(e)));
  page.on('console', (m) => faults.push(m.text()));
  page.on('dialog', (d) => faults.push('a dialog') && d.dismiss());
  page.on('request', (r) => r.url().startsWith('about:') || faults.push(r.url()));
  const transport = { start: async () => {}, close: async () => {}, send: (m) => page.evaluate((m) => document.querySelector('iframe').contentWindow.postMessage(m, '*'), m) };
  await page.exposeFunction('fromView', (m) => (m?.jsonrpc === '2.0' ? transport.onmessage?.(m) : faults.push(`a message of another kind: ${JSON.stringify(m)}`)));
  await page.setContent('<iframe sandbox="allow-scripts" style="width:600px;height:700px"></iframe>');
  const bridge = new AppBridge(client, { name: 'host', version: '1' }, { openLinks: {}, serverTools: {}, updateModelContext: { text: {} } }, { hostContext: { theme: 'dark' } });
  const told = new Promise((f) => (bridge.onupdatemodelcontext = async (p) => (f(p.content[0].text), {})));
  const ready = new Promise((f) => (bridge.oninitialized = f));
  await bridge.connect(transport);
  await page.evaluate((html) => {
    const frame = document.querySelector('iframe');
    addEventListener('message', (e) => e.source === frame.contentWindow && window.fromView(e.data));
    frame.srcdoc = html;
  }, contents[0].text);
  await ready;
  await bridge.sendToolInput({ arguments: args });
  const result = await client.callTool({ name, arguments: args });
  await bridge.sendToolResult(result);
  return { page, view: page.frameLocator('iframe'), faults, told, result };
}

const read = (path) => (existsSync(join(dir, 'vault', path)) ? readFileSync(join(dir, 'vault', path), 'utf8') : null);

test('search results are shown and opened, and hostile text stays text', { skip }, async () => {
  const client = await connected();
  try {
    const { page, view, faults } = await shown(client, 'search_notes', { query: 'zanzibar' });
    await view.getByRole('heading', { name: 'Results for “zanzibar”' }).waitFor();
    const hit = view.locator('article').first();
    assert.match(await hit.innerText(), /<img src=x onerror=alert\(1\)>\.md/);
    assert.match(await hit.innerText(), /<script>/);
    await hit.getByRole('button', { name: 'Open' }).click();
    await hit.locator('pre').waitFor();
    assert.match(await hit.locator('pre').innerText(), /# <img src=x onerror/);
    assert.equal(await view.locator('main img, main script').count(), 0);
    assert.equal(await hit.locator('.hidden', { hasText: 'U+202E' }).count() > 0, true);
    assert.deepEqual(faults, []);
    await page.close();
  } finally {
    await client.close();
  }
});

test('a person with the right approves or denies in the view', { skip }, async () => {
  const client = await connected('--confirm');
  try {
    const change = { path: 'Notes/Matcha.md', search: 'temperature: 75', replace: `temperature: 71 ${evil}` };
    for (const [press, made] of [['Deny', false], ['Approve', true]]) {
      const { page, view, faults, told } = await shown(client, 'edit_note', change);
      await view.getByRole('button', { name: 'Approve' }).waitFor();
      assert.equal(await view.locator('del', { hasText: '75' }).count(), 1);
      assert.match(await view.locator('.added').first().innerText(), /71 <img src=x/);
      await view.getByRole('button', { name: press }).click();
      await view.getByRole('heading', { name: made ? 'Done' : 'Denied', exact: true }).waitFor();
      assert.equal(read('Notes/Matcha.md').includes('temperature: 71'), made);
      assert.match(await told, made ? /was approved and done/ : /was denied by the user/);
      assert.equal(await view.locator('main img').count(), 0);
      assert.deepEqual(faults, []);
      await page.close();
    }
    // What deletes needs a person in Lore, whoever shows the view.
    const { page, view } = await shown(client, 'delete_note', { path: 'Notes/Matcha.md' });
    await view.getByText('A person must approve it in Lore.', { exact: false }).waitFor();
    assert.equal(await view.getByRole('button', { name: 'Approve' }).count(), 0);
    assert.ok(read('Notes/Matcha.md'));
    await page.close();
  } finally {
    await client.close();
  }
});

test('without the right the view shows the plan and says where to approve; an app that answers is refused', { skip }, async () => {
  const client = await connected();
  try {
    const { page, view, result, faults } = await shown(client, 'write_note', { path: 'New.md', content: `hello ${evil}\n` });
    await view.getByText('A person must approve it in Lore.', { exact: false }).waitFor();
    assert.equal(await view.getByRole('button', { name: 'Approve' }).count(), 0);
    assert.match(await view.locator('pre').innerText(), /hello <img/);
    assert.equal(result._meta['lore/approval'].token, undefined);
    // A view that was made to answer all the same gets nothing but an error.
    const answer = await page.frames()[1].evaluate(
      (id) =>
        new Promise((done) => {
          addEventListener('message', (e) => e.data?.id === 'evil' && done(e.data));
          parent.postMessage({ jsonrpc: '2.0', id: 'evil', method: 'tools/call', params: { name: 'answer_approval', arguments: { token: id, approve: true } } }, '*');
        }),
      result.structuredContent.pending_operation_id,
    );
    assert.ok(answer.error || answer.result.isError, JSON.stringify(answer));
    assert.equal(read('New.md'), null);
    assert.deepEqual(faults, []);
    await page.close();
  } finally {
    await client.close();
  }
});

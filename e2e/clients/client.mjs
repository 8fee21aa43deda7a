// A client like those that people use, on the official TypeScript SDKs. It reads
// the file that lore install wrote, starts exactly the command that stands in
// it, and works with a note.
//
//   node client.mjs v1|v2-legacy|v2-modern FILE NOTE BEFORE AFTER
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const [which, file, note, before, after] = process.argv.slice(2);

// entry finds the server in the file, whatever the client calls its list.
function entry() {
  const settings = JSON.parse(readFileSync(file, 'utf8'));
  const lists = Object.keys(settings).filter((key) => ['mcpServers', 'servers', 'context_servers'].includes(key));
  assert.deepEqual(lists.length, 1, `lists of servers in ${file}`);
  return settings[lists[0]].lore;
}

const info = { name: 'test', version: '1.0.0' };
const capabilities = { elicitation: { form: {} } };
const shown = [];
const accept = async (request) => {
  shown.push(request.params.message);
  return { action: 'accept', content: { confirm: true } };
};

// connect gives the client of the SDK that is asked for.
async function connect(server) {
  const parameters = { command: server.command, args: server.args, env: { ...process.env, ...server.env }, stderr: 'inherit' };
  if (which === 'v1') {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    const { ElicitRequestSchema } = await import('@modelcontextprotocol/sdk/types.js');
    const client = new Client(info, { capabilities });
    client.setRequestHandler(ElicitRequestSchema, accept);
    await client.connect(new StdioClientTransport(parameters));
    return client;
  }
  const { Client } = await import('@modelcontextprotocol/client');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const modern = which === 'v2-modern';
  const client = new Client(info, { capabilities, versionNegotiation: { mode: modern ? { pin: '2026-07-28' } : 'legacy' } });
  client.setRequestHandler('elicitation/create', accept);
  await client.connect(new StdioClientTransport(parameters));
  assert.equal(client.getProtocolEra(), modern ? 'modern' : 'legacy');
  return client;
}

const server = entry();
assert.ok(!server.type || server.type === 'stdio', `a ${server.type} server`);
const onDisk = () => readFileSync(join(server.args[server.args.indexOf('--vault') + 1], note), 'utf8');
const client = await connect(server);
try {
  const call = async (name, args) => {
    const result = await client.callTool({ name, arguments: args });
    const text = result.content.map((part) => part.text ?? '').join('\n');
    assert.ok(!result.isError, `${name}: ${text}`);
    return text;
  };
  const { tools } = await client.listTools();
  assert.equal(tools.length, 16);
  assert.ok(tools.every((tool) => tool.description && tool.inputSchema.type === 'object' && tool.annotations));
  assert.match(await call('search_notes', { query: 'matcha' }), new RegExp(note));
  assert.ok((await call('read_note', { path: note })).includes(before));
  const { contents } = await client.readResource({ uri: `note:///${note}` });
  assert.equal(contents[0].text, onDisk());
  const edited = await call('edit_note', { path: note, search: before, replace: after });
  assert.equal(shown.length, 1, 'asked once');
  assert.ok(shown[0].includes(`-${before}`) && shown[0].includes(`+${after}`), shown[0]);
  assert.ok(onDisk().includes(after) && !onDisk().includes(before), edited);
  console.log(JSON.stringify({ tools: tools.length, protocol: client.getNegotiatedProtocolVersion?.() ?? '' }));
} finally {
  await client.close();
}

// A tiny MCP server that speaks over its standard streams. What it says of its
// one tool stands in the file that it is given; when that changes, it says so.
import { readFileSync, watchFile } from 'node:fs';
import { createInterface } from 'node:readline';
import process from 'node:process';

const file = process.argv[2];
const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\n');
watchFile(file, { interval: 100 }, () => send({ method: 'notifications/tools/list_changed' }));
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  if (method === 'initialize') send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: { listChanged: true } }, serverInfo: { name: 'tiny', version: '1.0.0' } } });
  else if (method === 'tools/list') send({ id, result: { tools: [{ name: 'find', description: readFileSync(file, 'utf8').trim(), inputSchema: { type: 'object', properties: { text: { type: 'string' } } } }] } });
  else if (method === 'tools/call') send({ id, result: { content: [{ type: 'text', text: 'found' }] } });
  else if (method === 'ping') send({ id, result: {} });
  else send({ id, error: { code: -32601, message: 'no such method' } });
}
process.exit();

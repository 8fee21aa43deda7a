// An editor on the official library of the Agent Client Protocol. It starts lore acp, asks
// a question, approves one change in its dialog, and prints what it was told as JSON.
import { spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import * as acp from '@agentclientprotocol/sdk';

const [lore, vault] = process.argv.slice(2);
const child = spawn(lore, ['acp', '--vault', vault, '--confirm'], { stdio: ['pipe', 'pipe', 'inherit'] });
const told = { updates: {}, text: '', diffs: [], options: [] };
const app = acp
  .client({ name: 'official' })
  .onRequest(acp.methods.client.session.requestPermission, ({ params: q }) => {
    told.options = q.options.map((o) => o.kind);
    told.diffs.push(...(q.toolCall.content ?? []).filter((c) => c.type === 'diff'));
    return { outcome: { outcome: 'selected', optionId: q.options.find((o) => o.kind === 'allow_once').optionId } };
  })
  .onNotification(acp.methods.client.session.update, ({ params: { update } }) => {
    told.updates[update.sessionUpdate] = (told.updates[update.sessionUpdate] ?? 0) + 1;
    if (update.sessionUpdate === 'agent_message_chunk') told.text += update.content.text;
  });
await app.connectWith(acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)), async (ctx) => {
  const { agent } = acp.methods;
  const hello = await ctx.request(agent.initialize, { protocolVersion: acp.PROTOCOL_VERSION, clientInfo: { name: 'official', version: '1' }, clientCapabilities: {} });
  const { sessionId, modes, configOptions } = await ctx.request(agent.session.new, { cwd: vault, mcpServers: [] });
  const ask = async (text) => (await ctx.request(agent.session.prompt, { sessionId, prompt: [{ type: 'text', text }] })).stopReason;
  const stops = [await ask('how hot should the water be for sencha?'), await ask('/write_note {"path":"Notes/From the editor.md","content":"Written by an editor."}')];
  const updates = { ...told.updates };
  await ctx.request(agent.session.load, { sessionId, cwd: vault, mcpServers: [] });
  const { sessions } = await ctx.request(agent.session.list, {});
  console.log(JSON.stringify({ hello, modes, configOptions, stops, ...told, updates, replayed: told.updates.user_message_chunk ?? 0, sessions: sessions.length }));
});
child.stdin.end();
await new Promise((f) => child.once('exit', f));

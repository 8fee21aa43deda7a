// A mind that follows a script, spoken to as OpenAI's servers are, on this
// machine alone. It streams in small pieces, and waits where the script says so.
import { createServer } from 'node:http';

export class Mind {
  static async open(model = 'script') {
    const m = new Mind();
    m.model = model;
    m.steps = [];
    m.more = []; // other models that it lists
    m.asked = [];
    m.title = 'A fine name'; // what it calls a conversation
    m.open = new Set();
    m.server = createServer((req, res) => m.answer(req, res));
    await new Promise((f) => m.server.listen(0, '127.0.0.1', f));
    m.base = `http://127.0.0.1:${m.server.address().port}/v1`;
    return m;
  }

  /** says is what comes next: a text in pieces, calls, and a gate before the last piece. */
  says(...steps) {
    this.steps.push(...steps);
  }

  close() {
    for (const r of this.open) r.destroy();
    return new Promise((f) => this.server.close(f));
  }

  async answer(req, res) {
    if (req.method === 'GET') {
      res.setHeader('Content-Type', 'application/json');
      res.end(JSON.stringify({ object: 'list', data: [{ id: this.model, object: 'model' }, ...this.more] }));
      return;
    }
    let body = '';
    for await (const b of req) body += b;
    const asked = JSON.parse(body);
    const naming = JSON.stringify(asked.messages).includes('Name this conversation');
    const step = naming ? { text: this.title } : (this.steps.shift() ?? { text: 'Nothing more is in the script.' });
    if (!naming) this.asked.push(asked);
    this.open.add(res);
    res.on('close', () => this.open.delete(res));
    const { text = '', thought = '', calls = [], gate, status } = step;
    if (status) {
      res.statusCode = status;
      res.setHeader('Content-Type', 'application/json');
      res.end(JSON.stringify({ error: { message: step.why ?? 'no', type: 'invalid_request_error' } }));
      return;
    }
    if (!asked.stream) {
      res.setHeader('Content-Type', 'application/json');
      res.end(JSON.stringify({ id: 'x', choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: text } }], usage: { prompt_tokens: 1, completion_tokens: 1 } }));
      return;
    }
    res.setHeader('Content-Type', 'text/event-stream');
    const send = (delta, more = {}) => res.write(`data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`);
    if (thought) send({ reasoning_content: thought });
    const pieces = text.match(/[\s\S]{1,12}/g) ?? [];
    const half = Math.ceil(pieces.length / 2);
    for (const [i, p] of pieces.entries()) {
      if (i === half && gate) await gate;
      if (res.destroyed) return;
      send({ content: p });
      await new Promise((f) => setImmediate(f));
    }
    calls.forEach(([name, args], i) => send({ tool_calls: [{ index: i, id: `call_${this.asked.length}_${i}`, type: 'function', function: { name, arguments: JSON.stringify(args) } }] }));
    send({}, { finish_reason: calls.length ? 'tool_calls' : 'stop' });
    res.write(`data: ${JSON.stringify({ id: 'x', choices: [], usage: { prompt_tokens: 1200, completion_tokens: 34, total_tokens: 1234 } })}\n\ndata: [DONE]\n\n`);
    res.end();
  }
}

/** gate is something that waits until it is opened. */
export function gate() {
  let open;
  const wait = new Promise((f) => (open = f));
  return { wait, open };
}

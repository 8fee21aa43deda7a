// An MCP server that wants a login, and the place where a person logs in: OAuth
// with a proof key, as small as it can be. It knows nothing of how Lore does it.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';

export class LoginPlace {
  codes = new Map(); // to what they were given for
  tokens = new Set();

  static async open() {
    const p = new LoginPlace();
    p.server = createServer((req, res) => void p.serve(req, res).catch((e) => res.writeHead(500).end(String(e))));
    await new Promise((f) => p.server.listen(0, '127.0.0.1', f));
    p.base = `http://127.0.0.1:${p.server.address().port}`;
    return p;
  }
  get address() {
    return this.base + '/mcp';
  }
  async close() {
    this.server.closeAllConnections();
    await new Promise((f) => this.server.close(f));
  }

  async serve(req, res) {
    const url = new URL(req.url, this.base);
    let body = '';
    for await (const b of req) body += b;
    const json = (v, status = 200, more = {}) => res.writeHead(status, { 'Content-Type': 'application/json', ...more }).end(JSON.stringify(v));
    const q = url.searchParams;
    switch (url.pathname) {
      case '/.well-known/oauth-protected-resource/mcp':
        return json({ resource: this.address, authorization_servers: [this.base], scopes_supported: ['tools'] });
      case '/.well-known/oauth-authorization-server':
        return json({ issuer: this.base, authorization_endpoint: this.base + '/authorize', token_endpoint: this.base + '/token', registration_endpoint: this.base + '/register', response_types_supported: ['code'], code_challenge_methods_supported: ['S256'], token_endpoint_auth_methods_supported: ['none'] });
      case '/register':
        return json({ ...JSON.parse(body), client_id: 'client-1' }, 201);
      case '/authorize': // a person sees who asks, and says yes
        return res.writeHead(200, { 'Content-Type': 'text/html' }).end(`<!doctype html><title>Login</title><a href="/yes?${q.toString().replaceAll('&', '&amp;')}">Let it in</a>`);
      case '/yes': {
        const code = `code-${this.codes.size}`;
        this.codes.set(code, q);
        return res.writeHead(302, { Location: `${q.get('redirect_uri')}?code=${code}&state=${encodeURIComponent(q.get('state'))}` }).end();
      }
      case '/token': {
        const form = new URLSearchParams(body);
        const given = this.codes.get(form.get('code'));
        this.codes.delete(form.get('code'));
        if (!given || createHash('sha256').update(form.get('code_verifier')).digest('base64url') !== given.get('code_challenge') || form.get('redirect_uri') !== given.get('redirect_uri')) return json({ error: 'invalid_grant' }, 400);
        const token = `access-${this.tokens.size}`;
        this.tokens.add(token);
        return json({ access_token: token, token_type: 'Bearer', expires_in: 3600 });
      }
      case '/mcp':
        if (!this.tokens.has((req.headers.authorization ?? '').replace('Bearer ', ''))) return json({ error: 'who are you' }, 401, { 'WWW-Authenticate': `Bearer resource_metadata="${this.base}/.well-known/oauth-protected-resource/mcp"` });
        return req.method === 'POST' ? this.#speak(JSON.parse(body), json, res) : res.writeHead(405).end();
      default:
        return res.writeHead(404).end();
    }
  }
  #speak({ id, method, params }, json, res) {
    if (id === undefined) return res.writeHead(202).end();
    const result = {
      initialize: () => ({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'behind', version: '1.0.0' } }),
      'tools/list': () => ({ tools: [{ name: 'hello', description: 'Says hello.', inputSchema: { type: 'object' } }] }),
      ping: () => ({}),
    }[method];
    return json(result ? { jsonrpc: '2.0', id, result: result() } : { jsonrpc: '2.0', id, error: { code: -32601, message: 'no such method' } });
  }
}

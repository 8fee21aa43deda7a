// The names of callers. The server records an id; a person knows a token by the
// name they gave it, an assistant by its model, and an app by what it calls itself.
import { ask } from './api';

/** A Caller is who made a call, as far as the server tells. */
export interface Caller {
  kind: string;
  /** The session, run or token. */
  id: string;
  /** The name of the token, or the model of the run. */
  name?: string;
  /** What an app calls itself: shown, and believed by nobody. */
  client?: string;
}

/** kinds are the kinds of callers, with their labels. */
export const kinds: [kind: string, label: string][] = [
  ['person', 'You'],
  ['agent', 'Assistant'],
  ['mcp', 'MCP clients'],
  ['rest', 'REST clients'],
  ['schedule', 'Schedule'],
];

const without: Record<string, string> = { person: 'you', agent: 'the assistant', mcp: 'an MCP client', rest: 'a REST client', schedule: 'a schedule' };

/** modelName is a model without its provider. */
export function modelName(id: string): string {
  return id.slice(id.indexOf('/') + 1);
}

class Callers {
  #names = $state.raw<Record<string, string>>({});
  #sought = new Set<string>();

  /** name is what a person reads for a caller. */
  name(c: Caller): string {
    if (c.kind === 'person') return c.id === 'terminal' ? 'you (terminal)' : 'you';
    let known = c.name || this.#names[c.id] || c.client || '';
    if (c.kind === 'agent' && known === 'quote') known = ''; // answers without a model
    if (!known) return without[c.kind] ?? 'an unknown caller';
    return c.kind === 'agent' ? modelName(known) : `“${known}”`;
  }

  /** learn asks for the name of a caller, once. */
  async learn(c: Caller): Promise<void> {
    if (c.name || this.#sought.has(c.id)) return;
    if (c.id.startsWith('token-')) await this.#tokens(c.id);
    else if (c.kind === 'agent') await this.#runs(c.id);
  }

  async #tokens(id: string): Promise<void> {
    this.#sought.add(id);
    const r = await ask('listTokens');
    if (!r.ok) {
      this.#sought.delete(id);
      return;
    }
    for (const t of r.value.tokens ?? []) this.#sought.add(t.id);
    this.#names = { ...this.#names, ...Object.fromEntries((r.value.tokens ?? []).map((t) => [t.id, t.name])) };
  }

  // What a list shows is asked for at once.
  #waiting: string[] = [];

  async #runs(id: string): Promise<void> {
    this.#sought.add(id);
    this.#waiting.push(id);
    await Promise.resolve();
    const ids = this.#waiting.splice(0, 100);
    if (!ids.length) return;
    const r = await ask('listRuns', { query: { id: ids.join(',') } });
    if (r.ok) this.#names = { ...this.#names, ...Object.fromEntries((r.value.runs ?? []).map((x) => [x.id, x.model])) };
  }
}

export const callers = new Callers();

// What a person called the tokens that programs come with. A number tells nobody
// who asks; the name was given by the one who answers.
import { ask } from './api';

class Callers {
  #names = $state.raw<Record<string, string>>({});
  #sought = new Set<string>();

  /** name is what the person called a caller; nothing where it is not known. */
  name(id: string): string {
    return this.#names[id] ?? '';
  }

  /** learn asks for the names, once for each caller that is not known. */
  async learn(id: string): Promise<void> {
    if (!id.startsWith('token-') || this.#sought.has(id)) return;
    this.#sought.add(id);
    const r = await ask('listTokens');
    if (!r.ok) {
      this.#sought.delete(id);
      return;
    }
    for (const t of r.value.tokens ?? []) this.#sought.add(t.id);
    this.#names = Object.fromEntries((r.value.tokens ?? []).map((t) => [t.id, t.name]));
  }
}

export const callers = new Callers();

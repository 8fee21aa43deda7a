// The models that can be reached: asked once, and again when a person wants to.
import { ask } from '../../lib/api';
import type { Models } from './talk';

class Minds {
  list = $state.raw<Models | null>(null);
  busy = $state(false);
  problem = $state('');
  #going: Promise<void> | undefined;
  #looks = 0;

  /** look asks who can be reached; providers may take their time. */
  look(again = false): Promise<void> {
    if (!this.#going || again) this.#going = this.#ask();
    return this.#going;
  }

  async #ask(): Promise<void> {
    const mine = ++this.#looks;
    this.busy = true;
    const r = await ask('listModels');
    if (mine !== this.#looks) return; // somebody asked again: who had no key then may have one now
    this.busy = false;
    if (r.ok) this.list = r.value;
    this.problem = r.ok ? '' : (r.problem.detail ?? 'Models could not be loaded.');
  }
}

export const minds = new Minds();

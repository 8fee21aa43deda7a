// The models that can be reached: asked once, and again when a person wants to.
import { ask } from '../../lib/api';
import type { Models } from './talk';

class Minds {
  list = $state.raw<Models | null>(null);
  busy = $state(false);
  problem = $state('');
  #asked = false;

  /** look asks who can be reached; providers may take their time. */
  async look(again = false): Promise<void> {
    if (this.busy || (this.#asked && !again)) return;
    this.#asked = true;
    this.busy = true;
    const r = await ask('listModels');
    this.busy = false;
    if (r.ok) this.list = r.value;
    this.problem = r.ok ? '' : (r.problem.detail ?? 'The models cannot be listed.');
  }
}

export const minds = new Minds();

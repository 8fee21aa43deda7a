// The settings as they are in force. Several parts of the page show the same
// ones, so they are kept once.
import { ask, words, type Reply } from '../../lib/api';
import { lock } from '../../lib/lock.svelte';
import { toasts } from '../../lib/toasts.svelte';
import type { Problem } from '../../lib/types';
import type { Setting } from '../../api.gen';
import { fromOf } from './groups';

const capital = (s: string): string => s.charAt(0).toUpperCase() + s.slice(1);

class Prefs {
  all = $state.raw<Setting[]>([]);
  facts = $state.raw<Setting[]>([]);
  problem = $state.raw<Problem | null>(null);
  loaded = $state(false);
  #looks = 0;

  /** look asks what is in force. */
  look = async (): Promise<void> => {
    const mine = ++this.#looks;
    const r = await ask('listSettings');
    if (mine !== this.#looks) return;
    this.problem = r.ok ? null : r.problem;
    if (!r.ok) return;
    this.all = r.value.settings ?? [];
    this.facts = r.value.facts ?? [];
    this.loaded = true;
  };

  of(key: string): Setting | undefined {
    return this.all.find((s) => s.key === key);
  }

  /** set changes one and tells nobody; an empty value is the one that it comes with. */
  async put(key: string, value: string): Promise<Reply<Setting>> {
    const r = await lock.open(() => ask('setSetting', { body: { key, value } }));
    if (r.ok) await this.look();
    return r;
  }

  /** set changes one and says what came of it; what is wrong with the value is the answer. */
  async set(key: string, value: string, name = key): Promise<string> {
    const r = await this.put(key, value);
    if (!r.ok) return words(r.problem);
    const now = r.value;
    if (value && now.value !== value) toasts.say(`${capital(name)} is still ${now.value}: it is set ${fromOf(now.source)}.`, 'info');
    else toasts.say(value ? `Saved: ${name}.` : `Reset to default: ${name}.`, 'good');
    return '';
  }
}

export const prefs = new Prefs();

// What a person reads about the providers of models. Pure, so that it can be
// proved.
import type { Keys, Models, Setting } from '../../api.gen';

export type Told = NonNullable<Models['providers']>[number];

/** A Known provider comes with Lore. */
interface Known {
  title: string;
  /** Where it answers if nothing else is set. */
  at: string;
  /** It runs on a machine of the person and wants no key. */
  here?: boolean;
}

export const known: Record<string, Known> = {
  ollama: { title: 'Ollama', at: 'http://localhost:11434', here: true },
  lmstudio: { title: 'LM Studio', at: 'http://localhost:1234/v1', here: true },
  llamacpp: { title: 'llama.cpp', at: 'http://localhost:8080/v1', here: true },
  anthropic: { title: 'Anthropic', at: 'https://api.anthropic.com' },
  openai: { title: 'OpenAI', at: 'https://api.openai.com/v1' },
  gemini: { title: 'Google Gemini', at: 'https://generativelanguage.googleapis.com' },
  openrouter: { title: 'OpenRouter', at: 'https://openrouter.ai/api/v1' },
};

export interface Provider {
  name: string;
  title: string;
  /** Where its key is kept; '' is nowhere. */
  place: string;
  /** The address that the settings say; '' is the one that it comes with. */
  base: string;
  usual: string;
  here: boolean;
  /** It does not come with Lore. */
  own: boolean;
  models: string[];
  why: string;
  /** absent: nothing listens at its address. */
  state: 'answers' | 'key' | 'absent' | 'silent' | 'unknown';
}

/** providersOf brings together what is known of each; who answers comes first. */
export function providersOf(keys: Keys | null, models: Models | null, settings: Setting[]): Provider[] {
  const value = (key: string): string => settings.find((s) => s.key === key)?.value ?? '';
  const names = [...new Set([...(keys?.keys ?? []).map((k) => k.provider), ...(models?.providers ?? []).map((p) => p.provider)])];
  const list = names.map((name): Provider => {
    const told = models?.providers?.find((p) => p.provider === name);
    const k = known[name];
    const usable = (told?.models ?? []).filter((m) => !m.embedding && !m.mute).map((m) => m.name);
    const why = told?.state === 'absent' ? 'nothing is listening at this address' : (told?.error ?? '');
    return {
      name, title: k?.title ?? name, place: keys?.keys?.find((x) => x.provider === name)?.place ?? '', base: value(`providers.${name}.base_url`), usual: k?.at ?? '', here: !!k?.here || value(`providers.${name}.local`) === 'yes', own: !k,
      models: usable, why, state: !told ? 'unknown' : usable.length ? 'answers' : told.state === 'needs_key' ? 'key' : told.state === 'absent' ? 'absent' : 'silent',
    };
  });
  const rank = (p: Provider): number => (p.state === 'answers' ? 0 : p.own ? 1 : p.place || p.base ? 2 : p.here ? 3 : 4);
  return list.sort((a, b) => rank(a) - rank(b) || a.title.localeCompare(b.title));
}

/** stateOf says how a provider stands. */
export function stateOf(p: Provider): { word: string; kind: string } {
  switch (p.state) {
    case 'answers':
      return { word: p.models.length === 1 ? '1 model' : `${p.models.length} models`, kind: 'good' };
    case 'key':
      return { word: 'Needs a key', kind: '' };
    case 'absent':
    case 'silent':
      return p.here && !p.base && p.state === 'absent' ? { word: 'Not running', kind: '' } : { word: 'Not responding', kind: p.place || p.base || p.own ? 'failed' : '' };
  }
  return { word: 'Checking…', kind: '' };
}

/** wrongAddress says what is wrong with the address of a server; '' is nothing. */
export function wrongAddress(s: string): string {
  try {
    const u = new URL(s);
    if ((u.protocol === 'http:' || u.protocol === 'https:') && u.host) return '';
  } catch {
    // no address
  }
  return 'Enter a URL such as http://host:port or https://host/v1.';
}

// The prompt library: the notes of the folder Prompts. They are asked for when a
// person types a slash, and read again only where they changed.
import { server } from '../../lib/server.svelte';
import { promptOf, type Prompt } from './promptText';

const folder = 'Prompts';
const most = 60;
type Listed = { path: string; title: string; modified?: string };

class Prompts {
  list = $state.raw<Prompt[]>([]);
  #read = new Map<string, { modified: string; prompt: Prompt }>();
  #looks = 0;

  async look(): Promise<void> {
    const mine = ++this.#looks;
    const r = await server.call<{ notes?: Listed[] }>('list-notes', { folder, sort: 'path', limit: most });
    if (mine !== this.#looks || !r.ok) return;
    const found = await Promise.all((r.value.notes ?? []).map((n) => this.#one(n)));
    if (mine === this.#looks) this.list = found.filter((p) => p !== undefined);
  }

  async #one(n: Listed): Promise<Prompt | undefined> {
    const had = this.#read.get(n.path);
    if (had && had.modified === n.modified) return had.prompt;
    const r = await server.call<{ text?: string }>('read-note', { path: n.path, limit: 1000 });
    if (!r.ok) return undefined;
    const prompt = promptOf(n.path, n.title, r.value.text ?? '');
    this.#read.set(n.path, { modified: n.modified ?? '', prompt });
    return prompt;
  }
}

export const prompts = new Prompts();

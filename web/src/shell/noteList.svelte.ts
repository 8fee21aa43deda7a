// The notes that the palette offers, read once for each state of the vault.
import { words } from '../lib/api';
import { server } from '../lib/server.svelte';

export interface ListedNote {
  path: string;
  title: string;
  aliases?: string[];
}

class NoteList {
  list = $state.raw<ListedNote[]>([]);
  /** What is to be said instead of a list. */
  state = $state('');
  #seen = -1; // changes of the vault that the list knows of
  #reads = 0;

  /** read lists every note: those that were written last at once, the others a moment later. */
  async read(): Promise<void> {
    if (this.#seen === server.changes) return;
    const mine = ++this.#reads;
    const now = server.changes;
    this.state = 'Loading notes…';
    const out = new Map<string, ListedNote>(); // one may move to the top between two pages
    for (let [offset, limit] = [0, 500]; ; [offset, limit] = [offset + limit, 5000]) {
      const r = await server.call<{ notes?: ListedNote[]; total?: number }>('list-notes', { limit, offset, sort: 'modified' });
      if (mine !== this.#reads) return;
      if (!r.ok) {
        this.state = words(r.problem);
        return;
      }
      for (const n of r.value.notes ?? []) out.set(n.path, { path: n.path, title: n.title, ...(n.aliases ? { aliases: n.aliases } : {}) });
      if (out.size > this.list.length || offset === 0) this.list = [...out.values()];
      if (!r.value.notes?.length || offset + limit >= (r.value.total ?? 0)) break;
    }
    this.list = [...out.values()];
    this.#seen = now;
    this.state = this.list.length ? '' : 'No notes yet.';
  }

  /** stop leaves the rest unread. */
  stop(): void {
    if (this.#seen !== server.changes) this.#reads++;
  }
}

export const noteList = new NoteList();

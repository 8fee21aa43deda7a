// The notes that are open in tabs, and the one beside them. Kept in this browser,
// for the vault that they are in.
import { noteAt, pathTo, router } from './router.svelte';

const key = 'lore.tabs';

class Tabs {
  /** Their paths, in the order of the bar. */
  list = $state.raw<readonly string[]>([]);
  /** The note of the other half of a split; nothing is no split. */
  beside = $state('');
  #vault = '';
  #fresh = false;
  #current = '';

  /** load restores the tabs of a vault. */
  load(vault: string): void {
    if (!vault || vault === this.#vault) return;
    this.#vault = vault;
    try {
      const v = JSON.parse(localStorage.getItem(key) ?? '{}') as { vault?: string; list?: unknown; beside?: unknown };
      if (v.vault !== vault || !Array.isArray(v.list)) return;
      const stored = v.list.filter((p): p is string => typeof p === 'string');
      this.list = [...stored, ...this.list.filter((p) => !stored.includes(p))];
      if (typeof v.beside === 'string') this.beside ||= v.beside;
    } catch {
      // a browser that stores nothing has none
    }
  }
  #set(list: readonly string[]): void {
    this.list = list;
    this.#store();
  }
  #store(): void {
    if (!this.#vault) return;
    try {
      localStorage.setItem(key, JSON.stringify({ vault: this.#vault, list: this.list.slice(-50), beside: this.beside }));
    } catch {
      // they last until the page is closed
    }
  }

  /** openNext gives the next note a tab of its own. */
  openNext(): void {
    this.#fresh = true;
  }

  /** show follows the note that is shown: in its own tab, or in the place of the one before. */
  show(path: string): void {
    const before = this.#current;
    const fresh = this.#fresh;
    this.#fresh = false;
    this.#current = path;
    if (!path || this.list.includes(path)) return;
    const at = this.list.indexOf(before);
    if (fresh || at < 0) this.#set([...this.list.slice(0, at + 1 || this.list.length), path, ...this.list.slice(at + 1 || this.list.length)]);
    else this.#set(this.list.map((p) => (p === before ? path : p)));
  }

  /** call corrects the path of a note that was asked for by another name. */
  call(asked: string, path: string): void {
    if (asked === path || !this.list.includes(asked)) return;
    if (this.#current === asked) this.#current = path;
    this.#set(this.list.includes(path) ? this.list.filter((p) => p !== asked) : this.list.map((p) => (p === asked ? path : p)));
  }

  /** move follows notes to other paths. */
  move(to: (path: string) => string): void {
    this.#current = to(this.#current);
    if (this.beside) this.beside = to(this.beside);
    this.#set([...new Set(this.list.map(to))]);
  }

  close(path: string): void {
    const at = this.list.indexOf(path);
    if (at < 0) return;
    const rest = this.list.filter((p) => p !== path);
    this.#set(rest);
    if (path !== this.#current) return;
    this.#current = '';
    router.go(pathTo('notes', rest[Math.min(at, rest.length - 1)] ?? ''));
  }
  /** closeCurrent closes the tab that is shown. */
  closeCurrent(): void {
    if (router.place.view === 'notes') this.close(this.#current);
  }
  /** step shows the next tab, or the one before. */
  step(by: 1 | -1): void {
    const { length } = this.list;
    if (!length) return;
    const at = this.list.indexOf(this.#current);
    router.go(pathTo('notes', this.list[(at + by + length) % length] ?? ''));
  }

  /** split shows a note beside the one that is shown; nothing ends the split. */
  split(path: string): void {
    this.beside = path;
    this.#store();
  }
  /** splitCurrent shows the note of this tab beside itself, or ends the split. */
  splitCurrent(): void {
    if (router.place.view === 'notes') this.split(this.beside ? '' : noteAt(router.place.rest).path);
  }
}

export const tabs = new Tabs();

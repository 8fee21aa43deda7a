// Short words about what just happened.

export interface Toast {
  id: number;
  text: string;
  kind: 'info' | 'good' | 'bad';
  /** An address to go on at. */
  href?: string;
  label?: string;
  /** Something to do at once; the toast goes with it. */
  act?: { label: string; run: () => void };
  /** The question it speaks of: it has no meaning after the answer. */
  about?: string;
}

class Toasts {
  list = $state<Toast[]>([]);
  #next = 1;

  say(text: string, kind: Toast['kind'] = 'info', more: Pick<Toast, 'href' | 'label' | 'about' | 'act'> = {}): void {
    const id = this.#next++;
    this.list.push({ id, text, kind, ...more });
    if (this.list.length > 4) this.list.shift();
    if (kind !== 'bad') setTimeout(() => this.drop(id), 8000); // what went wrong stays until it is read
  }

  /** over takes away what was said of a question. */
  over(about: string): void {
    this.list = this.list.filter((t) => t.about !== about);
  }

  drop(id: number): void {
    this.list = this.list.filter((t) => t.id !== id);
  }
}

export const toasts = new Toasts();

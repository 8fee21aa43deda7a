// Acts that the server does only after the approval PIN was given. The shell shows
// the one dialog that asks for it (parts/Pin.svelte).
import type { Problem } from '../api.gen';

type Answer<T> = { ok: true; value: T } | { ok: false; problem: Problem };

class Lock {
  /** asked is who waits for the PIN; null while nobody does. */
  asked = $state.raw<((given: boolean) => void) | null>(null);

  /** end closes the dialog. */
  end(given: boolean): void {
    const tell = this.asked;
    this.asked = null;
    tell?.(given);
  }

  #ask(): Promise<boolean> {
    this.end(false); // one dialog at a time
    return new Promise((tell) => (this.asked = tell));
  }

  /** open sends a request, and sends it again once the PIN was given that it needs. */
  async open<A extends Answer<unknown>>(send: () => Promise<A>): Promise<A> {
    const r = await send();
    if (r.ok || r.problem.field !== 'pin' || !(await this.#ask())) return r;
    return send();
  }
}

export const lock = new Lock();

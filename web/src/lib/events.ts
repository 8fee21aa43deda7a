// News of the server, as it happens. The stream is read by fetch and not by
// EventSource, which tells nobody why it ended: a session that is over must not
// be asked for again and again.
import { signedOut } from './api';
import { proof } from './session';
import { routes } from '../api.gen';

/** One piece of news. */
export interface News {
  id: string;
  topic: string;
  data: unknown;
}

/** Reader cuts a stream of server-sent events into news. */
export class Reader {
  #rest = '';
  /** push takes the next piece of the stream. */
  push(text: string): News[] {
    const out: News[] = [];
    const blocks = (this.#rest + text).split('\n\n');
    this.#rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const n = { id: '', topic: 'message', data: '' };
      for (const line of block.split('\n')) {
        const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? [];
        if (name === 'id') n.id = value ?? '';
        if (name === 'event') n.topic = value ?? '';
        if (name === 'data') n.data += value ?? '';
      }
      if (!n.data) continue; // a comment that shows that the stream lives
      try {
        out.push({ ...n, data: JSON.parse(n.data) as unknown });
      } catch {
        // what cannot be read is no news
      }
    }
    return out;
  }
}

type Hearer = (n: News) => void;

/** Stream follows the news and takes it up again where it broke off. */
export class Stream {
  #hearers = new Set<Hearer>();
  #stop = new AbortController();
  #last = '';
  #tries = 0;
  /** live is told whether news come through. */
  live: (on: boolean) => void = () => {};

  /** hear calls f for every piece of news until the returned function is called. */
  hear(f: Hearer): () => void {
    this.#hearers.add(f);
    return () => this.#hearers.delete(f);
  }

  stop(): void {
    this.#stop.abort();
  }

  /** run reads until it is stopped, or nobody is signed in. */
  async run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      if ((await this.#once()) === 'over') return;
      this.live(false);
      const wait = Math.min(500 * 2 ** this.#tries++, 15_000);
      await new Promise((f) => setTimeout(f, wait * (0.8 + Math.random() * 0.4)));
    }
  }

  async #once(): Promise<'over' | 'again'> {
    try {
      const headers: Record<string, string> = { Accept: 'text/event-stream', ...proof() };
      if (this.#last) headers['Last-Event-ID'] = this.#last;
      const res = await fetch(routes.events[1], { headers, credentials: 'same-origin', signal: this.#stop.signal });
      if (res.status === 401) {
        signedOut();
        return 'over';
      }
      if (!res.ok || !res.body) return 'again';
      const read = new Reader();
      const from = res.body.pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>).getReader();
      this.live(true);
      this.#tries = 0;
      for (;;) {
        const { done, value } = await from.read();
        if (done) return 'again';
        for (const n of read.push(value)) {
          if (n.id) this.#last = n.id;
          for (const f of this.#hearers) f(n);
        }
      }
    } catch {
      return this.#stop.signal.aborted ? 'over' : 'again';
    }
  }
}

/** news is the stream of this page. */
export const news = new Stream();

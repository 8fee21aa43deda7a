// News of the server, as it happens. The stream is read by fetch and not by
// EventSource, which tells nobody why it ended: a session that is over must not
// be asked for again and again.
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

/** Stream reads the news from the server and takes it up again where it broke off. */
export class Stream {
  #hearers = new Set<Hearer>();
  #tries = 0;
  /** The id of the last news: the server goes on after it. */
  last = '';
  /** live is told whether news come through. */
  live: (on: boolean) => void = () => {};

  /** hear calls f for every piece of news until the returned function is called. */
  hear(f: Hearer): () => void {
    this.#hearers.add(f);
    return () => this.#hearers.delete(f);
  }

  /** run reads until it is aborted ('stopped'), or nobody is signed in ('signedOut'). */
  async run(until: AbortSignal): Promise<'stopped' | 'signedOut'> {
    for (;;) {
      const ended = await this.#once(until);
      if (until.aborted) return 'stopped';
      if (ended === 'signedOut') return ended;
      this.live(false);
      const wait = Math.min(500 * 2 ** this.#tries++, 15_000);
      await pause(wait * (0.8 + Math.random() * 0.4), until);
    }
  }

  async #once(until: AbortSignal): Promise<'broken' | 'signedOut'> {
    if (until.aborted) return 'broken';
    try {
      const headers: Record<string, string> = { Accept: 'text/event-stream', ...proof() };
      if (this.last) headers['Last-Event-ID'] = this.last;
      const res = await fetch(routes.events[1], { headers, credentials: 'same-origin', signal: until });
      if (res.status === 401) return 'signedOut';
      if (!res.ok || !res.body) return 'broken';
      const read = new Reader();
      const from = res.body.pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>).getReader();
      this.live(true);
      this.#tries = 0;
      for (;;) {
        const { done, value } = await from.read();
        if (done) return 'broken';
        for (const n of read.push(value)) {
          if (n.id) this.last = n.id;
          for (const f of this.#hearers) f(n);
        }
      }
    } catch {
      return 'broken';
    }
  }
}

/** pause waits for a time, or until it is aborted. */
function pause(ms: number, until: AbortSignal): Promise<void> {
  return new Promise((f) => {
    const t = setTimeout(f, ms);
    until.addEventListener('abort', () => {
      clearTimeout(t);
      f();
    });
  });
}

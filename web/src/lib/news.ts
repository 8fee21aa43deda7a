// The news of the server in all tabs of a browser. A browser opens six connections
// to one server, so the tabs share one stream: of those that are visible, one reads
// it and passes it on. A hidden tab reads nothing; when it is shown, it goes on
// where the news that it heard ended.
import { signedOut } from './api';
import { Stream, type News } from './events';

type Hearer = (n: News) => void;

/** What the tabs tell each other. */
type Message =
  | { is: 'news'; news: News }
  | { is: 'state'; live: boolean; last: string } // from the tab that reads
  | { is: 'ask' } // for the state
  | { is: 'signedOut' };

const name = 'lore.news';

export class SharedNews {
  #hearers = new Set<Hearer>();
  #stop = new AbortController();
  #stream = new Stream();
  #channel: BroadcastChannel | undefined;
  #reads = false; // this tab
  #isLive = false;
  #late = false; // this tab has waited before it first read
  #placed = false; // it is known where the news goes on
  /** live is told whether news come through. */
  live: (on: boolean) => void = () => {};

  /** hear calls f for every piece of news until the returned function is called. */
  hear(f: Hearer): () => void {
    this.#hearers.add(f);
    return () => this.#hearers.delete(f);
  }

  stop(): void {
    this.#stop.abort();
    this.#channel?.close();
  }

  /** run follows the news until it is stopped, or nobody is signed in. */
  async run(): Promise<void> {
    this.#stream.hear((n) => this.#read(n));
    this.#stream.live = (on) => this.#told(on);
    if ('BroadcastChannel' in globalThis) {
      this.#channel = new BroadcastChannel(name);
      this.#channel.onmessage = (e: MessageEvent<Message>) => this.#take(e.data);
      this.#tell({ is: 'ask' });
    }
    while (!this.#stop.signal.aborted) {
      await this.#shown();
      const until = this.#untilHidden();
      if ((await this.#alone(until, () => this.#follow(until))) !== 'signedOut') continue;
      this.#tell({ is: 'signedOut' });
      this.#channel?.close();
      signedOut();
      return;
    }
  }

  async #follow(until: AbortSignal): Promise<'stopped' | 'signedOut'> {
    this.#reads = true;
    const ended = await this.#stream.run(until);
    this.#reads = false;
    return ended;
  }

  /** shown waits until this tab is visible. */
  async #shown(): Promise<void> {
    if (!document.hidden) return;
    this.#late = true;
    await new Promise<void>((f) => {
      const look = (): void => {
        if (document.hidden && !this.#stop.signal.aborted) return;
        document.removeEventListener('visibilitychange', look);
        f();
      };
      document.addEventListener('visibilitychange', look);
      this.#stop.signal.addEventListener('abort', look);
    });
  }

  #untilHidden(): AbortSignal {
    const hidden = new AbortController();
    const look = (): void => {
      if (document.hidden || this.#stop.signal.aborted) hidden.abort();
    };
    document.addEventListener('visibilitychange', look, { signal: hidden.signal });
    this.#stop.signal.addEventListener('abort', look, { signal: hidden.signal });
    look();
    return hidden.signal;
  }

  /** alone runs f in one tab at a time. Where a browser has no locks (an address that is not secure), each visible tab reads for itself. */
  async #alone(until: AbortSignal, f: () => Promise<'stopped' | 'signedOut'>): Promise<'stopped' | 'signedOut'> {
    const locks = navigator.locks as LockManager | undefined;
    if (!locks || !this.#channel) return f();
    const first = await locks.request(name, { ifAvailable: true }, (lock) => (lock ? f() : 'taken'));
    if (first !== 'taken') return first;
    this.#late = true;
    return locks.request(name, { signal: until }, f).catch(() => 'stopped'); // hidden before its turn
  }

  /** read takes what the server says to this tab. */
  #read(n: News): void {
    if (n.topic === 'ready') {
      // What happened while this tab waited was told to nobody.
      if (this.#late && !this.#placed) n = { ...n, topic: 'reset' };
      this.#tell({ is: 'state', live: true, last: n.id });
    } else this.#tell({ is: 'news', news: n });
    this.#pass(n);
  }

  #told(on: boolean): void {
    this.#isLive = on;
    this.live(on);
    this.#tell({ is: 'state', live: on, last: this.#stream.last });
  }

  /** take hears another tab. */
  #take(m: Message): void {
    switch (m.is) {
      case 'ask':
        if (this.#reads) this.#tell({ is: 'state', live: this.#isLive, last: this.#stream.last });
        break;
      case 'state':
        if (this.#reads) break;
        this.live(m.live);
        if (!m.last) break;
        this.#stream.last = m.last;
        this.#placed = true;
        break;
      case 'news':
        if (this.#reads) break; // it has the news itself
        if (m.news.id) this.#stream.last = m.news.id;
        this.#pass(m.news);
        break;
      case 'signedOut':
        signedOut();
        break;
    }
  }

  #pass(n: News): void {
    if (n.id) this.#placed = true;
    for (const f of this.#hearers) f(n);
  }

  #tell(m: Message): void {
    try {
      this.#channel?.postMessage(m);
    } catch {
      // it was closed: nobody listens
    }
  }
}

/** news is the news of this page. */
export const news = new SharedNews();

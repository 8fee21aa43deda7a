// One conversation, kept true while somebody looks at it. A Talk that was left
// asks for nothing any more.
import { proof } from '../../lib/session';
import { ask, problemOf, signedOut, type Reply } from '../../lib/api';
import { Reader } from '../../lib/events';
import type { Problem } from '../../lib/types';
import { routes } from '../../api.gen';
import { address } from '../../lib/api';
import { StreamedText } from './streamedText';
import { merge, over, turnsOf, type Conversation, type Piece, type Run, type Sending } from './talk';

export class Talk {
  readonly id: string;
  whole = $state.raw<Conversation | null>(null);
  problem = $state.raw<Problem | null>(null);
  /** The finished blocks of the answer that is being given, and what is not finished. */
  done = $state.raw<string[]>([]);
  tail = $state('');
  thought = $state('');
  /** broken says that the stream broke off and is asked for again. */
  broken = $state(false);
  busy = $state(false);

  turns = $derived(this.whole ? turnsOf(this.whole) : []);
  run = $derived<Run | undefined>(this.whole?.runs?.reduce<Run | undefined>((a, r) => (!a || r.started >= a.started ? r : a), undefined));
  going = $derived(!!this.run && !over(this.run));

  #left = new AbortController();
  #answerText = new StreamedText();
  #answer = -1;
  #loads = 0;
  #follows = '';

  constructor(id: string) {
    this.id = id;
  }

  leave(): void {
    this.#left.abort();
  }

  get #gone(): boolean {
    return this.#left.signal.aborted;
  }

  /** load reads all of it, and follows what is under way. */
  async load(): Promise<void> {
    const mine = ++this.#loads;
    const r = await ask('showChat', { path: { id: this.id } });
    if (this.#gone || mine !== this.#loads) return;
    this.problem = r.ok ? null : r.problem;
    if (!r.ok) return;
    this.whole = r.value;
    const open = (r.value.runs ?? []).find((x) => !over(x));
    if (open) void this.#follow(open.id);
  }

  /** send says something. */
  async send(what: Sending): Promise<Reply<Run>> {
    this.busy = true;
    const r = await ask('say', { path: { id: this.id }, body: what });
    this.busy = false;
    if (!this.#gone && r.ok) {
      if (this.whole) this.whole = { ...this.whole, runs: [...(this.whole.runs ?? []), r.value] };
      else await this.load();
      void this.#follow(r.value.id);
    }
    return r as Reply<Run>;
  }

  /** learnBranches asks which other versions there are, and for nothing else: what is said meanwhile is newer. */
  async learnBranches(): Promise<void> {
    const r = await ask('showChat', { path: { id: this.id } });
    if (r.ok && this.whole && !this.#gone) this.whole = { ...this.whole, branches: r.value.branches };
  }

  /** stop ends the run; what it did stays done. */
  async stop(): Promise<Problem | null> {
    const run = this.run;
    if (!run || over(run)) return null;
    const r = await ask('stopRun', { path: { id: run.id } });
    await this.load();
    return r.ok ? null : r.problem;
  }

  async #follow(run: string): Promise<void> {
    if (this.#follows === run) return;
    this.#follows = run;
    this.#hush();
    for (let tries = 0; !this.#gone; tries++) {
      this.#answer = -1;
      const ended = await this.#once(run).catch(() => false);
      if (this.#gone) return;
      if (ended) break;
      this.broken = true;
      await new Promise((f) => setTimeout(f, Math.min(300 * 2 ** tries, 5000)));
    }
    if (this.#gone) return;
    this.broken = false;
    this.#follows = '';
    await this.load(); // its name, and what the last piece did not say
    if (!this.#gone) this.#hush();
  }

  /** once follows until the run ends (true) or the stream breaks off (false). */
  async #once(run: string): Promise<boolean> {
    const seen = this.whole?.messages?.at(-1)?.seq ?? 0;
    const res = await fetch(address(routes.watchRun[1], { id: run }, { after: seen || undefined }), { headers: { Accept: 'text/event-stream', ...proof() }, credentials: 'same-origin', signal: this.#left.signal });
    if (res.status === 401) {
      signedOut();
      this.leave();
      return true;
    }
    if (res.status === 404) return true;
    if (!res.ok || !res.body) {
      this.problem = res.status >= 500 ? null : problemOf(res.status, 'Live progress is not available for this answer. Reload the page to see the answer.');
      return false;
    }
    const read = new Reader();
    const from = res.body.pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>).getReader();
    for (;;) {
      const { done, value } = await from.read();
      if (done) return false;
      this.broken = false;
      for (const n of read.push(value)) {
        if (n.topic === 'end') return true;
        if (n.topic === 'piece') this.#hear(n.data as Piece);
      }
    }
  }

  #hear(p: Piece): void {
    if (p.answer !== this.#answer) {
      this.#answer = p.answer;
      this.#hush();
    }
    if (p.state && this.whole) this.whole = merge(this.whole, p.state);
    if (p.thought) this.thought += p.thought;
    if (!p.text) return;
    const had = this.#answerText.done.length;
    this.#answerText.push(p.text);
    if (this.#answerText.done.length !== had) this.done = [...this.#answerText.done];
    this.tail = this.#answerText.tail;
  }

  #hush(): void {
    this.#answerText = new StreamedText();
    this.done = [];
    this.tail = '';
    this.thought = '';
  }
}

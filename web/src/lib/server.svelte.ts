// What the page knows of the server: the vault, the tools, what waits. Kept true
// by the news.
import { startApp } from './app';
import { ask, onSignedOut, problemOf, words } from './api';
import type { Approval, Problem, Result, Pending, Status, Tool, VaultState } from './types';
import { lock } from './lock.svelte';
import { news } from './news';
import { toasts } from './toasts.svelte';

class Server {
  status = $state.raw<Status | null>(null);
  tools = $state.raw<Tool[]>([]);
  waiting = $state.raw<Approval[]>([]);
  /** live says that news come through. */
  live = $state(true);
  /** signedOut says that this browser has to be let in again. */
  signedOut = $state(false);
  /** refused says why a sign-in link did not work. */
  refused = $state('');
  problem = $state.raw<Problem | null>(null);
  loaded = $state(false);
  /** asked is the last question that came while the page was open, for those who hear. */
  asked = $state('');
  /** changes counts what happened to the vault, for views that look again. */
  changes = $state(0);

  #vault = $state.raw<VaultState | null>(null);
  #states = 0; // of the vault, that news told of
  #tools: Promise<void> = Promise.resolve();
  #lists = 0;
  #listed = 0; // the list that is shown
  #looks = 0;
  #heard = 0; // questions that news told of
  #unseen = false; // something changed while the tab was hidden
  #moves = 0;
  /** known is kept when the server has told what it serves. */
  known: Promise<void> = Promise.resolve();

  /** start loads everything and follows the news. */
  start(): void {
    onSignedOut(() => (this.signedOut = true));
    news.live = (on) => (this.live = on);
    news.hear((n) => {
      switch (n.topic) {
        case 'approval.asked':
        case 'approval.answered':
        case 'approval.over': {
          const q = n.data as Approval;
          if (n.topic === 'approval.asked') this.asked = q.preview.summary;
          this.#heard++;
          this.put(q);
          break;
        }
        case 'vault.state':
          this.#states++;
          this.#vault = n.data as VaultState;
          break;
        case 'notice':
          toasts.say((n.data as { text: string }).text);
          break;
        case 'tools.changed':
          void this.loadTools();
          break;
        case 'reset':
          void this.loadTools(); // other settings may be in force
          void this.look();
          break;
        case 'ready':
          void this.look();
          break;
      }
      // What this page itself reads is no news to it.
      const call = n.topic === 'call.finished' ? (n.data as { surface: string; operation_id?: string; status: string }) : undefined;
      if (call ? call.surface !== 'web' || call.operation_id || call.status !== 'done' : n.topic === 'files.changed' || n.topic === 'approval.over' || n.topic === 'reset') this.#changed();
    });
    document.addEventListener('visibilitychange', () => {
      if (this.#unseen) this.#changed();
    });
    void news.run(); // first: nothing happens between a look and the news unheard
    this.known = this.look();
    void this.known.then(() => {
      if (this.status && !this.signedOut) void startApp();
    });
    this.#tools = this.loadTools();
  }

  /** changed lets views look again, as soon as somebody sees them. */
  #changed(): void {
    this.#unseen = document.hidden || this.isMoving;
    if (!this.#unseen) this.changes++;
  }

  /** isMoving says that this page gives notes other paths at this moment: the news are faster than its answer. */
  get isMoving(): boolean {
    return this.#moves > 0;
  }
  /** move runs an act that gives notes other paths. Views look again when it is done, and do not ask for the old ones. */
  async move<T>(act: () => Promise<T>): Promise<T> {
    this.#moves++;
    try {
      return await act();
    } finally {
      this.#moves--;
      this.#changed();
    }
  }

  /** look asks again for what news may have missed. */
  async look(): Promise<void> {
    const mine = ++this.#looks;
    const heard = this.#heard;
    const states = this.#states;
    const [s, q] = await Promise.all([ask('status'), ask('listApprovals', { query: { state: 'pending' } })]);
    if (s.ok) this.status = s.value;
    if (s.ok && states === this.#states) this.#vault = s.value.state ?? null;
    this.loaded = true;
    if (mine !== this.#looks) return; // a later look knows more
    this.problem = s.ok ? null : s.problem;
    if (!q.ok) return;
    if (heard === this.#heard) this.waiting = q.value.approvals ?? [];
    else await this.look(); // the list was made before what the news told of
  }

  /** doubtful is the state of a vault that misses notes, or its folder. */
  get doubtful(): VaultState | null {
    return this.#vault && ['offline', 'settling'].includes(this.#vault.mode) ? this.#vault : null;
  }

  async loadTools(): Promise<void> {
    const mine = ++this.#lists;
    const r = await ask('listTools', { query: { brief: 1 } });
    if (!r.ok || mine < this.#listed) return; // a later list came before this one
    this.#listed = mine;
    this.tools = (r.value.tools ?? []) as Tool[];
  }

  /** put keeps a question, or lets it go. */
  put(q: Approval): void {
    const others = this.waiting.filter((w) => w.id !== q.id);
    this.waiting = q.state === 'pending' ? [...others, q].sort((a, b) => a.asked.localeCompare(b.asked)) : others;
  }

  /** playing is the tool that plays a role. */
  playing(role: string): Tool | undefined {
    return this.tools.find((t) => t.roles?.includes(role));
  }

  /** call runs the tool of a role; without one, that is a problem like any other. */
  async call<T>(role: string, args: Record<string, unknown>, view = false): Promise<{ ok: true; value: T & (Result | Pending) } | { ok: false; problem: Problem }> {
    return this.#run(role, args, view ? { view: 1 } : {});
  }

  async #run<T>(role: string, args: Record<string, unknown>, query: Record<string, number>, keepalive = false): Promise<{ ok: true; value: T & (Result | Pending) } | { ok: false; problem: Problem }> {
    await this.#tools;
    const t = this.playing(role);
    if (!t) return { ok: false, problem: problemOf(404, 'The tool for this is turned off. Turn it on in Settings > Tools.') };
    const r = await lock.open(() => ask('callTool', { path: { name: t.name }, body: args, query, keepalive }));
    return r.ok ? { ok: true, value: r.value as T & (Result | Pending) } : r;
  }

  /** act runs the tool of a role as the person's own act, seen and meant. What destroys still waits for an answer. keepalive: also when the page is closed meanwhile. */
  act<T>(role: string, args: Record<string, unknown>, keepalive = false): Promise<{ ok: true; value: T & (Result | Pending) } | { ok: false; problem: Problem }> {
    return this.#run(role, args, { meant: 1 }, keepalive);
  }

  /** plan tells what the tool of a role would do. */
  plan<T>(role: string, args: Record<string, unknown>): Promise<{ ok: true; value: T & (Result | Pending) } | { ok: false; problem: Problem }> {
    return this.#run(role, args, { dry_run: 1 });
  }

  /** tell shows what went wrong. */
  tell(p: Problem): void {
    toasts.say(words(p), 'bad');
  }
}

export const server = new Server();

// What a conversation is made of, as a person reads it. Pure, so that it can be
// proved: no component, no request.
import type { Conversation, Models, Piece, Tool, View } from '../../api.gen';
import type { Item } from '../../lib/types';

export type { Conversation, Models, Piece };
export type Message = NonNullable<Conversation['messages']>[number];
export type Run = NonNullable<Conversation['runs']>[number];
export type Call = NonNullable<Conversation['calls'][string]>[number];
export type Chat = Conversation['chat'];
export type Citation = NonNullable<Message['citations']>[number];

/** over tells whether a run does nothing more by itself. */
export function over(r: Run): boolean {
  return r.status !== 'running' && r.status !== 'waiting_approval';
}

/** merge puts what a watcher was told into what is known. */
export function merge(c: Conversation, s: NonNullable<Piece['state']>): Conversation {
  const messages = new Map((c.messages ?? []).map((m) => [m.seq, m]));
  for (const m of s.messages ?? []) messages.set(m.seq, m);
  const runs = (c.runs ?? []).filter((r) => r.id !== s.run.id);
  return { ...c, messages: [...messages.values()].sort((a, b) => a.seq - b.seq), runs: [...runs, s.run], calls: { ...c.calls, [s.run.id]: s.calls ?? [] } };
}

/** said is the text of a message. */
export function said(m: Message, kind = 'text'): string {
  return (m.parts ?? []).filter((p) => p.kind === kind).map((p) => p.text ?? '').join('');
}

/** A Step of an answer: words, or the calls that one message wanted. */
export interface Step {
  message: Message;
  text: string;
  thought: string;
  calls: Call[];
}

/** A Turn is what a person said and what came of it. */
export interface Turn {
  key: string;
  asked?: Message;
  run?: Run;
  steps: Step[];
  calls: Call[];
  /** The last message of the turn: a branch goes on after it. */
  last: number;
  /** The message before the turn: an edit goes on after it. */
  before: number;
  /** What stands where older messages are told in short from now on. */
  marker?: Message;
}

/** turnsOf cuts a conversation into turns. */
export function turnsOf(c: Conversation): Turn[] {
  const runs = new Map((c.runs ?? []).map((r) => [r.id, r]));
  const out: Turn[] = [];
  let before = 0;
  for (const m of c.messages ?? []) {
    const run = m.run ?? '';
    let t = out[out.length - 1];
    if (m.marker) {
      out.push({ key: `m${m.seq}`, steps: [], calls: [], last: m.seq, before, marker: m });
      before = m.seq;
      continue;
    }
    if (!t || t.marker || m.role === 'user' || (run && t.run && t.run.id !== run)) {
      t = { key: `t${m.seq}`, steps: [], calls: [], last: m.seq, before };
      const r = runs.get(run);
      if (r) t.run = r;
      if (m.role === 'user') t.asked = m;
      out.push(t);
    }
    t.last = before = m.seq;
    if (m.role !== 'assistant') continue;
    const calls = (c.calls[run] ?? []).filter((x) => x.message === m.seq);
    t.steps.push({ message: m, text: said(m), thought: said(m, 'reasoning'), calls });
    t.calls.push(...calls);
  }
  return out;
}

/** A Speech is an answer while it is given. What is finished of it is not drawn again. */
export class Speech {
  done: string[] = [];
  tail = '';

  /** The most of a block that is drawn again with every piece; longer ones are cut where a line is blank. */
  static most = 8000;

  push(text: string): void {
    this.tail += text;
    let from = 0; // where the unfinished block begins
    let at = 0;
    let fence = '';
    for (;;) {
      const end = this.tail.indexOf('\n', at);
      if (end < 0) break;
      const line = this.tail.slice(at, end);
      const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
      if (mark && !fence) fence = mark;
      else if (mark && mark[0] === fence[0] && mark.length >= fence.length && /^\s*[`~]+\s*$/.test(line)) fence = '';
      at = end + 1;
      if (fence || line.trim()) continue;
      // A blank line ends a block unless what follows belongs to it: an item of a
      // list, a line that is set in. What follows must be there to be judged.
      const next = this.tail.slice(at, at + 6);
      if (!next || !/\S/.test(next.slice(0, 1)) || /^([-*+>]|\d{1,9}[.)])/.test(next)) {
        if (at - from < Speech.most) continue;
      }
      const block = this.tail.slice(from, at);
      if (block.trim()) this.done.push(block);
      from = at;
    }
    this.tail = this.tail.slice(from);
  }
}

/** stateOf says plainly how far a call is. */
export function stateOf(c: Call): { word: string; kind: 'wait' | 'good' | 'bad' | 'still' } {
  if (c.repeats) return { word: 'not made: it repeats an earlier call', kind: 'still' };
  switch (c.state) {
    case 'proposed':
      return { word: 'about to begin', kind: 'wait' };
    case 'running':
      return { word: 'at work', kind: 'wait' };
    case 'asked':
      return { word: 'waits for your answer', kind: 'wait' };
    case 'done':
      return { word: 'done', kind: 'good' };
    case 'denied':
      return { word: 'not made: you said no', kind: 'still' };
    case 'interrupted':
      return { word: 'interrupted: whether it was done is not known', kind: 'bad' };
  }
  return { word: c.summary?.startsWith('not made') ? c.summary : 'failed', kind: 'bad' };
}

const telling = ['path', 'query', 'note', 'name', 'title', 'id', 'tag', 'folder', 'url', 'operation'];

/** targetOf is what a call is about, from its arguments. */
export function targetOf(args: unknown): string {
  if (!args || typeof args !== 'object') return '';
  const all = args as Record<string, unknown>;
  for (const k of [...telling, ...Object.keys(all)]) {
    const v = all[k];
    if (typeof v === 'string' && v.trim()) return v.length > 90 ? v.slice(0, 89) + '…' : v;
  }
  return '';
}

/** Objects of a result that name a note. */
function* named(v: unknown, depth = 0): Generator<{ path: string; title?: unknown }> {
  if (depth > 8 || !v || typeof v !== 'object') return;
  if (Array.isArray(v)) {
    for (const x of v) yield* named(x, depth + 1);
    return;
  }
  const o = v as Record<string, unknown>;
  if (typeof o.path === 'string' && o.path.endsWith('.md')) yield o as { path: string };
  for (const x of Object.values(o)) yield* named(x, depth + 1);
}

/** usedOf are the notes that the results of calls showed, with their titles. */
export function usedOf(calls: Call[]): Map<string, string> {
  const out = new Map<string, string>();
  for (const c of calls) {
    if (c.state !== 'done' || c.repeats) continue;
    for (const n of named(c.whole)) if (!out.get(n.path)) out.set(n.path, typeof n.title === 'string' ? n.title : '');
  }
  return out;
}

/** nameOf is what a note is called where its title is not known. */
export function nameOf(path: string): string {
  return path.replace(/^.*\//, '').replace(/\.md$/, '');
}

/** A Chip is a citation with its number. */
export interface Chip extends Citation {
  number: number;
  title: string;
  /** Where in the vault it leads. */
  to: string;
  /** What is doubtful about it. */
  doubt: string;
  /** The passage that was read there, as far as it is known. */
  passage: string;
}

/** chipsOf numbers the citations of a message. */
export function chipsOf(m: Message, titles: Map<string, string>, calls: Call[] = []): Chip[] {
  return (m.citations ?? []).map((c, i) => {
    const [target = '', ...heading] = c.link.split('#');
    const path = c.path || target;
    return {
      ...c,
      number: i + 1,
      title: titles.get(path) || nameOf(path),
      to: heading.length ? `${path}#${heading.join('#')}` : path,
      passage: c.path ? passageOf(calls, c.path, heading.at(-1) ?? '') : '',
      doubt: c.state === 'unread' ? 'not read for this answer' : c.state === 'heading' ? 'what was read has no such heading' : '',
    };
  });
}

/** passageOf is what a result showed of a note under a heading. */
function passageOf(calls: Call[], path: string, heading: string): string {
  for (const c of calls) {
    for (const n of named(c.whole)) {
      const { path: at, heading: under, chunk } = n as { path: string; heading?: unknown; chunk?: unknown };
      if (at === path && typeof chunk === 'string' && (!heading || (typeof under === 'string' && under.split(' > ').at(-1) === heading))) return excerpt(chunk);
    }
  }
  return '';
}

/** even makes quotes comparable: marks and spaces count for nothing. */
export function even(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
}

/** looseOf are the quotes that were not found and do not stand apart: those are marked where they stand. */
export function looseOf(m: Message): NonNullable<Message['quotes']> {
  const apart = new Set(
    said(m)
      .split(/^(?![ \t]*>)/m)
      .flatMap((s) => s.match(/(?:^[ \t]*>.*\n?)+/gm) ?? [])
      .map(even),
  );
  return (m.quotes ?? []).filter((q) => !q.read && !apart.has(even(q.text)));
}

const plainWords: Record<string, string> = { top_k: 'at most' };
const label = (k: string): string => plainWords[k] ?? k.charAt(0).toUpperCase() + k.slice(1).replaceAll('_', ' ');

/** viewOf makes of an answer in JSON what the shapes draw. */
export function viewOf(whole: unknown): View {
  const v: View = {};
  if (!whole || typeof whole !== 'object') {
    if (typeof whole === 'string') v.text = whole;
    return v;
  }
  const pairs: [string, string][] = [];
  for (const [k, x] of Object.entries(whole as Record<string, unknown>)) {
    if (['success', 'isError', 'index', 'operation_id', 'dry_run'].includes(k) || x === null || x === '') continue;
    if ((k === 'text' || k === 'content' || k === 'message') && typeof x === 'string' && !v.text) v.text = x;
    else if (k === 'more' && typeof x === 'string') v.foot = x;
    else if (Array.isArray(x) && x.length && x.every((o) => o && typeof o === 'object' && !Array.isArray(o))) list(v, x as Record<string, unknown>[]);
    else if (Array.isArray(x)) {
      if (x.length) pairs.push([label(k), x.map((y) => (typeof y === 'object' ? JSON.stringify(y) : String(y))).join(', ')]);
    } else if (typeof x === 'object') pairs.push([label(k), JSON.stringify(x)]);
    else pairs.push([label(k), String(x)]);
  }
  if (pairs.length) v.pairs = pairs;
  return v;
}

/** excerpt is the beginning of a passage in one line, without the marks of lists and headings. */
function excerpt(text: string): string {
  const plain = text.replace(/^[ \t]*(#{1,6}|[-*+>]|\d+[.)])[ \t]+/gm, '').replace(/\s+/g, ' ').trim();
  return plain.length > 280 ? plain.slice(0, 279) + '…' : plain;
}

function list(v: View, rows: Record<string, unknown>[]): void {
  const word = (x: unknown): string => (x === undefined || x === null ? '' : typeof x === 'object' ? JSON.stringify(x) : String(x));
  if (rows.every((r) => typeof r.path === 'string') && !v.items) {
    v.items = rows.map((r) => {
      const it: Item = { path: word(r.path), title: word(r.title) || nameOf(word(r.path)) };
      const text = word(r.chunk ?? r.excerpt ?? r.text ?? r.snippet);
      if (text) it.text = excerpt(text);
      if (typeof r.line === 'number') it.line = r.line;
      if (typeof r.heading === 'string') it.detail = r.heading;
      return it;
    });
  } else if (!v.rows) {
    const head = [...new Set(rows.flatMap(Object.keys))].slice(0, 8);
    v.head = head.map(label);
    v.rows = rows.map((r) => head.map((h) => word(r[h])));
  }
}

/** moneyOf is a price; undefined when it is not known. */
export function moneyOf(n: number | null | undefined): string | undefined {
  return typeof n !== 'number' ? undefined : n === 0 ? 'free' : n < 0.01 ? `$${n.toFixed(4)}` : `$${n.toFixed(2)}`;
}

/** A Gauge is how much of a limit is used. */
export interface Gauge {
  label: string;
  used: number;
  most: number;
  words: string;
}

/** gaugesOf are the limits of a run that bound anything. */
export function gaugesOf(r: Run): Gauge[] {
  const out: Gauge[] = [];
  const add = (label: string, used: number, most: number | undefined, words: string): void => {
    if (most) out.push({ label, used: Math.min(used, most), most, words });
  };
  const n = (x: number): string => x.toLocaleString('en');
  const tokens = r.usage.in + r.usage.out;
  add('Steps', r.steps, r.limits.steps, `${n(r.steps)} of ${n(r.limits.steps ?? 0)} steps`);
  add('Tokens', tokens, r.limits.tokens, `${n(tokens)} of ${n(r.limits.tokens ?? 0)} tokens`);
  if (typeof r.usage.cost_usd === 'number' && r.usage.cost_usd > 0) add('Cost', r.usage.cost_usd, r.limits.cost, `${moneyOf(r.usage.cost_usd)} of $${(r.limits.cost ?? 0).toFixed(2)}`);
  add('Time', r.worked / 1e9, (r.limits.time ?? 0) / 1e9, `${Math.round(r.worked / 1e9)} s of ${Math.round((r.limits.time ?? 0) / 1e9)} s`);
  return out;
}

/** The id of answering without a model. */
export const none = 'quote';

/** A Mind is one model that can be chosen. */
export interface Mind {
  id: string;
  name: string;
  local: boolean;
  thinks: boolean;
}

/** mindsOf lists the models that talk, those on this machine first, and who cannot be reached. */
export function mindsOf(m: Models): { here: Mind[]; away: Mind[]; silent: { provider: string; why: string }[] } {
  const all: Mind[] = [];
  const silent: { provider: string; why: string }[] = [];
  for (const p of m.providers ?? []) {
    if (p.error) silent.push({ provider: p.provider, why: p.error });
    for (const x of p.models ?? []) {
      if (x.embedding || x.mute) continue;
      all.push({ id: `${p.provider}/${x.name}`, name: x.name, local: !!x.local, thinks: x.thinking === true });
    }
  }
  return { here: all.filter((x) => x.local), away: all.filter((x) => !x.local), silent };
}

/** whereOf says where a model runs, as far as it is known. */
export function whereOf(id: string, m: Models | null): 'here' | 'away' | 'unknown' {
  if (id === none) return 'here';
  const all = m ? mindsOf(m) : { here: [], away: [] };
  return all.here.some((x) => x.id === id) ? 'here' : all.away.some((x) => x.id === id) ? 'away' : 'unknown';
}

/** questionsOf makes three questions that this vault can answer. */
export function questionsOf(all: { title: string; path: string; words?: number; tags?: string[] | null }[]): string[] {
  // Notes that say something, and not those that are only days or talk.
  const good = all.filter((n) => (n.words ?? 99) >= 20 && !n.tags?.some((t) => t === 'daily' || t === 'chat'));
  const notes = good.length >= 3 ? good : all;
  const names = [...new Set(notes.map((n) => (n.title || nameOf(n.path)).trim()).filter((t) => t && !/^[\d\W]+$/.test(t) && !/\d{4}-\d{2}|^\w+day,? \d/.test(t)))];
  const [a, b, c, d] = names;
  const out: string[] = [];
  if (a) out.push(`What do my notes say about ${a}?`);
  if (b && c) out.push(`How are ${b} and ${c} connected?`);
  if (d ?? a) out.push(`What is still missing in my note on ${d ?? a}?`);
  return out;
}

/** openLink finds the link to a note that is being written before the caret. */
export function openLink(text: string, caret: number): { from: number; typed: string } | undefined {
  const before = text.slice(0, caret);
  const from = before.lastIndexOf('[[');
  if (from < 0) return undefined;
  const typed = before.slice(from + 2);
  return /[\]\n|]/.test(typed) || typed.length > 80 ? undefined : { from: from + 2, typed };
}

/** openCommand is the command that is being written: one word after a slash, at the beginning. */
export function openCommand(text: string, caret: number): string | undefined {
  return /^\/([\w-]*)$/.exec(text.slice(0, caret))?.[1];
}

/** commandsOf are the tools as who has no model names them. */
export function commandsOf(tools: Tool[], typed: string): { name: string; needs: string[]; what: string }[] {
  return tools
    .filter((t) => t.name.includes(typed.replaceAll('-', '_')))
    .map((t) => ({ name: t.name, needs: ((t.input_schema as { required?: string[] } | undefined)?.required ?? []).map((r) => r.toUpperCase()), what: t.title }));
}

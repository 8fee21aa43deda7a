// What a conversation is made of, as a person reads it. Pure, so that it can be
// proved: no component, no request.
import type { Conversation, Models, Piece, Tool, View } from '../../api.gen';
import type { Attachment } from './attachments';
import type { Item } from '../../lib/types';
import { lasting } from '../../lib/when';

export type { Conversation, Models, Piece };
export type Message = NonNullable<Conversation['messages']>[number];
export type Run = NonNullable<Conversation['runs']>[number];
export type Call = NonNullable<Conversation['calls'][string]>[number];
export type Chat = Conversation['chat'];
export type Branching = NonNullable<Conversation['branches']>[number];
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

/** A Sending is everything that a person says at once. */
export interface Sending {
  text: string;
  /** The note that the person looks at. */
  note?: string;
  attached?: Attachment[];
}

/** sendingOf is a message to be said once more. */
export function sendingOf(m: Message, text = said(m)): Sending {
  return { text, ...(m.note ? { note: m.note } : {}), ...(m.attached?.length ? { attached: m.attached.map(({ withheld: _, ...a }) => a) } : {}) };
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

/** stateOf says plainly how far a call is. */
export function stateOf(c: Call): { word: string; kind: 'wait' | 'good' | 'bad' | 'still' } {
  if (c.repeats) return { word: 'Skipped: repeats an earlier call', kind: 'still' };
  if (c.excess) return { word: 'Skipped: too many calls in one answer', kind: 'still' };
  switch (c.state) {
    case 'proposed':
      return { word: 'Starting', kind: 'wait' };
    case 'running':
      return { word: 'Running', kind: 'wait' };
    case 'asked':
      return { word: 'Needs approval', kind: 'wait' };
    case 'done':
      return { word: 'Done', kind: 'good' };
    case 'denied':
      return { word: 'Denied', kind: 'still' };
    case 'interrupted':
      return { word: 'Interrupted; it may or may not have finished', kind: 'bad' };
  }
  return { word: 'Failed', kind: 'bad' };
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
      doubt: c.state === 'unread' ? 'Not read for this answer' : c.state === 'heading' ? 'Heading not found in the note that was read' : '',
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

const plainWords: Record<string, string> = { top_k: 'Maximum results' };
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

/** spentOf is what the runs of a chat used together. The cost is undefined when it is not known. */
export function spentOf(runs: Run[]): { tokens: number; cost: number | undefined } {
  const priced = runs.every((r) => r.priced);
  return { tokens: runs.reduce((n, r) => n + r.usage.in + r.usage.out, 0), cost: priced ? runs.reduce((n, r) => n + (r.usage.cost_usd ?? 0), 0) : undefined };
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
  add('Time', r.worked / 1e9, (r.limits.time ?? 0) / 1e9, `${lasting(r.worked / 1e9)} of ${lasting((r.limits.time ?? 0) / 1e9)}`);
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
  /** Whether it can read pictures; undefined: not known. */
  sees: boolean | undefined;
}

/** mindsOf lists the models that talk, those on this machine first, and who cannot be reached. */
export function mindsOf(m: Models): { here: Mind[]; away: Mind[]; silent: { provider: string; why: string }[] } {
  const all: Mind[] = [];
  const silent: { provider: string; why: string }[] = [];
  for (const p of m.providers ?? []) {
    if (p.error) silent.push({ provider: p.provider, why: p.state === 'absent' ? 'nothing is listening at this address' : p.error });
    for (const x of p.models ?? []) {
      if (x.embedding || x.mute) continue;
      all.push({ id: `${p.provider}/${x.name}`, name: x.name, local: !!x.local, thinks: x.thinking === true, sees: x.vision ?? undefined });
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

/** mindOf is a model that was listed. */
export function mindOf(id: string, m: Models | null): Mind | undefined {
  const all = m ? mindsOf(m) : { here: [], away: [] };
  return [...all.here, ...all.away].find((x) => x.id === id);
}

/** questionsOf makes three questions that this vault can answer. */
export function questionsOf(all: { title: string; path: string; words?: number; tags?: string[] | null }[]): string[] {
  // Notes that say something, and not those that are only days or talk.
  const good = all.filter((n) => (n.words ?? 99) >= 20 && !n.tags?.some((t) => t === 'daily' || t === 'chat'));
  const notes = good.length >= 3 ? good : all;
  const names = [...new Set(notes.map((n) => (n.title || nameOf(n.path)).trim()).filter((t) => t && !/^[\d\W]+$/.test(t) && !/\d{4}-\d{2}|^\w+day,? \d/.test(t)))];
  const [a, b, c, d] = names;
  const out: string[] = [];
  if (a) out.push(`What do my notes say about “${a}”?`);
  if (b && c) out.push(`How are “${b}” and “${c}” connected?`);
  if (d ?? a) out.push(`What is still missing in my note “${d ?? a}”?`);
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

/** openMention finds the note that is being named before the caret, by one word after an at sign. */
export function openMention(text: string, caret: number): { from: number; typed: string } | undefined {
  const m = /(?:^|[\s(])@([^\s@]{0,60})$/.exec(text.slice(0, caret));
  return m ? { from: caret - m[1]!.length - 1, typed: m[1]! } : undefined;
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

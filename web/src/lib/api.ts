// The way to the server. A failure is a value, never an exception: whoever asks
// decides what it means. The session is a cookie that no script can read, and a word
// that only this origin has (session.ts); what changes something is sent as JSON,
// which no other site can do (docs/rest.md).
import { proof } from './session';
import { routes, type Problem, type Routes } from '../api.gen';

export type { Answer, Approval, Item, Pending, Problem, Result, Rules, Status, Tool, ToolTypes, Verified, View } from './types';

/** What came of a request. */
export type Reply<T> = { ok: true; value: T; status: number } | { ok: false; problem: Problem };

type Field<N extends string, T> = [T] extends [void] ? { [K in N]?: undefined } : { [K in N]: T };
type Query<T> = [T] extends [void] ? { query?: undefined } : { query?: T };
/** What a route is asked with. */
export type Args<K extends keyof Routes> = Field<'path', Routes[K]['path']> & Query<Routes[K]['query']> & Field<'body', Routes[K]['body']> & { signal?: AbortSignal; /** The request goes on when the page is closed. */ keepalive?: boolean };

type Listener = () => void;
const gone = new Set<Listener>();
/** onSignedOut is told when the server no longer knows this browser. */
export function onSignedOut(f: Listener): () => void {
  gone.add(f);
  return () => gone.delete(f);
}
export function signedOut(): void {
  for (const f of gone) f();
}

/** problemOf makes one of whatever went wrong on the way. */
export function problemOf(status: number, detail: string, fix = ''): Problem {
  return { type: 'about:blank', title: '', status, detail, kind: status === 0 ? 'unavailable' : 'internal', ...(fix ? { fix } : {}) };
}

/** address fills a route's pattern and adds the query. */
export function address(pattern: string, path?: Record<string, string>, query?: Record<string, string | number | undefined>): string {
  const at = pattern.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path?.[name] ?? ''));
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(query ?? {})) if (v !== undefined && v !== '') q.set(k, String(v));
  const text = q.toString();
  return text ? `${at}?${text}` : at;
}

/** ask calls one route. */
export async function ask<K extends keyof Routes>(route: K, ...rest: object extends Args<K> ? [args?: Args<K>] : [args: Args<K>]): Promise<Reply<Routes[K]['out']>> {
  const args = (rest[0] ?? {}) as { path?: Record<string, string>; query?: Record<string, string | number>; body?: unknown; signal?: AbortSignal; keepalive?: boolean };
  const [method, pattern] = routes[route];
  const init: RequestInit = { method, credentials: 'same-origin', headers: { Accept: 'application/json' } };
  if (args.signal) init.signal = args.signal;
  if (method !== 'GET') {
    init.headers = { ...init.headers, 'Content-Type': 'application/json' };
    init.body = JSON.stringify(args.body ?? {});
    if (args.keepalive && init.body.length < 20_000) init.keepalive = true; // browsers allow 64 kB, of bytes
  }
  return send(address(pattern, args.path, args.query), init);
}

/** send makes any request to this server. */
export async function send<T>(to: string, init: RequestInit): Promise<Reply<T>> {
  let res: Response;
  try {
    res = await fetch(to, { ...init, headers: { ...(init.headers as Record<string, string> | undefined), ...proof() } });
  } catch {
    return { ok: false, problem: problemOf(0, 'Lore is not responding.', 'Check that lore serve is running.') };
  }
  let value: unknown;
  const text = await res.text().catch(() => '');
  try {
    value = text.trim() ? JSON.parse(text) : undefined;
  } catch {
    return { ok: false, problem: problemOf(res.status, 'Lore sent a response that the page could not read.') };
  }
  if (res.ok) return { ok: true, value: value as T, status: res.status };
  if (res.status === 401) signedOut();
  return { ok: false, problem: { ...problemOf(res.status, res.statusText), ...(value as Partial<Problem>) } };
}

/** words puts a problem into one sentence or two. */
export function words(p: Problem): string {
  const parts = [p.detail || p.title, p.fix].filter((s): s is string => !!s);
  return parts.map((s, i) => s.charAt(0).toUpperCase() + (i < parts.length - 1 ? s.slice(1).replace(/\.$/, '') : s.slice(1))).join('. ');
}

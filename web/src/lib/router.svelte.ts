// Where a person is: the path of the address, and nothing else.
import { entry } from './scrolled';

/** Views of the page, by the first part of the path. */
export const views = ['home', 'approvals', 'chat', 'notes', 'search', 'graph', 'activity', 'tools', 'settings', 'onboarding', 'doctor', 'share'] as const;
export type View = (typeof views)[number];

/** A Place is an address taken apart. */
export interface Place {
  view: View | 'nowhere';
  /** What follows the view, decoded; slashes stay. */
  rest: string;
  query: URLSearchParams;
}

/** placeOf takes an address apart. */
export function placeOf(url: string): Place {
  const u = new URL(url, 'http://lore.invalid');
  const [first = '', ...more] = u.pathname.split('/').slice(1);
  let rest = '';
  try {
    rest = more.map(decodeURIComponent).join('/');
  } catch {
    return { view: 'nowhere', rest: '', query: u.searchParams };
  }
  const view = first === '' ? 'home' : (views as readonly string[]).includes(first) && first !== 'home' ? (first as View) : 'nowhere';
  return { view, rest, query: u.searchParams };
}

/** noteAt tells a note from the part of it that is asked for. A name may hold the sign that parts them. */
export function noteAt(rest: string): { path: string; anchor: string } {
  const [, path = '', anchor = ''] = /^(.*?\.(?:md|markdown))(?:#(.*))?$/is.exec(rest) ?? /^([^#]*)(?:#(.*))?$/s.exec(rest) ?? [];
  return { path, anchor };
}

/** pathTo makes an address. */
export function pathTo(view: View, rest = '', query: Record<string, string | number | undefined> = {}): string {
  const base = view === 'home' ? '/' : '/' + view + (rest ? '/' + rest.split('/').map(encodeURIComponent).join('/') : '');
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(query)) if (v !== undefined && v !== '') q.set(k, String(v));
  const text = q.toString();
  return text ? `${base}?${text}` : base;
}

class Router {
  place = $state.raw<Place>(placeOf(typeof location === 'undefined' ? '/' : location.href));

  /** back says that the buttons of the browser led here: what is shown was seen before. */
  back = false;

  #last = new Map<View, Place>();

  /** at is where a person is in one view. A view that is about to leave still
   *  sees the place that it was shown for, and asks for nothing of the next. */
  at(view: View): Place {
    const p = this.place;
    if (p.view !== view) return this.#last.get(view) ?? p;
    this.#last.set(view, p);
    return p;
  }

  /** go shows another place. */
  go(path: string, replace = false): void {
    if (replace) history.replaceState(entry(false), '', path);
    else history.pushState(entry(true), '', path);
    this.back = false;
    this.place = placeOf(location.href);
    if (!replace) document.getElementById('main')?.scrollTo(0, 0);
  }

  /** start follows the buttons of the browser, and links of this page. */
  start(): () => void {
    const moved = (): void => {
      this.back = true;
      this.place = placeOf(location.href);
    };
    const clicked = (e: MouseEvent): void => {
      if (e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
      const a = (e.target as Element | null)?.closest?.('a[href]');
      if (!(a instanceof HTMLAnchorElement) || a.target || a.hasAttribute('download') || a.origin !== location.origin) return;
      if (placeOf(a.href).view === 'nowhere') return; // the server's own: descriptions, licences
      e.preventDefault();
      if (a.href !== location.href) this.go(a.pathname + a.search);
    };
    addEventListener('popstate', moved);
    document.addEventListener('click', clicked);
    return () => {
      removeEventListener('popstate', moved);
      document.removeEventListener('click', clicked);
    };
  }
}

export const router = new Router();

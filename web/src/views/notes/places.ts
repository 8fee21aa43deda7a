// Going to a place in a note that is drawn to be read.

/** go shows a place, and marks it: at the end of a note it does not come to the top. */
function go(to: HTMLElement | undefined, block: ScrollLogicalPosition): void {
  if (!to) return;
  to.closest('.prose')?.querySelector('.found')?.classList.remove('found');
  to.classList.add('found');
  to.tabIndex = -1;
  to.focus({ preventScroll: true });
  to.scrollIntoView({ block });
}

/** toHeading goes to a heading by its words, or to a block by its name. */
export function toHeading(page: HTMLElement | undefined, words: string): void {
  const want = words.replace(/^.*#/, '').trim().toLowerCase();
  if (want.startsWith('^')) return go(page?.querySelector<HTMLElement>(`.prose [data-block="${CSS.escape(want.slice(1))}" i]`) ?? undefined, 'center');
  const all = [...(page?.querySelectorAll<HTMLElement>('.prose :is(h1, h2, h3, h4, h5, h6)') ?? [])];
  go(all.find((h) => h.textContent?.trim().toLowerCase() === want), 'start');
}

/** toLine goes to the block that a line is written in. */
export function toLine(page: HTMLElement | undefined, n: number): void {
  let found: HTMLElement | undefined;
  for (const x of page?.querySelectorAll<HTMLElement>('.prose [data-line]') ?? []) if (Number(x.dataset.line) <= n) found = x;
  go(found, 'center');
}

const read = new Map<string, number>(); // how far each note was read

/** scroller is what moves when a note is pushed: that depends on the room there is. */
function scroller(el: HTMLElement): Element {
  for (let e: HTMLElement | null = el; e; e = e.parentElement) if (/auto|scroll/.test(getComputedStyle(e).overflowY) && e.scrollHeight > e.clientHeight) return e;
  return document.scrollingElement ?? document.documentElement;
}

/** follow remembers how far a note is read until the returned function is called. */
export function follow(path: string, el: () => HTMLElement | undefined): () => void {
  const pushed = (): void => {
    const at = el();
    if (at?.isConnected) read.set(path, scroller(at).scrollTop);
  };
  document.addEventListener('scroll', pushed, { capture: true, passive: true });
  return () => document.removeEventListener('scroll', pushed, { capture: true });
}

/** toRead goes to where a note was read, and reports whether it was. */
export function toRead(path: string, el: HTMLElement | undefined): boolean {
  const top = read.get(path);
  if (!top || !el) return false;
  scroller(el).scrollTop = top;
  return true;
}

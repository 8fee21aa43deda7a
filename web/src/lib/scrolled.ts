// How far each place of the browser's history was scrolled. Who comes back finds it
// where it was left, as soon as what was there is there again.

const left = new Map<number, { top: number; href: string }>();
let entries = 0;

/** entry numbers an entry of the history: the present one, or the next. */
export function entry(isNew: boolean): { at: number } {
  const now = (history.state as { at?: number } | null)?.at;
  if (!isNew && now !== undefined) return { at: now };
  return { at: (entries = Math.max(entries, now ?? 0) + 1) };
}

const here = (): number => (history.state as { at?: number } | null)?.at ?? 0;

/** follow keeps how far an element is scrolled, and puts it back when the buttons of the browser are used. */
export function follow(el: HTMLElement): () => void {
  let stop = (): void => {};
  let isRestoring = false;
  const scrolled = (): void => {
    if (!isRestoring) left.set(here(), { top: el.scrollTop, href: location.href });
  };
  const restore = (): void => {
    stop();
    const was = left.get(here());
    const top = was?.href === location.href ? was.top : 0;
    if (!top) {
      el.scrollTop = 0;
      return;
    }
    isRestoring = true;
    // What is shown comes in pieces: it is tried again whenever there is more of it, until a hand takes over.
    const grown = new MutationObserver(() => requestAnimationFrame(put));
    const end = setTimeout(() => stop(), 5000);
    const hand = (): void => stop();
    const put = (): void => {
      if (!isRestoring) return;
      el.scrollTop = top;
      if (Math.abs(el.scrollTop - top) < 2) stop();
    };
    stop = () => {
      isRestoring = false;
      grown.disconnect();
      clearTimeout(end);
      for (const e of ['wheel', 'touchstart', 'keydown', 'pointerdown']) removeEventListener(e, hand, true);
      stop = () => {};
    };
    for (const e of ['wheel', 'touchstart', 'keydown', 'pointerdown']) addEventListener(e, hand, { capture: true, passive: true });
    grown.observe(el, { childList: true, subtree: true });
    requestAnimationFrame(put);
  };
  el.addEventListener('scroll', scrolled, { passive: true });
  addEventListener('popstate', restore);
  return () => {
    stop();
    el.removeEventListener('scroll', scrolled);
    removeEventListener('popstate', restore);
  };
}

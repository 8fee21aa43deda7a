// The focus is never nowhere: when what had it goes away, or can no longer be
// pressed, it goes to the nearest thing around it that stays. Whoever uses keys,
// or hears the page, goes on from there and not from the top.

const places = '[tabindex], section, form, article, aside, li, ul, ol, dialog, main';

/** lost reports whether an element cannot have the focus any more. */
function lost(el: Element): boolean {
  return !el.isConnected || el.matches(':disabled') || !el.checkVisibility();
}

/** around is what is left around an element that had the focus; path is what it stood in. */
export function around(path: readonly Element[]): HTMLElement | undefined {
  return path.find((e): e is HTMLElement => e instanceof HTMLElement && e.matches(places) && !lost(e));
}

/** put gives the focus to something that is no control, too. */
export function put(el: HTMLElement | null | undefined): void {
  if (!el) return;
  el.focus({ preventScroll: true });
  if (document.activeElement === el) return;
  el.tabIndex = -1;
  el.focus({ preventScroll: true });
}

/** keepFocus watches over it until the returned function is called. */
export function keepFocus(): () => void {
  let path: Element[] = [];
  const came = (e: FocusEvent): void => {
    path = e.composedPath().filter((x): x is Element => x instanceof Element);
  };
  const left = (e: FocusEvent): void => {
    // Who puts it away, as with a click beside everything, has it nowhere. Whether
    // it was put away or went away is known a moment later.
    const [had] = path;
    if (e.relatedTarget || had !== e.target) return;
    setTimeout(() => {
      if (had && path[0] === had && !lost(had) && document.hasFocus() && document.activeElement === document.body) path = [];
    }, 0);
  };
  let due = 0;
  const look = (): void => {
    due = 0;
    const [had] = path;
    if (!had || (document.activeElement !== document.body && document.activeElement !== null) || !lost(had)) return;
    put(around(path.slice(1)) ?? document.getElementById('main'));
  };
  // After the drawing: then the browser itself has let go of what cannot be pressed.
  const soon = (): void => {
    due ||= requestAnimationFrame(() => setTimeout(look, 0));
  };
  const watch = new MutationObserver((seen) => {
    const [had] = path;
    // Whether it is still seen is asked later: asking would lay the page out each time.
    if (had && (document.activeElement === document.body || !had.isConnected || seen.some((m) => m.type === 'attributes'))) soon();
  });
  watch.observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: ['disabled', 'hidden', 'open'] });
  document.addEventListener('focusin', came);
  document.addEventListener('focusout', left);
  return () => {
    watch.disconnect();
    cancelAnimationFrame(due);
    document.removeEventListener('focusin', came);
    document.removeEventListener('focusout', left);
  };
}

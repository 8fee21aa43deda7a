// Going to a place in a note that is drawn to be read.

function go(to: HTMLElement | undefined, block: ScrollLogicalPosition): void {
  if (!to) return;
  to.tabIndex = -1;
  to.focus({ preventScroll: true });
  to.scrollIntoView({ block });
}

/** toHeading goes to a heading by its words. */
export function toHeading(page: HTMLElement | undefined, words: string): void {
  const want = words.replace(/^.*#/, '').trim().toLowerCase();
  const all = [...(page?.querySelectorAll<HTMLElement>('.prose :is(h1, h2, h3, h4, h5, h6)') ?? [])];
  go(all.find((h) => h.textContent?.trim().toLowerCase() === want), 'start');
}

/** toLine goes to the block that a line is written in. */
export function toLine(page: HTMLElement | undefined, n: number): void {
  let found: HTMLElement | undefined;
  for (const x of page?.querySelectorAll<HTMLElement>('.prose [data-line]') ?? []) if (Number(x.dataset.line) <= n) found = x;
  found?.classList.add('found');
  go(found, 'center');
}

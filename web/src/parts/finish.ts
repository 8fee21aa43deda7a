// What is drawn after a text is on the page: what few notes have is fetched for those that have it.

/** finish lets each block be read from its own side, colors code, and draws formulas and diagrams; of a text that still grows, no diagrams. */
export function finish(el: HTMLElement, growing = false): void {
  // Each block is read from the side that its own letters ask for.
  for (const b of el.querySelectorAll<HTMLElement>('p, h1, h2, h3, h4, h5, h6, ul, ol, blockquote, table')) b.dir = 'auto';
  if (el.querySelector('pre[title] > code')) void import('./highlight').then((m) => m.highlight(el)).catch(() => undefined);
  if (el.querySelector('[data-math]')) void import('./maths').then((m) => m.drawFormulas(el)).catch(() => undefined);
  if (!growing && el.querySelector('pre[title="mermaid"]:not(.diagram *)')) void import('./diagrams').then((m) => m.drawDiagrams(el)).catch(() => undefined);
}

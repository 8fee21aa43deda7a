// What the page itself moves under a resting hand. A list that scrolls to its
// end by itself tells of it; a hand that scrolls tells nobody.
type Hearer = (box: Element) => void;
const hearers = new Set<Hearer>();

/** onShift calls f with every box whose contents were moved, until the returned function is called. */
export function onShift(f: Hearer): () => void {
  hearers.add(f);
  return () => hearers.delete(f);
}

/** scrollSelf scrolls a box without anybody's hand. */
export function scrollSelf(box: Element, top: number): void {
  const before = box.scrollTop;
  box.scrollTo({ top });
  if (box.scrollTop !== before) for (const f of hearers) f(box);
}

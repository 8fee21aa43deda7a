// What folds out of a button goes as menus do: with Escape, and with a press
// beside it. Whoever used keys is on the button again.

/** folds is attached to the details of a menu. */
export function folds(el: HTMLDetailsElement): () => void {
  const pressed = (e: KeyboardEvent): void => {
    if (e.key !== 'Escape' || !el.open || e.defaultPrevented) return;
    e.preventDefault();
    el.open = false;
    el.querySelector('summary')?.focus();
  };
  const beside = (e: Event): void => {
    if (el.open && e.target instanceof Node && !el.contains(e.target)) el.open = false;
  };
  el.addEventListener('keydown', pressed);
  document.addEventListener('pointerdown', beside);
  return () => {
    el.removeEventListener('keydown', pressed);
    document.removeEventListener('pointerdown', beside);
  };
}

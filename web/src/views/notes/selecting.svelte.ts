// Which passage of a note is selected, in the drawn note or in the editor. The bar
// for it comes when the selection stays as it is for a moment, and goes with it.
import type { Editor } from '../../parts/editor/editor';
import { findPassage, type Passage } from './passage';

const pause = 250; // milliseconds

export interface Selected {
  text: string;
  /** Its place in the text of the note; undefined where it is not one. */
  passage: Passage | undefined;
  place: { left: number; top: number };
}

export class Selecting {
  now = $state.raw<Selected | null>(null);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #body: () => HTMLElement | undefined;
  #editor: () => Editor | undefined;
  #text: () => string;

  constructor(body: () => HTMLElement | undefined, editor: () => Editor | undefined, text: () => string) {
    [this.#body, this.#editor, this.#text] = [body, editor, text];
  }

  /** follow watches the selection, until the note is left. */
  follow(): () => void {
    const changed = (): void => {
      clearTimeout(this.#timer);
      if (!this.#selected()) this.now = null;
      else this.#timer = setTimeout(() => (this.now = this.look()), pause);
    };
    // Where the text moves, the bar goes, and comes back beside the passage.
    const moved = (): void => {
      this.now = null;
      changed();
    };
    document.addEventListener('selectionchange', changed);
    document.addEventListener('scroll', moved, true);
    return () => {
      clearTimeout(this.#timer);
      document.removeEventListener('selectionchange', changed);
      document.removeEventListener('scroll', moved, true);
    };
  }

  #selected(): Range | undefined {
    const [s, body] = [getSelection(), this.#body()];
    if (!s || s.isCollapsed || !s.rangeCount || !body) return undefined;
    const r = s.getRangeAt(0);
    const inside = [...body.querySelectorAll('.prose, .cm-content')].some((el) => el.contains(r.startContainer) && el.contains(r.endContainer));
    return inside && s.toString().trim().length > 1 ? r : undefined;
  }

  /** look is what is selected now. */
  look(): Selected | null {
    const r = this.#selected();
    if (!r) return null;
    const passage = this.#editor()?.selection() ?? (this.#editor() ? undefined : findPassage(this.#text(), String(getSelection())));
    const box = r.getBoundingClientRect();
    const [wide, high] = [innerWidth, innerHeight];
    const below = Math.min(box.bottom + 8, high - 52);
    const above = box.top > 110 && !matchMedia('(pointer: coarse)').matches; // there, the system has a menu of its own
    return { text: passage?.text ?? String(getSelection()), passage, place: { left: Math.max(8, Math.min(box.left, wide - 270)), top: above ? box.top - 46 : below } };
  }
}

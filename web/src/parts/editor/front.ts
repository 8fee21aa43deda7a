// The properties at the top of a note are one line while somebody writes below
// them: the panel beside the note shows them. A click opens them, and so does the
// caret that comes to them.
import { StateField, type EditorState, type Extension, type Text, type Transaction } from '@codemirror/state';
import { Decoration, EditorView, WidgetType, type DecorationSet } from '@codemirror/view';

const most = 200; // lines; longer front matter stays open

/** endOfFront is where the front matter of a text ends, 0 where there is none. */
export function endOfFront(doc: Text): number {
  if (!/^---[ \t]*$/.test(doc.line(1).text)) return 0;
  for (let n = 2; n <= Math.min(doc.lines, most); n++) if (/^(---|\.\.\.)[ \t]*$/.test(doc.line(n).text)) return doc.line(n).to;
  return 0;
}

class Folded extends WidgetType {
  override eq(): boolean {
    return true;
  }
  toDOM(view: EditorView): HTMLElement {
    const el = document.createElement('div');
    el.className = 'cm-folded-front';
    el.textContent = '▸ Properties';
    el.title = 'Edit the properties as text';
    el.onmousedown = (e) => {
      e.preventDefault();
      view.dispatch({ selection: { anchor: view.state.doc.line(2).from }, scrollIntoView: true });
      view.focus();
    };
    return el;
  }
  override ignoreEvent(): boolean {
    return true;
  }
}
const folded = Decoration.replace({ widget: new Folded(), block: true });

interface Front {
  open: boolean;
  end: number;
  shown: DecorationSet;
}

function frontOf(state: EditorState, open: boolean): Front {
  const end = endOfFront(state.doc);
  return { open, end, shown: end && !open ? Decoration.set(folded.range(0, end)) : Decoration.none };
}

/** isOpen tells it from where the caret went. At the very beginning it is until a person goes somewhere. */
function isOpen(tr: Transaction, was: Front): boolean {
  if (!tr.selection) return was.open;
  const { head } = tr.state.selection.main;
  if (head === 0) return was.open || tr.isUserEvent('select');
  return head <= endOfFront(tr.state.doc);
}

export const front: Extension = StateField.define<Front>({
  create: (state) => frontOf(state, state.selection.main.head > 0 && state.selection.main.head <= endOfFront(state.doc)),
  update(was, tr) {
    if (!tr.docChanged && !tr.selection) return was;
    const open = isOpen(tr, was);
    return !tr.docChanged && open === was.open ? was : frontOf(tr.state, open);
  },
  provide: (f) => EditorView.decorations.from(f, (v) => v.shown),
});

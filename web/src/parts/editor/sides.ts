// Each line is read from the side that its own letters ask for.
import { RangeSetBuilder } from '@codemirror/state';
import { Decoration, EditorView, ViewPlugin, type DecorationSet, type ViewUpdate } from '@codemirror/view';

const auto = Decoration.line({ attributes: { dir: 'auto' } });

function lines(view: EditorView): DecorationSet {
  const out = new RangeSetBuilder<Decoration>();
  for (const { from, to } of view.visibleRanges) {
    for (let at = from; at <= to; ) {
      const l = view.state.doc.lineAt(at);
      out.add(l.from, l.from, auto);
      at = l.to + 1;
    }
  }
  return out.finish();
}

class Sides {
  decorations: DecorationSet;
  constructor(view: EditorView) {
    this.decorations = lines(view);
  }
  update(u: ViewUpdate): void {
    if (u.docChanged || u.viewportChanged) this.decorations = lines(u.view);
  }
}

export const sides = [EditorView.perLineTextDirection.of(true), ViewPlugin.fromClass(Sides, { decorations: (s) => s.decorations })];

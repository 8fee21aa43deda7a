// What is written looks like what it means, while every sign stays where it is:
// headings are large, code has its ground, quotes their bar, links can be opened.
import { syntaxTree } from '@codemirror/language';
import { Decoration, ViewPlugin, EditorView, type DecorationSet, type ViewUpdate } from '@codemirror/view';
import type { Extension, Range } from '@codemirror/state';

const line = (name: string): Decoration => Decoration.line({ class: name });
const heads = [1, 2, 3, 4, 5, 6].map((n) => line(`cm-h${n}`));
const quote = line('cm-quote');
const callout = line('cm-quote cm-callout');
const code = line('cm-code');
const front = line('cm-front');
const done = Decoration.mark({ class: 'cm-done' });
const wiki = Decoration.mark({ class: 'cm-wiki', attributes: { title: 'Ctrl+click to open' } });

function decorate(view: EditorView): DecorationSet {
  const out: Range<Decoration>[] = [];
  const doc = view.state.doc;
  const lines = (from: number, to: number, d: Decoration): void => {
    for (let at = from; at <= to; ) {
      const l = doc.lineAt(at);
      out.push(d.range(l.from));
      at = l.to + 1;
    }
  };
  // Front matter is none of Markdown's business.
  let body = 0;
  if (/^---\s*$/.test(doc.line(1).text)) {
    for (let n = 2; n <= Math.min(doc.lines, 200); n++) {
      if (!/^(---|\.\.\.)\s*$/.test(doc.line(n).text)) continue;
      body = doc.line(n).to + 1;
      lines(0, doc.line(n).to, front);
      break;
    }
  }
  for (const { from, to } of view.visibleRanges) {
    syntaxTree(view.state).iterate({
      from,
      to,
      enter(n) {
        if (n.to <= body && n.name !== 'Document') return false;
        const head = /^(?:ATX|Setext)Heading(\d)$/.exec(n.name);
        const d = heads[Number(head?.[1] ?? 0) - 1];
        if (d && n.from >= body) lines(n.from, n.to, d);
        else if (n.name === 'Blockquote') lines(Math.max(n.from, from), Math.min(n.to, to), /^> ?\[![\w-]+\]/.test(doc.sliceString(n.from, n.from + 40)) ? callout : quote);
        else if (n.name === 'FencedCode' || n.name === 'CodeBlock') lines(Math.max(n.from, from), Math.min(n.to, to), code);
        else if (n.name === 'WikiLink' || n.name === 'Embed') out.push(wiki.range(n.from, n.to));
        else if (n.name === 'Task' && /x/i.test(doc.sliceString(n.from + 1, n.from + 2))) out.push(done.range(Math.min(n.from + 3, n.to), n.to));
        return undefined;
      },
    });
  }
  return Decoration.set(out.filter((r) => r.from < r.to || r.value.spec.class !== 'cm-done'), true);
}

/** targetAt is what the link at a place leads to. */
export function targetAt(view: EditorView, pos: number): string | undefined {
  for (let n = syntaxTree(view.state).resolveInner(pos, 1); n.parent; n = n.parent) {
    const text = view.state.sliceDoc(n.from, n.to);
    if (n.name === 'WikiLink' || n.name === 'Embed') return text.replace(/^!?\[\[|\]\]$/g, '').split('|')[0]?.trim();
    if (n.name === 'Link') {
      const url = n.getChild('URL');
      return url ? view.state.sliceDoc(url.from, url.to) : undefined;
    }
  }
  return undefined;
}

/** preview shows notes while they are written; open is told which link was chosen. */
export function preview(open: (target: string) => void): Extension {
  return [
    ViewPlugin.fromClass(
      class {
        decorations: DecorationSet;
        constructor(view: EditorView) {
          this.decorations = decorate(view);
        }
        update(u: ViewUpdate): void {
          if (u.docChanged || u.viewportChanged || syntaxTree(u.startState) !== syntaxTree(u.state)) this.decorations = decorate(u.view);
        }
      },
      { decorations: (p) => p.decorations },
    ),
    EditorView.domEventHandlers({
      mousedown(e, view) {
        if (!(e.ctrlKey || e.metaKey) || e.button !== 0) return false;
        const pos = view.posAtCoords({ x: e.clientX, y: e.clientY });
        const target = pos === null ? undefined : targetAt(view, pos);
        if (!target) return false;
        e.preventDefault();
        open(target);
        return true;
      },
    }),
  ];
}

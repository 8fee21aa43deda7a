// Live preview: the signs of Markdown are shown only where the caret is. Elsewhere
// stands what they mean: boxes, bullets, pictures, rules, tables. The text itself
// stays as it is written.
import { syntaxTree } from '@codemirror/language';
import { StateField, type EditorState, type Extension, type Range } from '@codemirror/state';
import { Decoration, EditorView, ViewPlugin, WidgetType, type DecorationSet, type ViewUpdate } from '@codemirror/view';
import type { SyntaxNode, SyntaxNodeRef } from '@lezer/common';
import { finish } from '../finish';
import { hasScheme, render, type Options } from '../markdown';
import { front } from './front';
import { cellAt } from './tables';

const hidden = Decoration.replace({});
const label = Decoration.mark({ class: 'cm-wiki', attributes: { title: 'Ctrl+click to open' } });
const most = 300_000; // characters, above which tables stay text

/** A Box is the box of a task. A click turns it over. */
class Box extends WidgetType {
  constructor(readonly done: boolean) {
    super();
  }
  override eq(o: Box): boolean {
    return o.done === this.done;
  }
  toDOM(view: EditorView): HTMLElement {
    const box = document.createElement('input');
    box.type = 'checkbox';
    box.className = 'cm-box';
    box.checked = this.done;
    box.setAttribute('aria-label', this.done ? 'Done' : 'To do');
    box.tabIndex = -1; // the caret goes through the text
    box.onmousedown = (e) => e.preventDefault();
    box.onclick = (e) => {
      e.preventDefault();
      const at = view.posAtDOM(box);
      view.dispatch({ changes: { from: at + 1, to: at + 2, insert: this.done ? ' ' : 'x' }, userEvent: 'input' });
    };
    return box;
  }
  override ignoreEvent(): boolean {
    return true;
  }
}

/** A Sign stands for characters: a bullet, a rule, the kind of a callout. */
class Sign extends WidgetType {
  constructor(
    readonly name: string,
    readonly text: string,
  ) {
    super();
  }
  override eq(o: Sign): boolean {
    return o.name === this.name && o.text === this.text;
  }
  toDOM(): HTMLElement {
    const el = document.createElement('span');
    el.className = this.name;
    el.textContent = this.text;
    return el;
  }
}

class Picture extends WidgetType {
  constructor(
    readonly src: string,
    readonly alt: string,
    readonly wide: number,
  ) {
    super();
  }
  override eq(o: Picture): boolean {
    return o.src.split('?')[0] === this.src.split('?')[0] && o.alt === this.alt && o.wide === this.wide;
  }
  toDOM(view: EditorView): HTMLElement {
    const img = document.createElement('img');
    img.className = 'cm-picture';
    img.src = this.src;
    img.alt = this.alt;
    if (this.wide) img.width = this.wide;
    img.onload = () => view.requestMeasure();
    return img;
  }
}

/** A Rendered block is drawn as the reading view draws it. A click puts the caret into its text. */
class Rendered extends WidgetType {
  constructor(
    readonly text: string,
    readonly o: Options,
  ) {
    super();
  }
  override eq(o: Rendered): boolean {
    return o.text === this.text && o.o === this.o;
  }
  toDOM(view: EditorView): HTMLElement {
    const el = document.createElement('div');
    el.className = 'cm-rendered prose';
    el.append(render(this.text, this.o));
    finishIn(el, view);
    el.onmousedown = (e) => {
      if (e.ctrlKey || e.metaKey) return;
      e.preventDefault();
      const cell = (e.target as Element).closest<HTMLTableCellElement>('td, th');
      const row = cell?.parentElement as HTMLTableRowElement | undefined;
      const first = view.state.doc.lineAt(view.posAtDOM(el)).number;
      const line = view.state.doc.line(Math.min(view.state.doc.lines, first + (row?.rowIndex ? row.rowIndex + 1 : 0)));
      view.dispatch({ selection: { anchor: Math.min(line.to, line.from + (cell ? cellAt(line.text, cell.cellIndex)[1] : 0)) } });
      view.focus();
    };
    return el;
  }
  override ignoreEvent(e: Event): boolean {
    return e.type !== 'mousedown' || !((e as MouseEvent).ctrlKey || (e as MouseEvent).metaKey);
  }
}

/** A Formula stands in a line. A click puts the caret into its text. */
class Formula extends WidgetType {
  constructor(
    readonly text: string,
    readonly o: Options,
  ) {
    super();
  }
  override eq(o: Formula): boolean {
    return o.text === this.text;
  }
  toDOM(view: EditorView): HTMLElement {
    const el = document.createElement('span');
    el.className = 'cm-formula';
    const drawn = document.createElement('div');
    drawn.append(render(this.text, this.o));
    el.append(...(drawn.querySelector('p') ?? drawn).childNodes);
    finishIn(el, view);
    el.onmousedown = (e) => {
      e.preventDefault();
      view.dispatch({ selection: { anchor: view.posAtDOM(el) + 1 } });
      view.focus();
    };
    return el;
  }
}

/** finishIn draws what comes late, and lets the editor measure it again. */
function finishIn(el: HTMLElement, view: EditorView): void {
  finish(el);
  new ResizeObserver(() => view.requestMeasure()).observe(el);
}

/** touched: a caret or a selection is in a range, or beside it. */
function touched(state: EditorState, from: number, to: number): boolean {
  return state.selection.ranges.some((r) => r.from <= to && r.to >= from);
}
function lineTouched(state: EditorState, at: number): boolean {
  const l = state.doc.lineAt(at);
  return touched(state, l.from, l.to);
}

/** A Drawing collects what is shown instead of signs. */
class Drawing {
  out: Range<Decoration>[] = [];
  constructor(
    readonly state: EditorState,
    readonly o: Options,
  ) {}

  hide(from: number, to: number): void {
    if (from < to) this.out.push(hidden.range(from, to));
  }
  put(widget: WidgetType, from: number, to: number): void {
    if (from < to) this.out.push(Decoration.replace({ widget }).range(from, to));
  }
  /** marks hides the signs around words. */
  marks(n: SyntaxNode, names: RegExp): void {
    if (touched(this.state, n.from, n.to)) return;
    for (let c = n.firstChild; c; c = c.nextSibling) if (names.test(c.name)) this.hide(c.from, c.to);
  }

  enter(ref: SyntaxNodeRef): boolean | undefined {
    const { state } = this;
    if (/^ATXHeading/.test(ref.name)) {
      const mark = ref.node.getChild('HeaderMark');
      if (mark && !lineTouched(state, ref.from)) this.hide(mark.from, Math.min(ref.to, mark.to + 1));
      return undefined;
    }
    switch (ref.name) {
      case 'FrontMatter':
        return false;
      case 'Emphasis':
      case 'StrongEmphasis':
      case 'Strikethrough':
      case 'Highlight':
        this.marks(ref.node, /Mark$/);
        return undefined;
      case 'InlineCode':
        this.marks(ref.node, /^CodeMark$/);
        return false;
      case 'Link':
        this.link(ref.node);
        return undefined;
      case 'Image':
        this.image(ref.node);
        return false;
      case 'WikiLink':
      case 'Embed':
        this.wiki(ref);
        return false;
      case 'Math':
        if (!touched(state, ref.from, ref.to)) this.put(new Formula(state.sliceDoc(ref.from, ref.to), this.o), ref.from, ref.to);
        return false;
      case 'TaskMarker':
        if (!touched(state, ref.from, ref.to)) this.put(new Box(/x/i.test(state.sliceDoc(ref.from, ref.to))), ref.from, ref.to);
        return false;
      case 'HorizontalRule':
        if (!lineTouched(state, ref.from)) this.put(new Sign('cm-rule', ''), ref.from, ref.to);
        return false;
      case 'QuoteMark':
        this.quote(ref);
        return false;
      case 'ListMark':
        this.bullet(ref);
        return false;
    }
    return undefined;
  }

  link(n: SyntaxNode): void {
    const [open, close] = n.getChildren('LinkMark');
    if (!open || !close || !n.getChild('URL') || touched(this.state, n.from, n.to) || close.from <= open.to) return;
    this.hide(open.from, open.to);
    this.hide(close.from, n.to);
    this.out.push(label.range(open.to, close.from));
  }
  image(n: SyntaxNode): void {
    const url = n.getChild('URL');
    const [open, close] = n.getChildren('LinkMark');
    if (!url || !open || !close || touched(this.state, n.from, n.to)) return;
    let target = this.state.sliceDoc(url.from, url.to).replace(/^<|>$/g, '');
    try {
      target = decodeURIComponent(target);
    } catch {
      // written as it is
    }
    this.picture(target, this.state.sliceDoc(open.to, close.from), n.from, n.to);
  }
  picture(target: string, words: string, from: number, to: number): boolean {
    // Nothing is fetched from elsewhere because a note says so.
    const src = /\.(png|jpe?g|gif|webp|avif|bmp|svg)$/i.test(target) && !hasScheme(target) ? this.o.file?.(target) : undefined;
    if (!src) return false;
    const [, alt = '', wide = ''] = /^(.*?)\|?(\d+)?(?:x\d+)?$/.exec(words) ?? [];
    this.put(new Picture(src, alt || target, Math.min(4000, Number(wide) || 0)), from, to);
    return true;
  }
  wiki(n: SyntaxNodeRef): void {
    if (touched(this.state, n.from, n.to)) return;
    const start = n.from + (n.name === 'Embed' ? 3 : 2);
    const inside = this.state.sliceDoc(start, n.to - 2);
    const bar = inside.indexOf('|');
    if (n.name === 'Embed' && this.picture((bar < 0 ? inside : inside.slice(0, bar)).trim(), bar < 0 ? '' : inside.slice(bar + 1), n.from, n.to)) return;
    this.hide(n.from, bar >= 0 && bar < inside.length - 1 ? start + bar + 1 : start);
    this.hide(n.to - 2, n.to);
  }
  quote(n: SyntaxNodeRef): void {
    const { state } = this;
    if (lineTouched(state, n.from)) return;
    const line = state.doc.lineAt(n.from);
    const m = /^\s*> ?\[!([\w-]+)\][+-]?[ \t]*/.exec(line.text);
    if (m && !line.text.slice(0, n.from - line.from).trim()) {
      const kind = (m[1] ?? '').toLowerCase();
      this.put(new Sign('cm-callout-kind', kind.slice(0, 1).toUpperCase() + kind.slice(1) + (line.text.slice(m[0].length).trim() ? ': ' : '')), line.from, line.from + m[0].length);
    } else this.hide(n.from, Math.min(line.to, n.to + (state.sliceDoc(n.to, n.to + 1) === ' ' ? 1 : 0)));
  }
  bullet(n: SyntaxNodeRef): void {
    const { state } = this;
    if (!/^[-*+]$/.test(state.sliceDoc(n.from, n.to)) || touched(state, n.from, n.to)) return;
    const task = /^ \[.\] /.test(state.sliceDoc(n.to, n.to + 5));
    if (task) this.hide(n.from, n.to + 1);
    else this.put(new Sign('cm-bullet', '•'), n.from, n.to);
  }
}

function drawn(view: EditorView, o: Options): DecorationSet {
  const d = new Drawing(view.state, o);
  for (const { from, to } of view.visibleRanges) syntaxTree(view.state).iterate({ from, to, enter: (n) => d.enter(n) });
  return Decoration.set(d.out, true);
}

/** isDrawn: a block is seen as what it means, as a whole. */
function isDrawn(n: SyntaxNode, state: EditorState): boolean {
  if (n.name === 'FencedCode') {
    const info = n.getChild('CodeInfo');
    return !!info && state.sliceDoc(info.from, info.to).trim() === 'mermaid' && n.getChildren('CodeMark').length > 1;
  }
  return n.name === 'Table' || n.name === 'MathBlock';
}

function blocks(state: EditorState, o: Options): DecorationSet {
  const out: Range<Decoration>[] = [];
  if (state.doc.length > most) return Decoration.none;
  for (let n = syntaxTree(state).topNode.firstChild; n; n = n.nextSibling) {
    if (!isDrawn(n, state)) continue;
    const [from, to] = [state.doc.lineAt(n.from).from, state.doc.lineAt(n.to).to];
    if (!touched(state, from, to)) out.push(Decoration.replace({ widget: new Rendered(state.sliceDoc(from, to), o), block: true }).range(from, to));
  }
  return Decoration.set(out);
}

/** live draws what is written; o says where links and pictures lead. */
export function live(o: Options): Extension {
  return [
    front,
    StateField.define<DecorationSet>({
      create: (state) => blocks(state, o),
      update: (set, tr) => (tr.docChanged || tr.selection || syntaxTree(tr.startState) !== syntaxTree(tr.state) ? blocks(tr.state, o) : set),
      provide: (f) => EditorView.decorations.from(f),
    }),
    ViewPlugin.fromClass(
      class {
        decorations: DecorationSet;
        constructor(view: EditorView) {
          this.decorations = drawn(view, o);
        }
        update(u: ViewUpdate): void {
          if (u.docChanged || u.viewportChanged || u.selectionSet || syntaxTree(u.startState) !== syntaxTree(u.state)) this.decorations = drawn(u.view, o);
        }
      },
      { decorations: (p) => p.decorations },
    ),
  ];
}

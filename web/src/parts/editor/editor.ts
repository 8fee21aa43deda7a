// One note in an editor. It knows its text alone: where that lies, and how it is
// saved, is the view's.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, type Completion, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { EditorState, Text, type Extension } from '@codemirror/state';
import { EditorView, drawSelection, keymap, placeholder } from '@codemirror/view';
import { nonce } from '../../lib/worker';
import { language } from './language';
import { preview, targetAt } from './preview';
import { sides } from './sides';
import { theme } from './theme';

/** An Offer is a note that a link could lead to. */
export interface Offer {
  label: string;
  detail: string;
  /** What stands between the brackets. */
  insert: string;
}

export interface Options {
  parent: HTMLElement;
  text: string;
  label: string;
  /** offers are the notes that fit what was typed after [[. */
  offers: (typed: string) => Offer[];
  open: (target: string) => void;
  changed: () => void;
  save: () => void;
}

/** links completes what follows [[. */
export function links(offers: Options['offers']): (c: CompletionContext) => CompletionResult | null {
  return (c) => {
    const m = c.matchBefore(/\[\[[^[\]\n|#]*$/);
    if (!m) return null;
    const closed = c.state.sliceDoc(c.pos, c.pos + 2) === ']]';
    const options: Completion[] = offers(m.text.slice(2)).map((o) => ({
      label: o.label,
      detail: o.detail,
      apply: (view, _, from, to) => {
        const end = closed ? to + 2 : to;
        view.dispatch({ changes: { from, to: end, insert: `${o.insert}]]` }, selection: { anchor: from + o.insert.length + 2 }, userEvent: 'input.complete' });
      },
    }));
    return { from: m.from + 2, options, filter: false };
  };
}

/** common is what every editor of the page has. */
export function common(label: string): Extension {
  return [
    EditorView.cspNonce.of(nonce()), theme, language, drawSelection(), EditorView.lineWrapping, sides,
    EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0', spellcheck: 'true', autocapitalize: 'sentences' }),
  ];
}

/** An Editor is the way to what is written. */
export class Editor {
  #view: EditorView;
  #base: Text;

  constructor(o: Options) {
    this.#base = Text.of(o.text.split(/\r\n?|\n/));
    this.#view = new EditorView({
      parent: o.parent,
      state: EditorState.create({
        doc: this.#base,
        extensions: [
          common(o.label), history(), closeBrackets(), search({ top: true }), highlightSelectionMatches(), placeholder('Write …'),
          autocompletion({ override: [links(o.offers)], icons: false, activateOnTypingDelay: 50 }), preview(o.open),
          keymap.of([
            { key: 'Mod-s', run: () => (o.save(), true) },
            { key: 'Mod-Enter', run: (v) => { const t = targetAt(v, v.state.selection.main.head); if (t) o.open(t); return !!t; } },
            ...closeBracketsKeymap, ...completionKeymap, ...searchKeymap.filter((k) => k.key !== 'Mod-d'), ...historyKeymap, ...defaultKeymap, indentWithTab,
          ]),
          EditorView.updateListener.of((u) => u.docChanged && o.changed()),
        ],
      }),
    });
  }

  text(): string {
    return this.#view.state.doc.toString();
  }

  /** dirty reports whether the text differs from what was read or saved. */
  dirty(): boolean {
    return !this.#view.state.doc.eq(this.#base);
  }

  /** base says what the text on disk is now. */
  base(text: string): void {
    this.#base = Text.of(text.split(/\r\n?|\n/));
  }

  /** set puts another text in; it can be taken back like anything typed. */
  set(text: string): void {
    this.#view.dispatch({ changes: { from: 0, to: this.#view.state.doc.length, insert: text } });
  }

  /** to shows a line, counted from 1. */
  to(line: number): void {
    const l = this.#view.state.doc.line(Math.max(1, Math.min(line, this.#view.state.doc.lines)));
    this.#view.dispatch({ selection: { anchor: l.from }, effects: EditorView.scrollIntoView(l.from, { y: 'start', yMargin: 20 }) });
    this.#view.focus();
  }

  /** toEnd goes on where the text ends. */
  toEnd(): void {
    this.#view.dispatch({ selection: { anchor: this.#view.state.doc.length }, scrollIntoView: true });
  }

  focus(): void {
    this.#view.focus();
  }

  close(): void {
    this.#view.destroy();
  }
}

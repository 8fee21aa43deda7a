// One note in an editor. It knows its text alone: where that lies, and how it is
// saved, is the view's.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, Text, type Extension } from '@codemirror/state';
import { EditorView, drawSelection, keymap, placeholder } from '@codemirror/view';
import { nonce } from '../../lib/worker';
import type { Options as Drawn } from '../markdown';
import { language } from './language';
import { continueItem, indentItems } from './lists';
import { live } from './live';
import { links, parts, slash, tags, type Knowledge } from './offers';
import { preview, targetAt } from './preview';
import { sides } from './sides';
import { alignOnLeaving, toCell, toRow } from './tables';
import { theme } from './theme';

export interface Options {
  parent: HTMLElement;
  text: string;
  label: string;
  /** What can be completed. */
  knowledge: Knowledge;
  /** Where links and pictures lead, for the live preview; without it, the text is shown as it is written. */
  shown?: Drawn | undefined;
  open: (target: string) => void;
  changed: () => void;
  save: () => void;
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
  #mode = new Compartment();

  constructor(o: Options) {
    this.#base = Text.of(o.text.split(/\r\n?|\n/));
    this.#view = new EditorView({
      parent: o.parent,
      state: EditorState.create({
        doc: this.#base,
        extensions: [
          common(o.label), history(), closeBrackets(), search({ top: true }), highlightSelectionMatches(), placeholder('Start writing…'),
          autocompletion({ override: [links(o.knowledge), parts(o.knowledge), tags(o.knowledge), slash(o.knowledge)], icons: false, activateOnTypingDelay: 50, maxRenderedOptions: 60 }), preview(o.open),
          this.#mode.of(o.shown ? live(o.shown) : []), alignOnLeaving,
          keymap.of([
            { key: 'Mod-s', run: () => (o.save(), true) },
            { key: 'Mod-Enter', run: (v) => { const t = targetAt(v, v.state.selection.main.head); if (t) o.open(t); return !!t; } },
            ...completionKeymap,
            { key: 'Tab', run: (v) => toCell(1)(v) || indentItems(false)(v), shift: (v) => toCell(-1)(v) || indentItems(true)(v) },
            { key: 'Enter', run: (v) => toRow(v) || continueItem(v) },
            ...closeBracketsKeymap, ...searchKeymap.filter((k) => k.key !== 'Mod-d'), ...historyKeymap, ...defaultKeymap, indentWithTab,
          ]),
          EditorView.updateListener.of((u) => {
            if (u.docChanged) o.changed();
            // A list that scrolls can be reached, also by those who do not use the arrows.
            u.view.dom.querySelector('.cm-tooltip-autocomplete > ul:not([tabindex])')?.setAttribute('tabindex', '0');
          }),
        ],
      }),
    });
  }

  /** show switches between the live preview and the text as it is written. */
  show(how: Drawn | undefined): void {
    this.#view.dispatch({ effects: this.#mode.reconfigure(how ? live(how) : []) });
  }

  /** selection is the selected passage; undefined when nothing is selected. */
  selection(): { from: number; text: string } | undefined {
    const { from, to } = this.#view.state.selection.main;
    return from < to ? { from, text: this.#view.state.sliceDoc(from, to) } : undefined;
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
    // Only what differs: the caret stays where it was in the rest.
    const old = this.text();
    let from = 0;
    while (from < old.length && from < text.length && old[from] === text[from]) from++;
    let same = 0;
    while (same < old.length - from && same < text.length - from && old[old.length - 1 - same] === text[text.length - 1 - same]) same++;
    this.#view.dispatch({ changes: { from, to: old.length - same, insert: text.slice(from, text.length - same) } });
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

  /** place is where the caret is, and how far the text is scrolled. */
  place(): { head: number; top: number } {
    return { head: this.#view.state.selection.main.head, top: this.#view.scrollDOM.scrollTop };
  }

  /** restore goes back to a place. */
  restore(p: { head: number; top: number }): void {
    this.#view.dispatch({ selection: { anchor: Math.min(p.head, this.#view.state.doc.length) } });
    requestAnimationFrame(() => (this.#view.scrollDOM.scrollTop = p.top));
  }

  focus(): void {
    this.#view.focus();
  }

  close(): void {
    this.#view.destroy();
  }
}

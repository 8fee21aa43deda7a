// Two texts of one note beside each other: what lies on disk, and what was
// written here. The right one is edited until it is what is to be saved.
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { MergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { common } from './editor';

export class Merge {
  #view: MergeView;

  constructor(parent: HTMLElement, theirs: string, mine: string) {
    this.#view = new MergeView({
      parent,
      a: { doc: theirs, extensions: [common('Version on disk'), EditorState.readOnly.of(true), EditorView.editable.of(false), EditorView.contentAttributes.of({ tabindex: '0', role: 'textbox', 'aria-readonly': 'true', 'aria-multiline': 'true' })] },
      b: { doc: mine, extensions: [common('Your version'), history(), keymap.of([...historyKeymap, ...defaultKeymap])] },
      revertControls: 'a-to-b',
      renderRevertControl: () => {
        const b = document.createElement('button');
        b.type = 'button';
        b.textContent = '→';
        b.title = 'Use this part from disk';
        b.setAttribute('aria-label', 'Use this part from disk');
        return b;
      },
      collapseUnchanged: { margin: 3, minSize: 6 },
      gutter: true,
    });
  }

  text(): string {
    return this.#view.b.state.doc.toString();
  }

  close(): void {
    this.#view.destroy();
  }
}

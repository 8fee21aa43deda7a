// What the editor offers while somebody writes: links, embeds, headings and blocks
// of other notes, tags, and the menu behind a slash.
import { insertCompletionText, startCompletion, type Completion, type CompletionContext, type CompletionResult, type CompletionSource } from '@codemirror/autocomplete';
import { syntaxTree } from '@codemirror/language';
import type { EditorView } from '@codemirror/view';
import { commands, type Command } from './commands';

/** An Offer is a note or a file that a link could lead to. */
export interface Offer {
  label: string;
  detail: string;
  /** What stands between the brackets. */
  insert: string;
}

/** Knowledge is what the editor is told about the vault. */
export interface Knowledge {
  /** notes are those that fit what was typed after [[. */
  notes: (typed: string) => Offer[];
  /** files are the attachments of the vault that fit, pictures first. */
  files: (typed: string) => Promise<Offer[]>;
  tags: () => Promise<{ tag: string; notes: number }[]>;
  /** parts are the headings and the named blocks of a note; without a name, of this one. */
  parts: (note: string) => Promise<{ headings: { text: string; level: number }[]; blocks: { id: string; text: string }[] }>;
  templates: () => Offer[];
  /** template is the text of a template, filled in. */
  template: (path: string) => Promise<string>;
}

/** isCode: at this place signs stand for themselves. */
export function isCode(c: { state: CompletionContext['state']; pos: number }): boolean {
  for (let n = syntaxTree(c.state).resolveInner(c.pos, -1); ; n = n.parent!) {
    if (/^(FencedCode|CodeBlock|CodeText|InlineCode|FrontMatter|URL|HTMLBlock)$/.test(n.name)) return true;
    if (!n.parent) return false;
  }
}

/** closing puts a text between the brackets, and the caret behind them. */
function closing(insert: string): NonNullable<Completion['apply']> {
  return (view, _, from, to) => {
    const end = view.state.sliceDoc(to, to + 2) === ']]' ? to + 2 : to;
    view.dispatch({ changes: { from, to: end, insert: `${insert}]]` }, selection: { anchor: from + insert.length + 2 }, userEvent: 'input.complete' });
  };
}
const option = (o: Offer): Completion => ({ label: o.label, detail: o.detail, apply: closing(o.insert) });

/** links completes what follows [[, and files too after ![[. */
export function links(k: Knowledge): CompletionSource {
  return async (c) => {
    const m = c.matchBefore(/!?\[\[[^[\]\n|#^]*$/);
    if (!m || isCode(c)) return null;
    const embed = m.text.startsWith('!');
    const typed = m.text.slice(embed ? 3 : 2);
    const options = [...(embed ? await k.files(typed) : []), ...k.notes(typed)].map(option);
    return { from: m.to - typed.length, options, filter: false };
  };
}

/** parts completes a heading after [[Note#, and a block after [[Note^ or [[Note#^. */
export function parts(k: Knowledge): CompletionSource {
  return async (c) => {
    const m = c.matchBefore(/\[\[[^[\]\n|#^]*[#^][^[\]\n|]*$/);
    if (!m || isCode(c)) return null;
    const [, note = '', sign = '', typed = ''] = /\[\[([^[\]\n|#^]*)(#\^|\^|#)([^[\]\n|]*)$/.exec(m.text) ?? [];
    const { headings, blocks } = await k.parts(note.trim());
    const from = m.to - typed.length - sign.length;
    const fits = (s: string): boolean => s.toLowerCase().includes(typed.trim().toLowerCase());
    const options: Completion[] =
      sign === '#'
        ? headings.filter((h) => fits(h.text)).map((h) => ({ label: h.text, detail: `Heading ${h.level}`, apply: closing('#' + h.text.replace(/[[\]|#^]/g, ' ')) }))
        : blocks.filter((b) => fits(b.id + ' ' + b.text)).map((b) => ({ label: '^' + b.id, detail: b.text.slice(0, 60), apply: closing('#^' + b.id) }));
    return { from, options, filter: false };
  };
}

/** tags completes a tag. A # that begins a line may become a heading: there a letter has to follow first. */
export function tags(k: Knowledge): CompletionSource {
  return async (c) => {
    const m = c.matchBefore(/(?:^|[\s(])#[\p{L}\p{N}_/-]*$/u);
    if (!m || isCode(c)) return null;
    const typed = m.text.slice(m.text.indexOf('#') + 1);
    const line = c.state.doc.lineAt(c.pos);
    if (!typed && /^\s{0,3}#$/.test(line.text.slice(0, c.pos - line.from))) return null;
    const from = c.pos - typed.length;
    const all = await k.tags();
    return {
      from,
      options: all.map((t, i) => ({ label: t.tag, detail: `${t.notes} ${t.notes === 1 ? 'note' : 'notes'}`, boost: -Math.min(99, i), apply: (v: EditorView, o: Completion, a: number, b: number) => v.dispatch(insertCompletionText(v.state, o.label, a, b)) })),
      validFor: /^[\p{L}\p{N}_/-]*$/u,
    };
  };
}

/** slash is the menu of blocks: at the start of a line, or after a space. */
export function slash(k: Knowledge): CompletionSource {
  return (c: CompletionContext): CompletionResult | null => {
    const m = c.matchBefore(/(?:^|[ \t])\/[\p{L}\p{N} ]{0,30}$/u);
    if (!m || isCode(c)) return null;
    const from = m.from + m.text.indexOf('/');
    if (c.pos > from + 1 && /^\s|\s$/.test(c.state.sliceDoc(from + 1, c.pos)) && !c.explicit) return null; // somebody writes on
    const run = (apply: Command['apply']): Completion['apply'] => (view, _, a, b) => {
      view.dispatch({ changes: { from: a - 1, to: b }, selection: { anchor: a - 1 } });
      void apply(view, a - 1);
      if (view.state.sliceDoc(view.state.selection.main.head - 2, view.state.selection.main.head) === '[[') startCompletion(view);
    };
    const templates: Command[] = k.templates().map((t) => ({ label: `Template: ${t.label}`, detail: '', apply: async (view) => insertTemplate(view, await k.template(t.insert)) }));
    return {
      from: from + 1,
      options: [...commands, ...templates].map((x, i) => ({ label: x.label, detail: x.detail, boost: -i, apply: run(x.apply) })),
      validFor: /^(?:[\p{L}\p{N}][\p{L}\p{N} ]*)?$/u,
    };
  };
}

/** insertTemplate puts the text of a template at the caret. Properties belong to the top of a note, so they come along only into an empty one. */
function insertTemplate(view: EditorView, text: string): void {
  const empty = !view.state.doc.toString().trim();
  const body = empty ? text : text.replace(/^---[ \t]*\n[\s\S]*?\n---[ \t]*(?:\n|$)/, '');
  const at = view.state.selection.main.head;
  view.dispatch({ changes: { from: at, insert: body }, selection: { anchor: at + body.length }, userEvent: 'input.complete', scrollIntoView: true });
}

// The blocks that the menu behind a slash inserts.
import type { EditorView } from '@codemirror/view';

export interface Command {
  label: string;
  detail: string;
  /** apply inserts at a place from which the slash was removed. */
  apply: (view: EditorView, at: number) => void | Promise<void>;
}

/** block inserts lines of their own; | is where the caret goes. What was on the line stays on it. */
function block(text: string): Command['apply'] {
  return (view, at) => {
    const line = view.state.doc.lineAt(at);
    // A line right above would become part of it, or a heading.
    const above = line.number > 1 && view.state.doc.line(line.number - 1).text.trim() ? '\n' : '';
    const before = view.state.sliceDoc(line.from, at).trim() ? '\n\n' : above;
    const after = view.state.sliceDoc(at, line.to).trim() ? '\n\n' : '';
    put(view, at, `${before}${text}${after}`);
  };
}

/** start changes what the line is: a heading, an item of a list, a quote. */
function start(mark: string): Command['apply'] {
  return (view, at) => {
    const line = view.state.doc.lineAt(at);
    const [had = ''] = /^\s*(?:#{1,6} |[-*+] (?:\[.\] )?|\d+[.)] |> )?/.exec(line.text) ?? [];
    const indent = /^\s*/.exec(had)?.[0] ?? '';
    const rest = line.text.slice(had.length).trimEnd();
    view.dispatch({ changes: { from: line.from, to: line.to, insert: indent + mark + rest }, selection: { anchor: line.from + indent.length + mark.length + Math.max(0, Math.min(rest.length, at - line.from - had.length)) }, userEvent: 'input.complete' });
  };
}

const inline = (text: string): Command['apply'] => (view, at) => put(view, at, text);

function put(view: EditorView, at: number, text: string): void {
  const caret = text.indexOf('‸');
  const insert = text.replace('‸', '');
  view.dispatch({ changes: { from: at, insert }, selection: { anchor: at + (caret < 0 ? insert.length : caret) }, userEvent: 'input.complete', scrollIntoView: true });
}

/** today is the date as notes of days are called. */
export function today(now = new Date()): string {
  return new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
}

export const commands: Command[] = [
  { label: 'Heading 1', detail: '#', apply: start('# ') },
  { label: 'Heading 2', detail: '##', apply: start('## ') },
  { label: 'Heading 3', detail: '###', apply: start('### ') },
  { label: 'List', detail: '-', apply: start('- ') },
  { label: 'Numbered list', detail: '1.', apply: start('1. ') },
  { label: 'Task', detail: '- [ ]', apply: start('- [ ] ') },
  { label: 'Quote', detail: '>', apply: start('> ') },
  { label: 'Table', detail: '| |', apply: block('| ‸      |        |\n| ------ | ------ |\n|        |        |\n') },
  { label: 'Callout', detail: '> [!note]', apply: block('> [!note] ‸\n> ') },
  { label: 'Code block', detail: '```', apply: block('```‸\n\n```\n') },
  { label: 'Divider', detail: '---', apply: block('---\n\n‸') },
  { label: "Today's date", detail: '', apply: (view, at) => put(view, at, today()) },
  { label: 'Link', detail: '[[ ]]', apply: inline('[[‸]]') },
  { label: 'Embed', detail: '![[ ]]', apply: inline('![[‸]]') },
];

// Enter and Tab in lists, tasks and quotes.
import type { ChangeSpec, EditorState } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import { isCode } from './offers';

interface Item {
  /** Marks of quotes and the indentation before the item. */
  before: string;
  mark: string;
  /** The box of a task, with the space after it. */
  box: string;
  /** Where its words begin, from the start of the line. */
  text: number;
}

/** itemOf takes the beginning of a line apart. */
export function itemOf(line: string): Item | undefined {
  const m = /^(\s*(?:> ?)*\s*)([-*+]|\d{1,9}[.)])([ \t]+)(\[.\][ \t]+)?/.exec(line);
  if (m) return { before: m[1] ?? '', mark: (m[2] ?? '') + (m[3] ?? ''), box: m[4] ?? '', text: m[0].length };
  const q = /^\s*(?:> ?)+/.exec(line);
  return q ? { before: q[0], mark: '', box: '', text: q[0].length } : undefined;
}

/** nextMark is the mark of the item that follows. */
export function nextMark(mark: string): string {
  return mark.replace(/^\d+/, (n) => String(Number(n) + 1));
}

/** renumber counts on in the items below; it stops where the list does. */
function renumber(state: EditorState, after: number, item: Item, from: number): ChangeSpec[] {
  const out: ChangeSpec[] = [];
  if (!/^\d/.test(item.mark)) return out;
  for (let n = after + 1, want = from; n <= state.doc.lines; n++) {
    const l = state.doc.line(n);
    const next = itemOf(l.text);
    if (!next || next.before.length < item.before.length) break;
    if (next.before.length > item.before.length) continue; // an item below an item
    const [had = ''] = /^\d+/.exec(next.mark) ?? [];
    if (!had) break;
    if (had !== String(want)) out.push({ from: l.from + next.before.length, to: l.from + next.before.length + had.length, insert: String(want) });
    want++;
  }
  return out;
}

/** continueItem begins the next item; in an empty one, the list ends. */
export function continueItem(view: EditorView): boolean {
  const { state } = view;
  const { head, empty } = state.selection.main;
  const line = state.doc.lineAt(head);
  const item = itemOf(line.text);
  if (!empty || state.selection.ranges.length > 1 || !item || head - line.from < item.text || isCode({ state, pos: head })) return false;
  if (!line.text.slice(item.text).trim()) {
    // An indented item goes one level up first.
    const up = item.mark && /[ \t]$/.test(item.before) ? item.before.replace(/(\t| {1,4})$/, '') + item.mark + item.box : item.mark ? item.before.replace(/[ \t]+$/, (s) => (item.before.includes('>') ? s.slice(0, 1) : '')) : '';
    view.dispatch({ changes: { from: line.from, to: line.to, insert: up }, selection: { anchor: line.from + up.length }, userEvent: 'delete', scrollIntoView: true });
    return true;
  }
  const insert = `\n${item.before}${nextMark(item.mark)}${item.box.replace(/\[.\]/, '[ ]')}`;
  const rest = /^[ \t]*/.exec(line.text.slice(head - line.from))?.[0].length ?? 0;
  view.dispatch({
    changes: [{ from: head, to: head + rest, insert }, ...renumber(state, line.number, item, Number(/^\d+/.exec(item.mark)?.[0] ?? 0) + 2)],
    selection: { anchor: head + insert.length },
    userEvent: 'input',
    scrollIntoView: true,
  });
  return true;
}

/** indentItems moves the chosen items one level in, or out. */
export function indentItems(out: boolean): (view: EditorView) => boolean {
  return (view) => {
    const { state } = view;
    const { from, to } = state.selection.main;
    const changes: ChangeSpec[] = [];
    for (let n = state.doc.lineAt(from).number; n <= state.doc.lineAt(to).number; n++) {
      const l = state.doc.line(n);
      const item = itemOf(l.text);
      if (!item?.mark) return false;
      const at = l.from + item.before.length;
      if (!out) changes.push({ from: at, insert: ' '.repeat(item.mark.length) });
      else {
        const had = /(\t| {1,4})$/.exec(item.before)?.[0].slice(0, item.mark.length) ?? '';
        if (had) changes.push({ from: at - had.length, to: at });
      }
    }
    if (changes.length) view.dispatch({ changes, userEvent: out ? 'delete.dedent' : 'input.indent' });
    return true;
  };
}

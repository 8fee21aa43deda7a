// Tables in the editor: from cell to cell with Tab and Enter, and columns that are
// aligned when the table is left.
import { ensureSyntaxTree, syntaxTree } from '@codemirror/language';
import type { EditorState, Extension } from '@codemirror/state';
import { ViewPlugin, type EditorView, type ViewUpdate } from '@codemirror/view';

/** cellsOf takes a row apart. A pipe after a backslash, or in code, parts nothing. */
export function cellsOf(row: string): string[] {
  const out: string[] = [];
  let cell = '';
  let code = '';
  const text = row.trim().replace(/^\|/, '');
  for (let i = 0; i < text.length; i++) {
    const c = text[i] ?? '';
    if (c === '\\') {
      cell += c + (text[++i] ?? '');
      continue;
    }
    if (c === '`') {
      const ticks = /^`+/.exec(text.slice(i))?.[0] ?? '';
      if (!code && text.indexOf(ticks, i + ticks.length) > 0) code = ticks;
      else if (code === ticks) code = '';
      cell += ticks;
      i += ticks.length - 1;
      continue;
    }
    if (c === '|' && !code) {
      out.push(cell.trim());
      cell = '';
    } else cell += c;
  }
  if (cell.trim() || !text.endsWith('|')) out.push(cell.trim());
  return out;
}

const isRule = (cells: string[]): boolean => cells.every((c) => /^:?-+:?$/.test(c));
const width = (s: string): number => [...s].reduce((n, c) => n + (/[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u.test(c) ? 2 : 1), 0);

/** formatTable aligns the columns of a table. */
export function formatTable(lines: string[]): string[] {
  const indent = /^\s*/.exec(lines[0] ?? '')?.[0] ?? '';
  const rows = lines.map(cellsOf);
  const columns = Math.max(...rows.map((r) => r.length));
  const widths = Array.from({ length: columns }, (_, i) => Math.max(3, ...rows.map((r) => (isRule(r) ? 0 : width(r[i] ?? '')))));
  const rule = rows[1] ?? [];
  const pad = (s: string, i: number): string => {
    const room = ' '.repeat(Math.max(0, (widths[i] ?? 3) - width(s)));
    const how = rule[i] ?? '';
    if (/^-+:$/.test(how)) return room + s;
    if (/^:-+:$/.test(how)) return room.slice(0, room.length / 2) + s + room.slice(room.length / 2);
    return s + room;
  };
  return rows.map((r, n) => {
    const cells = widths.map((wide, i) => {
      if (n !== 1) return pad(r[i] ?? '', i);
      const c = r[i] ?? '';
      return (c.startsWith(':') ? ':' : '-') + '-'.repeat(wide - 2) + (c.endsWith(':') && c.length > 1 ? ':' : '-');
    });
    return `${indent}| ${cells.join(' | ')} |`;
  });
}

interface Place {
  /** The first line of the table, and how many it has. */
  first: number;
  lines: string[];
  from: number;
  to: number;
  row: number;
  column: number;
}

/** placeIn is the cell that a position is in, or nothing. */
function placeIn(state: EditorState, pos: number): Place | undefined {
  const tree = ensureSyntaxTree(state, pos, 50) ?? syntaxTree(state);
  for (const side of [-1, 1] as const) {
    for (let n = tree.resolveInner(pos, side); n.parent; n = n.parent) {
      if (n.name !== 'Table') continue;
      if (n.parent.name !== 'Document') return undefined; // in a quote, each line has marks of its own
      const first = state.doc.lineAt(n.from);
      const last = state.doc.lineAt(n.to);
      const lines = Array.from({ length: last.number - first.number + 1 }, (_, i) => state.doc.line(first.number + i).text);
      const at = state.doc.lineAt(pos);
      const left = at.text.slice(0, pos - at.from);
      const column = Math.max(0, cellsOf(left.trimStart().startsWith('|') ? left + '.' : '|' + left + '.').length - 1);
      return { first: first.number, lines, from: first.from, to: last.to, row: at.number - first.number, column };
    }
  }
  return undefined;
}

/** cellAt is where a cell of an aligned row begins and ends, without its room. */
export function cellAt(row: string, column: number): [number, number] {
  let at = row.indexOf('|') + 1;
  for (let i = 0; i < column; i++) at += nextPipe(row.slice(at)) + 1;
  const text = row.slice(at, at + nextPipe(row.slice(at)));
  const lead = /^\s*/.exec(text)?.[0].length ?? 0;
  return text.trim() ? [at + lead, at + text.trimEnd().length] : [at + 1, at + 1];
}
function nextPipe(text: string): number {
  const [cell = ''] = cellsOf('|' + text);
  let at = text.indexOf(cell) + cell.length;
  while (at < text.length && text[at] !== '|') at++;
  return at;
}

/** go puts the aligned table in, and chooses a cell of it. */
function go(view: EditorView, t: Place, rows: string[], row: number, column: number): void {
  const lines = formatTable(rows);
  const before = lines.slice(0, row).reduce((n, l) => n + l.length + 1, 0);
  const [a, b] = cellAt(lines[row] ?? '', column);
  view.dispatch({ changes: { from: t.from, to: t.to, insert: lines.join('\n') }, selection: { anchor: t.from + before + a, head: t.from + before + b }, userEvent: 'input', scrollIntoView: true });
}

/** toCell goes one cell on, or back. Behind the last cell a row is added. */
export function toCell(step: 1 | -1): (view: EditorView) => boolean {
  return (view) => {
    const t = placeIn(view.state, view.state.selection.main.head);
    if (!t) return false;
    const columns = cellsOf(t.lines[0] ?? '').length;
    let [row, column] = [t.row, t.column + step];
    if (column >= columns) [row, column] = [row + 1, 0];
    if (column < 0) [row, column] = [row - 1, columns - 1];
    if (row === 1) row += step; // the rule
    if (row < 0) return true;
    const rows = row < t.lines.length ? t.lines : [...t.lines, '|' + '  |'.repeat(columns)];
    go(view, t, rows, row, column);
    return true;
  };
}

/** toRow goes to the cell below. In an empty last row, the table is left. */
export function toRow(view: EditorView): boolean {
  const { head, empty } = view.state.selection.main;
  const t = placeIn(view.state, head);
  if (!t || view.state.doc.lineAt(head).from === head || (empty && t.row === t.lines.length - 1 && view.state.doc.lineAt(head).to === head && !/\|\s*$/.test(t.lines[t.row] ?? ''))) return false;
  const columns = cellsOf(t.lines[0] ?? '').length;
  const last = t.row === t.lines.length - 1;
  if (last && t.row > 1 && cellsOf(t.lines[t.row] ?? '').every((c) => !c)) {
    // Below a blank line: a line right below would be one more row.
    const rest = formatTable(t.lines.slice(0, -1)).join('\n') + (view.state.sliceDoc(t.to, t.to + 1) === '\n' ? '\n' : '\n\n');
    view.dispatch({ changes: { from: t.from, to: t.to, insert: rest }, userEvent: 'input' });
    const after = rest.endsWith('\n\n') ? 0 : 1;
    view.dispatch({ selection: { anchor: t.from + rest.length + after }, scrollIntoView: true });
    return true;
  }
  const row = t.row === 0 ? 2 : t.row + 1;
  const rows = row < t.lines.length ? t.lines : [...t.lines, '|' + '  |'.repeat(columns)];
  go(view, t, rows, row, Math.min(t.column, columns - 1));
  return true;
}

/** alignOnLeaving aligns a table that was changed, when the caret leaves it. */
export const alignOnLeaving: Extension = ViewPlugin.fromClass(
  class {
    #line = 0; // a line of the table that was changed; 0: none was
    update(u: ViewUpdate): void {
      const head = u.state.selection.main.head;
      if (u.docChanged && this.#line && !u.transactions.some((t) => t.isUserEvent('input') || t.isUserEvent('delete'))) this.#line = 0; // undo, or another text: it stays as it is
      const line = u.state.doc.lineAt(head);
      if (u.docChanged && u.transactions.some((t) => t.isUserEvent('input') || t.isUserEvent('delete')) && line.text.includes('|') && placeIn(u.state, head)) this.#line = line.number;
      else if (u.selectionSet && this.#line && !line.text.includes('|')) {
        const at = this.#line;
        this.#line = 0;
        queueMicrotask(() => align(u.view, at)); // no change may be made while one is drawn
      }
    }
  },
);

function align(view: EditorView, line: number): void {
  if (line > view.state.doc.lines) return;
  const t = placeIn(view.state, view.state.doc.line(line).from + 1);
  if (!t) return;
  const lines = formatTable(t.lines);
  if (lines.join('\n') !== t.lines.join('\n')) view.dispatch({ changes: { from: t.from, to: t.to, insert: lines.join('\n') }, userEvent: 'input.align' });
}

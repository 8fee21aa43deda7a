// The dialect of notes: what they write beyond GFM. It is read the same way by
// internal/note, by the editor and by the page.
import type { BlockContext, InlineContext, LeafBlock, Line, MarkdownConfig } from '@lezer/markdown';

// Wikilinks, embeds, tags, names of blocks and highlights are part of the dialect (internal/note).
const footnote = /^\[\^([^\]\s[]{1,80})\]:[ \t]*/;
const highlight = { resolve: 'Highlight', mark: 'HighlightMark' };

export const dialect: MarkdownConfig = {
  defineNodes: ['WikiLink', 'Embed', 'Tag', 'BlockName', 'Highlight', 'HighlightMark', 'Math', { name: 'MathBlock', block: true }, 'FootnoteRef', { name: 'Footnote', block: true }, 'FootnoteMark'],
  parseBlock: [
    {
      name: 'MathBlock',
      before: 'FencedCode',
      parse(cx: BlockContext, line: Line) {
        if (line.next !== 36 || !/^\$\$/.test(line.text.slice(line.pos)) || /\$\$\s*$/.test(line.text.slice(line.pos + 2))) return false;
        const from = cx.lineStart + line.pos;
        let end = cx.lineStart + line.text.length;
        while (cx.nextLine()) {
          end = cx.lineStart + line.text.length;
          if (!/\$\$\s*$/.test(line.text)) continue;
          cx.nextLine();
          break;
        }
        cx.addElement(cx.elt('MathBlock', from, end));
        return true;
      },
    },
    {
      name: 'Footnote',
      before: 'LinkReference',
      parse(cx: BlockContext, line: Line) {
        const m = footnote.exec(line.text.slice(line.pos));
        if (!m) return false;
        const from = cx.lineStart + line.pos;
        const start = from + m[0].length;
        let end = cx.lineStart + line.text.length;
        // Lines that follow without a blank one, or indented, belong to it.
        while (cx.nextLine() && line.text.trim() && !footnote.test(line.text.slice(line.pos))) end = cx.lineStart + line.text.length;
        const text = (cx as unknown as { input: { read(from: number, to: number): string } }).input.read(start, end);
        cx.addElement(cx.elt('Footnote', from, end, [cx.elt('FootnoteMark', from, start), ...cx.parser.parseInline(text, start)]));
        return true;
      },
      endLeaf: (_: BlockContext, line: Line, __: LeafBlock) => footnote.test(line.text.slice(line.pos)),
    },
  ],
  parseInline: [
    {
      name: 'Math',
      before: 'Escape',
      parse(cx: InlineContext, next: number, pos: number) {
        if (next !== 36) return -1;
        const m = (cx.char(pos + 1) === 36 ? /^\$\$(?!\$)[^$]{1,2000}\$\$/ : /^\$(?![\s$])(?:\\[^\n]|[^$\n\\]){0,400}(?<!\s)\$(?!\d)/).exec(cx.slice(pos, Math.min(cx.end, pos + 2100)));
        return m ? cx.addElement(cx.elt('Math', pos, pos + m[0].length)) : -1;
      },
    },
    {
      name: 'FootnoteRef',
      before: 'Link',
      parse(cx: InlineContext, next: number, pos: number) {
        if (next !== 91 || cx.char(pos + 1) !== 94) return -1;
        const m = /^\[\^[^\]\s[]{1,80}\]/.exec(cx.slice(pos, Math.min(cx.end, pos + 90)));
        return m ? cx.addElement(cx.elt('FootnoteRef', pos, pos + m[0].length)) : -1;
      },
    },
    {
      name: 'WikiLink',
      before: 'Link',
      parse(cx: InlineContext, next: number, pos: number) {
        const embed = next === 33 && cx.char(pos + 1) === 91 && cx.char(pos + 2) === 91;
        if (!embed && !(next === 91 && cx.char(pos + 1) === 91)) return -1;
        const start = pos + (embed ? 3 : 2);
        for (let i = start; i < cx.end - 1 && i - start < 1000; i++) {
          const c = cx.char(i);
          if (c === 10 || c === 91) return -1;
          if (c === 93 && cx.char(i + 1) === 93) return i > start ? cx.addElement(cx.elt(embed ? 'Embed' : 'WikiLink', pos, i + 2)) : -1;
        }
        return -1;
      },
    },
    {
      name: 'Tag',
      parse(cx: InlineContext, next: number, pos: number) {
        if (next !== 35 || (pos > cx.offset && !/[\s(]/.test(cx.slice(pos - 1, pos)))) return -1;
        const m = /^#[\p{L}\p{N}_][\p{L}\p{N}_/-]*/u.exec(cx.slice(pos, Math.min(cx.end, pos + 120)));
        return m && /\p{L}|_/u.test(m[0]) ? cx.addElement(cx.elt('Tag', pos, pos + m[0].length)) : -1;
      },
    },
    {
      name: 'BlockName',
      parse(cx: InlineContext, next: number, pos: number) {
        if (next !== 94 || cx.end - pos > 100 || (pos > cx.offset && !/\s/.test(cx.slice(pos - 1, pos)))) return -1;
        return /^\^[\p{L}\p{N}-]+\s*$/u.test(cx.slice(pos, cx.end)) ? cx.addElement(cx.elt('BlockName', pos, cx.end)) : -1;
      },
    },
    {
      name: 'Highlight',
      after: 'Emphasis',
      parse(cx: InlineContext, next: number, pos: number) {
        if (next !== 61 || cx.char(pos + 1) !== 61 || cx.char(pos + 2) === 61) return -1;
        const space = (at: number): boolean => at < cx.offset || at >= cx.end || /\s/.test(cx.slice(at, at + 1));
        return cx.addDelimiter(highlight, pos, pos + 2, !space(pos + 2), !space(pos - 1));
      },
    },
  ],
};

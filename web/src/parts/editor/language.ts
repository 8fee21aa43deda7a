// The dialect of notes for the editor: the same parser that the reader uses, with
// the styles of its parts. It knows no other language.
import { HighlightStyle, Language, defineLanguageFacet, languageDataProp, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { styleTags, tags as t } from '@lezer/highlight';
import type { Input } from '@lezer/common';
import { GFM, parser, type BlockContext, type Line, type MarkdownConfig } from '@lezer/markdown';
import { dialect } from '../dialect';

const data = defineLanguageFacet({ closeBrackets: { brackets: ['(', '[', '{', '"', '`', '*', '_'] } });

// Properties at the top are none of Markdown's headings and rules.
const front: MarkdownConfig = {
  defineNodes: [{ name: 'FrontMatter', block: true, style: t.meta }],
  parseBlock: [
    {
      name: 'FrontMatter',
      before: 'HorizontalRule',
      parse(cx: BlockContext, line: Line) {
        if (cx.lineStart !== 0 || !/^---[ \t]*$/.test(line.text)) return false;
        const head = (cx as unknown as { input: Input }).input;
        if (!/\n(---|\.\.\.)[ \t]*(\n|$)/.test(head.read(3, Math.min(head.length, 16_000)))) return false; // it never ends
        while (cx.nextLine() && !/^(---|\.\.\.)[ \t]*$/.test(line.text));
        const end = cx.lineStart + line.text.length;
        cx.nextLine();
        cx.addElement(cx.elt('FrontMatter', 0, end));
        return true;
      },
    },
  ],
};

const notes = new Language(
  data,
  parser.configure([
    GFM,
    dialect,
    front,
    { props: [styleTags({ 'WikiLink Embed FootnoteRef FootnoteMark': t.link, 'Math MathBlock/...': t.monospace, Tag: t.labelName, 'TaskMarker': t.atom }), languageDataProp.add({ Document: data })] },
  ]),
  [],
  'notes',
);

// Colours are the page's own, so both themes have their contrast.
const styles = HighlightStyle.define([
  { tag: [t.heading1, t.heading2, t.heading3, t.heading4, t.heading5, t.heading6], fontWeight: '600', color: 'var(--ink)' },
  { tag: t.emphasis, fontStyle: 'italic' },
  { tag: t.strong, fontWeight: '700' },
  { tag: t.strikethrough, textDecoration: 'line-through' },
  { tag: t.link, color: 'var(--accent)' },
  { tag: t.url, color: 'var(--dim)' },
  { tag: t.labelName, color: 'var(--accent)' },
  { tag: t.atom, color: 'var(--ochre)', fontWeight: '700' },
  { tag: t.monospace, fontFamily: 'var(--mono)', fontSize: '0.9em' },
  { tag: t.quote, color: 'var(--dim)' },
  { tag: t.contentSeparator, color: 'var(--dim)' },
  { tag: t.meta, color: 'var(--dim)', fontFamily: 'var(--mono)', fontSize: '0.84rem' },
  { tag: t.processingInstruction, color: 'var(--dim) !important', fontWeight: '400 !important' },
]);

/** language is what makes the editor know notes. */
export const language: Extension = [notes, syntaxHighlighting(styles)];

// The editor in the colours of the page. Each pair has its contrast in both themes.
import { EditorView } from '@codemirror/view';

const size = (n: string): Record<string, string> => ({ fontSize: n, lineHeight: '1.3', fontFamily: 'var(--serif)' });

export const theme = EditorView.theme({
  '&': { color: 'var(--ink)', backgroundColor: 'transparent', fontSize: '1.03rem', height: '100%' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--serif)', lineHeight: '1.65', overflow: 'auto' },
  '.cm-content': { padding: '0.4rem 0 40vh', maxWidth: '46rem', caretColor: 'var(--ink)' },
  '.cm-line': { padding: '0 0.4rem' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)', borderLeftWidth: '2px' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'var(--mark)' },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '.cm-placeholder': { color: 'var(--dim)' },
  '.cm-h1': size('1.55rem'), '.cm-h2': size('1.28rem'), '.cm-h3': size('1.12rem'), '.cm-h4': size('1.05rem'), '.cm-h5': size('1.03rem'), '.cm-h6': size('1.03rem'),
  '.cm-quote': { borderInlineStart: '3px solid var(--line-strong)', paddingInlineStart: '0.9rem' },
  '.cm-code': { backgroundColor: 'var(--sunken)', fontFamily: 'var(--mono)', fontSize: '0.88rem' },
  '.cm-front': { fontFamily: 'var(--mono)', fontSize: '0.84rem', color: 'var(--dim)' },
  '.cm-front *': { color: 'var(--dim)', fontWeight: '400 !important', fontSize: 'inherit' },
  '.cm-done': { textDecoration: 'line-through', color: 'var(--dim)' },
  '.cm-wiki': { color: 'var(--accent)', textDecoration: 'underline', textDecorationThickness: '0.06em', textUnderlineOffset: '0.18em' },
  '.cm-tooltip': { backgroundColor: 'var(--surface)', color: 'var(--ink)', border: '1px solid var(--line-strong)', borderRadius: '8px', boxShadow: 'var(--shadow)', overflow: 'hidden' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--sans)', maxHeight: '16rem', minWidth: '18rem' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '0.3rem 0.6rem' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent-soft)', color: 'var(--ink)' },
  '.cm-completionDetail': { color: 'var(--dim)', fontStyle: 'normal', fontSize: '0.84rem', marginLeft: '0.8rem' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700' },
  '.cm-panels': { backgroundColor: 'var(--sunken)', color: 'var(--ink)', borderColor: 'var(--line)' },
  '.cm-panel.cm-search': { fontFamily: 'var(--sans)', padding: '0.5rem 2rem 0.5rem 0.6rem' },
  '.cm-panel.cm-search label': { fontSize: '0.86rem' },
  '.cm-textfield': { width: '14rem !important', minHeight: '1.9rem !important', fontSize: '0.9rem', borderRadius: '6px' },
  '.cm-button': { backgroundImage: 'none', backgroundColor: 'var(--surface)', color: 'var(--ink)', border: '1px solid var(--line-strong)', borderRadius: '6px', minHeight: '1.9rem' },
  '.cm-searchMatch': { backgroundColor: 'var(--mark)' },
  '.cm-searchMatch-selected': { backgroundColor: 'var(--added-mark)' },
  '.cm-changedLine': { backgroundColor: 'var(--added) !important' },
  '&.cm-merge-a .cm-changedLine': { backgroundColor: 'var(--removed) !important' },
  '.cm-changedText': { background: 'var(--added-mark) !important' },
  '&.cm-merge-a .cm-changedText': { background: 'var(--removed-mark) !important' },
  '.cm-collapsedLines': { color: 'var(--ink)', backgroundColor: 'var(--sunken)', backgroundImage: 'none', fontFamily: 'var(--sans)' },
  '.cm-collapsedLines:before, .cm-collapsedLines:after': { content: '"⋯"' }, // its own sign is in few fonts
  '.cm-changeGutter': { width: '3px', paddingLeft: '1px' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--dim)', border: 'none' },
});

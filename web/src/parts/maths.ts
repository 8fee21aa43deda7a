// Formulas. KaTeX reads them, and gives a tree; the elements are made here, by name,
// and only those that MathML has. Nothing that a note says becomes markup or style.
// Browsers draw MathML with their own fonts, so none are loaded.
import katex from 'katex';

interface Node {
  type?: string;
  text?: string;
  attributes?: Record<string, string>;
  children?: Node[];
}

const ns = 'http://www.w3.org/1998/Math/MathML';
const names = new Set(['math', 'semantics', 'mrow', 'mi', 'mn', 'mo', 'mtext', 'mspace', 'ms', 'mfrac', 'msqrt', 'mroot', 'mstyle', 'merror', 'mpadded', 'mphantom', 'menclose', 'msub', 'msup', 'msubsup', 'munder', 'mover', 'munderover', 'mmultiscripts', 'mtable', 'mtr', 'mtd', 'mlabeledtr']);
const attributes = new Set(['accent', 'accentunder', 'columnalign', 'columnlines', 'columnspacing', 'depth', 'dir', 'display', 'displaystyle', 'fence', 'form', 'height', 'largeop', 'linethickness', 'lspace', 'mathcolor', 'mathsize', 'mathvariant', 'maxsize', 'minsize', 'movablelimits', 'notation', 'rowlines', 'rowspacing', 'rspace', 'scriptlevel', 'separator', 'stretchy', 'symmetric', 'voffset', 'width']);

function build(n: Node): globalThis.Node {
  if (n.text !== undefined) return document.createTextNode(n.text);
  if (n.type === 'annotation') return document.createDocumentFragment();
  const el = n.type && names.has(n.type) ? document.createElementNS(ns, n.type) : document.createDocumentFragment();
  if (el instanceof Element) for (const [k, v] of Object.entries(n.attributes ?? {})) if (attributes.has(k)) el.setAttribute(k, String(v));
  for (const c of n.children ?? []) el.appendChild(build(c));
  return el;
}

/** formula is what a text in TeX means; it throws where the text means nothing. */
export function formula(tex: string, wide: boolean): globalThis.Node {
  const read = (katex as unknown as { __renderToDomTree: (tex: string, o: object) => Node }).__renderToDomTree;
  return build(read(tex, { output: 'mathml', displayMode: wide, throwOnError: true, strict: 'ignore', errorColor: 'currentcolor', trust: false, maxExpand: 500, maxSize: 40 }));
}

/** drawFormulas draws those of a page; one that cannot be read stays as it is written. */
export function drawFormulas(root: HTMLElement): void {
  for (const el of root.querySelectorAll<HTMLElement>('[data-math]')) {
    const tex = el.dataset.math ?? '';
    delete el.dataset.math;
    try {
      el.replaceChildren(formula(tex, el.classList.contains('wide')));
    } catch (e) {
      el.classList.add('unread');
      el.title = e instanceof Error ? e.message.replace(/^KaTeX parse error: /, '') : '';
    }
  }
}

// Inline fields as a reader wants them: the name quietly, then the value. What is
// no field stays as it is written.

const name = String.raw`[\p{L}_][\p{L}\p{N}_ -]{0,60}?`;
const line = new RegExp(String.raw`(^|\n)([ \t]*)(${name})::(?=\s|$)`, 'gu');
const bracket = new RegExp(String.raw`\[(${name})::[ \t]*([^\[\]\n]*)\]|\((${name})::[ \t]*([^()\n]*)\)`, 'gu');

/** nameOf is how the name of a field is read. */
const nameOf = (key: string): string => key.replaceAll('_', ' ').trim();

/** plainFields writes the fields of a text on one line as words. */
export function plainFields(text: string): string {
  return text
    .replace(bracket, (_, k?: string, v?: string, k2?: string, v2?: string) => `(${nameOf(k ?? k2 ?? '')} ${v ?? v2 ?? ''})`)
    .replace(/(^|\s)([\p{L}_][\p{L}\p{N}_-]*)::(?=\s|$)/gu, (_, before: string, k: string) => `${before}${nameOf(k)}:`)
    .replace(/^::(?=\s|$)/, ':'); // its name was marked
}

// Without a class: what a note says may not choose how it looks. Nothing else draws this element.
function keyOf(key: string): HTMLElement {
  const el = document.createElement('small');
  el.textContent = nameOf(key) + ':';
  return el;
}

/** showFields draws the fields that stand in the text of an element: at the start of a line, and in brackets. */
export function showFields(root: Node): void {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  for (let n = walker.nextNode(); n; n = walker.nextNode()) {
    if (n.textContent?.includes('::') && !n.parentElement?.closest('code, pre, .math')) texts.push(n as Text);
  }
  for (const n of texts) {
    const text = n.data;
    const starts = n.parentElement?.matches('p, li, td') && (!n.previousSibling || n.previousSibling instanceof HTMLInputElement || n.previousSibling instanceof HTMLBRElement);
    const found: { from: number; to: number; nodes: Node[] }[] = [];
    for (const m of text.matchAll(line)) {
      if (m[1] === '' && !starts) continue;
      found.push({ from: m.index + (m[1] ?? '').length, to: m.index + m[0].length, nodes: [keyOf(m[3] ?? '')] });
    }
    for (const m of text.matchAll(bracket)) {
      found.push({ from: m.index, to: m.index + m[0].length, nodes: [keyOf(m[1] ?? m[3] ?? ''), document.createTextNode(` ${m[2] ?? m[4] ?? ''}`)] });
    }
    if (!found.length) continue;
    found.sort((a, b) => a.from - b.from);
    const parts: (Node | string)[] = [];
    let at = 0;
    for (const f of found) {
      if (f.from < at) continue;
      parts.push(text.slice(at, f.from), ...f.nodes);
      at = f.to;
    }
    n.replaceWith(...parts.filter((p) => p !== ''), text.slice(at));
  }
}

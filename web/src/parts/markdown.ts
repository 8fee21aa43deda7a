// Markdown as nodes. The text of a note never becomes markup: every element is
// made here, by name, and its text is set as text. What a note may ask for is
// what is listed here; HTML in a note is shown as the text that it is.
import { showFields } from './inlineFields';
import { GFM, parser as base } from '@lezer/markdown';
import type { SyntaxNode } from '@lezer/common';
import { dialect } from './dialect';

/** What a renderer has to be told. */
export interface Options {
  /** The address at which the page shows what a link in the note means. */
  note: (target: string) => string;
  /** The address of a file of the vault that is no note, or nothing. */
  file?: (target: string) => string | undefined;
  /** The address at which the page shows a tag. */
  tag?: (tag: string) => string;
  /** What a link means in an answer whose places were checked; nothing leaves it as it is. */
  cite?: (target: string) => Cited | undefined;
  /** Whether the words of a quote were found; undefined is not known. */
  quoted?: (text: string) => boolean | undefined;
  /** Whether a link leads to a note that is there; undefined is not known. */
  there?: (target: string) => boolean | undefined;
  /** How large a file of the vault is, in words, by its address. */
  size?: (address: string) => Promise<string>;
  /** The number of the first line: then every block tells the line that it is written in. */
  firstLine?: number;
  /** Turns a task over, in a line of the note. Without it, boxes are only shown. */
  task?: (line: number, done: boolean, box: HTMLInputElement) => void;
  /** The text of a note, or of a part of it, that is shown in this one; nothing for what is no note. */
  embed?: (target: string) => Promise<Embedded | undefined> | undefined;
  /** How deep in embedded notes this one is. */
  depth?: number;
  /** Says where links lead that leave the vault: whoever wrote them is not trusted. */
  wary?: boolean;
}

/** An Embedded note, or a part of one. */
export interface Embedded {
  title: string;
  text: string;
  href: string;
  /** What links and pictures mean in it. */
  more: Partial<Options>;
}

/** A Cited place of an answer. */
export interface Cited {
  number: number;
  title: string;
  href: string;
  /** What is doubtful about it. */
  doubt: string;
  /** What stands there, where it is known. */
  passage?: string;
}

const parser = base.configure([GFM, dialect]);

const plain: Record<string, keyof HTMLElementTagNameMap> = {
  Paragraph: 'p', Blockquote: 'blockquote', BulletList: 'ul', OrderedList: 'ol', ListItem: 'li', Emphasis: 'em', StrongEmphasis: 'strong', Strikethrough: 's', Highlight: 'mark',
  HorizontalRule: 'hr', HardBreak: 'br', Table: 'table', TableHeader: 'tr', TableRow: 'tr', TableCell: 'td',
};

const blocks = new Set(['Paragraph', 'Blockquote', 'ListItem', 'TableHeader', 'TableRow']);

// These stand for how something is written, and are not shown.
const marks = new Set(['HeaderMark', 'QuoteMark', 'ListMark', 'LinkMark', 'EmphasisMark', 'CodeMark', 'StrikethroughMark', 'HighlightMark', 'BlockName', 'TableDelimiter', 'CodeInfo', 'URL', 'LinkTitle', 'LinkLabel', 'LinkReference', 'FootnoteMark']);

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0', copy: '©', mdash: '—', ndash: '–', hellip: '…', rarr: '→', larr: '←' };

function entity(text: string): string {
  const m = /^&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|(\w+));$/.exec(text);
  if (!m) return text;
  if (m[3]) return entities[m[3]] ?? text;
  const c = m[1] ? parseInt(m[1], 10) : parseInt(m[2] ?? '', 16);
  return c > 0 && c <= 0x10ffff && !(c >= 0xd800 && c <= 0xdfff) ? String.fromCodePoint(c) : '\ufffd';
}

/** safeAddress is an address outside of the vault that may be opened, or nothing. */
export function safeAddress(url: string): string | undefined {
  const text = url.replace(/[\u0000-\u0020\u007f-\u00a0]/g, '');
  return /^(https?|mailto):/i.test(text) ? text : undefined;
}

/** hasScheme tells an address from the path of a note. */
export function hasScheme(url: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(url.replace(/[\u0000-\u0020\u007f-\u00a0]/g, '')) || url.startsWith('//');
}

function decoded(target: string): string {
  try {
    return decodeURIComponent(target);
  } catch {
    return target; // written as it is
  }
}

/** split takes the front matter off a note. */
export function split(text: string): { front: string; body: string } {
  const m = /^\ufeff?---[ \t]*\r?\n([\s\S]*?\r?\n)?(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/.exec(text);
  return m ? { front: (m[1] ?? '').trimEnd(), body: text.slice(m[0].length) } : { front: '', body: text };
}

class Painter {
  constructor(
    private readonly text: string,
    private readonly o: Options,
  ) {}
  #at = 0;
  #line = 0;
  #notes: { id: string; n: SyntaxNode }[] = []; // footnotes, in their order
  #refs = new Map<string, number>(); // those that were referred to, with their number

  /** placed says in which line of the note a block is written. Blocks come in their order. */
  placed<T extends HTMLElement>(el: T, n: SyntaxNode): T {
    if (this.o.firstLine === undefined) return el;
    for (let i = this.text.indexOf('\n', this.#at); i >= 0 && i < n.from; i = this.text.indexOf('\n', this.#at)) {
      this.#line++;
      this.#at = i + 1;
    }
    el.dataset.line = String(this.o.firstLine + this.#line);
    return el;
  }

  /** children paints what stands in a node: its elements, and the text between them. */
  children(node: SyntaxNode, into: Node, from = node.from, to = node.to): void {
    let at = from;
    for (let c = node.firstChild; c; c = c.nextSibling) {
      if (c.from < from) continue;
      if (c.to > to) break;
      if (c.from > at) this.words(at, c.from, into);
      this.one(c, into);
      at = Math.max(at, c.to);
      if (c.name === 'QuoteMark' && this.text[at] === ' ') at++; // it belongs to the mark
    }
    if (to > at) this.words(at, to, into);
  }

  words(from: number, to: number, into: Node): void {
    const t = this.text.slice(from, to);
    // Between blocks stand only line ends and marks of quotes.
    if (into instanceof HTMLElement && /^(UL|OL|LI|TABLE|TR|BLOCKQUOTE|THEAD|TBODY|ARTICLE)$/.test(into.tagName) && !t.trim()) return;
    into.appendChild(document.createTextNode(t));
  }

  one(n: SyntaxNode, into: Node): void {
    const text = this.text.slice(n.from, n.to);
    const name = plain[n.name];
    if (name) {
      const el = document.createElement(name);
      into.appendChild(blocks.has(n.name) ? this.placed(el, n) : el);
      if (name !== 'hr' && name !== 'br') this.children(n, el);
      if (n.name === 'Paragraph' && el.children.length === 1 && el.firstElementChild?.matches('.embed') && !el.textContent?.replace(el.firstElementChild.textContent ?? '', '').trim()) el.replaceWith(el.firstElementChild);
      if (n.name === 'Table') this.table(el);
      if (n.name === 'Blockquote') {
        callout(el);
        if (this.o.quoted?.(el.textContent ?? '') === false) unproved(el);
      }
      if (n.name === 'BulletList' || n.name === 'OrderedList') tighten(el, text);
      if (n.name === 'OrderedList') this.numbered(n, el as HTMLOListElement);
      return;
    }
    if (n.name === 'URL' && n.parent && !/^(Link|Image|Autolink|LinkReference)$/.test(n.parent.name)) {
      into.appendChild(this.anchor(text, text)); // written without brackets
      return;
    }
    if (n.name === 'URL' && n.parent?.name === 'Link' && n.parent.getChildren('LinkMark').some((m) => m.from >= n.to && this.text[m.from] === ']')) {
      into.appendChild(document.createTextNode(text)); // the words of a link
      return;
    }
    if (n.name === 'BlockName' && into instanceof HTMLElement) into.dataset.block = text.trim().slice(1);
    if (marks.has(n.name)) return;
    const heading = /^(?:ATX|Setext)Heading(\d)$/.exec(n.name);
    if (heading) {
      const el = this.placed(document.createElement(`h${heading[1] as '1'}`), n);
      this.children(n, el);
      trim(el);
      into.appendChild(el);
      return;
    }
    switch (n.name) {
      case 'Document':
        this.children(n, into);
        return;
      case 'Escape':
        into.appendChild(document.createTextNode(text.slice(1)));
        return;
      case 'Entity':
        into.appendChild(document.createTextNode(entity(text)));
        return;
      case 'Math':
      case 'MathBlock':
        into.appendChild(maths(text, n.name === 'MathBlock'));
        return;
      case 'FootnoteRef':
        this.footnote(text.slice(2, -1), into);
        return;
      case 'Footnote':
        this.#notes.push({ id: /^\[\^([^\]]+)/.exec(text)?.[1] ?? '', n });
        return;
      case 'InlineCode':
        into.appendChild(code(text.replace(/^`+|`+$/g, '').replace(/\n/g, ' ')));
        return;
      case 'FencedCode':
      case 'CodeBlock':
        into.appendChild(this.placed(this.block(n), n));
        return;
      case 'Task':
        this.task(n, into);
        return;
      case 'Link':
      case 'Image':
        this.link(n, into);
        return;
      case 'Autolink':
        into.appendChild(this.anchor(text.replace(/^<|>$/g, ''), text.replace(/^<|>$/g, '')));
        return;
      case 'WikiLink':
      case 'Embed':
        this.wiki(n.name === 'Embed' ? text.slice(3, -2) : text.slice(2, -2), into, n.name === 'Embed');
        return;
      case 'Tag': {
        const a = document.createElement(this.o.tag ? 'a' : 'span');
        if (a instanceof HTMLAnchorElement && this.o.tag) a.href = this.o.tag(text.slice(1));
        a.className = 'tag';
        a.textContent = text;
        into.appendChild(a);
        return;
      }
      case 'HTMLBlock':
      case 'CommentBlock':
      case 'ProcessingInstructionBlock': {
        const pre = document.createElement('pre');
        pre.className = 'raw';
        pre.textContent = text;
        into.appendChild(pre);
        return;
      }
      default: // HTMLTag, Comment and what else may come: as it is written
        into.appendChild(document.createTextNode(text));
    }
  }

  block(n: SyntaxNode): HTMLElement {
    const pre = document.createElement('pre');
    const parts: string[] = [];
    for (let c = n.firstChild; c; c = c.nextSibling) {
      if (c.name === 'CodeText') parts.push(this.text.slice(c.from, c.to));
      if (c.name === 'CodeInfo') pre.title = this.text.slice(c.from, c.to);
    }
    pre.appendChild(code(parts.join('')));
    pre.tabIndex = 0; // what scrolls can be scrolled by keys
    return pre;
  }

  task(n: SyntaxNode, into: Node): void {
    const mark = n.getChild('TaskMarker');
    const box = document.createElement('input');
    box.type = 'checkbox';
    const line = into instanceof HTMLElement ? Number(into.dataset.line) : NaN;
    const turn = this.o.task;
    box.disabled = !turn || Number.isNaN(line);
    box.checked = !!mark && /x/i.test(this.text.slice(mark.from, mark.to));
    if (!box.disabled) box.onchange = () => turn?.(line, box.checked, box);
    into.appendChild(box);
    this.children(n, into, mark?.to ?? n.from);
    const words = into.textContent?.trim() ?? '';
    box.setAttribute('aria-label', box.disabled ? (box.checked ? 'Done' : 'To do') : words.slice(0, 200) || 'Task');
  }

  link(n: SyntaxNode, into: Node): void {
    const marksOf = n.getChildren('LinkMark');
    const [open, close] = marksOf;
    // The words of a link may look like an address, too: what counts stands behind them.
    const url = n.getChildren('URL').find((u) => close && u.from >= close.to);
    if (!url || !open || !close) {
      into.appendChild(document.createTextNode(this.text.slice(n.from, n.to)));
      return;
    }
    let target = this.text.slice(url.from, url.to);
    if (target.startsWith('<')) target = target.slice(1, -1);
    target = target.replace(/\\([!-/:-@[-`{-~])/g, '$1').replace(/&[#\w]+;/g, entity);
    const label = this.text.slice(open.to, close.from);
    if (n.name === 'Image' && this.media(target, label, into)) return;
    const a = this.anchor(target, '');
    if (n.name === 'Image') {
      // Nothing is fetched from elsewhere because a note says so.
      a.textContent = '🖼 ' + (label || target);
    } else this.children(n, a, open.to, close.from);
    const cited = a.className === '' ? this.o.cite?.(target) : undefined;
    into.appendChild(cited ? chip(cited) : a);
    if (this.o.wary) tell(a, into);
  }

  /** media shows a file that lies in the vault: a picture, sound, film, or a link to
   *  what a browser does not show here. It reports whether it did. */
  media(target: string, label: string, into: Node): boolean {
    const path = decoded(target).replace(/#.*$/s, '');
    const src = hasScheme(target) ? undefined : this.o.file?.(path);
    if (!src) return false;
    if (/\.(png|jpe?g|gif|webp|avif|bmp|ico|svg)$/i.test(path)) this.picture(src, path, label, into);
    else if (/\.(mp3|m4a|wav|ogg|opus|flac)$/i.test(path)) into.appendChild(player('audio', src, label || path));
    else if (/\.(mp4|m4v|webm|mov|ogv)$/i.test(path)) into.appendChild(player('video', src, label || path));
    else into.appendChild(this.attached(src, path, label));
    return true;
  }

  /** attached is a link to a file, with its size. */
  attached(src: string, path: string, label: string): HTMLElement {
    const a = document.createElement('a');
    a.className = 'attached';
    a.href = src;
    a.download = path.slice(path.lastIndexOf('/') + 1);
    a.textContent = label || a.download;
    const size = document.createElement('span');
    size.className = 'size';
    a.append(size);
    void this.o.size?.(src).then((s) => (size.textContent = s && ` ${s}`));
    return a;
  }

  picture(src: string, path: string, label: string, into: Node): void {
    const img = document.createElement('img');
    const [, alt, width] = /^(.*?)\|?(\d+)?(?:x\d+)?$/.exec(label) ?? [];
    img.src = src;
    img.alt = alt || (width ? '' : label) || path;
    img.loading = 'lazy';
    if (width && Number(width) <= 4000) img.width = Number(width);
    into.appendChild(img);
  }

  /** anchor is a link that leads to a note, or outside, or nowhere. */
  anchor(target: string, label: string): HTMLElement {
    const outside = safeAddress(/^www\./i.test(target) ? 'https://' + target : /^[^\s/:]+@[^\s/:]+$/.test(target) ? 'mailto:' + target : target);
    const el = document.createElement(outside || !hasScheme(target) ? 'a' : 'span');
    if (label) el.textContent = label;
    if (!(el instanceof HTMLAnchorElement)) {
      el.className = 'refused';
      el.title = 'Lore does not open links of this kind';
    } else if (outside) {
      el.href = outside;
      el.rel = 'noreferrer noopener';
      el.target = '_blank';
      el.className = 'outside';
    } else {
      const path = decoded(target);
      const file = this.o.file?.(path);
      el.href = file ?? this.o.note(path);
      if (file) el.target = '_blank';
      else if (this.o.there?.(path) === false) el.className = 'nowhere';
    }
    return el;
  }

  wiki(inside: string, into: Node, embed = false): void {
    const [target = '', ...label] = inside.split('|');
    if (embed && this.media(target.trim(), label.join('|').trim(), into)) return;
    const cited = this.o.cite?.(target.trim());
    if (cited) {
      into.appendChild(chip(cited));
      return;
    }
    const inner = embed && (this.o.depth ?? 0) < 3 && this.o.there?.(target.trim()) !== false ? this.o.embed?.(target.trim()) : undefined;
    if (inner) {
      into.appendChild(this.embedded(target.trim(), inner));
      return;
    }
    const a = document.createElement('a');
    a.className = 'wiki';
    const file = this.o.file?.(target.trim());
    a.href = file ?? this.o.note(target.trim());
    if (file) a.target = '_blank';
    a.textContent = label.join('|').trim() || target.trim();
    if (!file && this.o.there?.(target.trim()) === false) a.classList.add('nowhere');
    into.appendChild(a);
  }

  /** embedded shows another note in this one, as soon as its text is there. */
  embedded(target: string, read: Promise<Embedded | undefined>): HTMLElement {
    const box = document.createElement('div');
    box.className = 'embed';
    const head = document.createElement('a');
    head.className = 'embed-title';
    head.href = this.o.note(target);
    head.textContent = target;
    box.append(head);
    void read.then((e) => {
      if (!e) return;
      head.textContent = e.title;
      head.href = e.href;
      const { task: _, firstLine: __, ...rest } = this.o;
      const body = document.createElement('div');
      body.append(render(e.text, { ...rest, ...e.more, depth: (this.o.depth ?? 0) + 1 }));
      box.append(body);
      box.dispatchEvent(new CustomEvent('drawn', { bubbles: true })); // code and formulas in it are drawn, too
    });
    return box;
  }

  /** footnote is a number that leads to the words at the end, and shows them to a pointer. */
  footnote(id: string, into: Node): void {
    const n = this.#refs.get(id) ?? this.#refs.size + 1;
    this.#refs.set(id, n);
    const sup = document.createElement('sup');
    const a = document.createElement('a');
    a.className = 'footnote';
    a.textContent = String(n);
    a.dataset.footnote = id;
    sup.append(a);
    into.appendChild(sup);
  }

  /** footnotes puts their words at the end, in the order in which they were referred to. */
  footnotes(root: HTMLElement): void {
    const known = new Map(this.#notes.map((f) => [f.id, f.n]));
    const list = document.createElement('ol');
    const names = [...this.#refs.keys(), ...[...known.keys()].filter((id) => !this.#refs.has(id))];
    for (const id of names) {
      const n = known.get(id);
      const refs = [...root.querySelectorAll<HTMLAnchorElement>('a.footnote')].filter((a) => a.dataset.footnote === id);
      if (!n) {
        for (const a of refs) a.replaceWith(`[^${id}]`); // its words are nowhere
        continue;
      }
      const li = document.createElement('li');
      this.children(n, li);
      trim(li);
      const words = li.textContent ?? '';
      for (const a of refs) {
        leap(a, li);
        a.title = words;
        a.setAttribute('aria-label', `Footnote ${a.textContent}`);
      }
      if (refs[0]) {
        const back = document.createElement('a');
        back.className = 'footnote-back';
        back.textContent = '↩';
        back.setAttribute('aria-label', 'Back to the text');
        leap(back, refs[0]);
        li.append(' ', back);
      }
      list.append(li);
    }
    if (!list.children.length) return;
    const section = document.createElement('section');
    section.className = 'footnotes';
    section.setAttribute('aria-label', 'Footnotes');
    section.append(list);
    root.append(section);
  }

  numbered(n: SyntaxNode, el: HTMLOListElement): void {
    const mark = n.firstChild?.getChild('ListMark');
    const first = mark ? parseInt(this.text.slice(mark.from, mark.to), 10) : 1;
    if (first > 1) el.start = first;
  }

  table(el: HTMLElement): void {
    const head = el.querySelector('tr');
    for (const cell of [...(head?.children ?? [])]) {
      const th = document.createElement('th');
      th.append(...cell.childNodes);
      cell.replaceWith(th);
    }
    for (const cell of el.querySelectorAll<HTMLElement>('th, td')) trim(cell);
    for (const row of el.querySelectorAll('tr')) for (const c of [...row.childNodes]) if (c.nodeType === 3) c.remove();
  }
}

/** leap makes a link that leads to another place of what is drawn. */
function leap(a: HTMLAnchorElement, to: HTMLElement): void {
  a.href = '#';
  a.onclick = (e) => {
    e.preventDefault();
    e.stopPropagation();
    to.tabIndex = to instanceof HTMLAnchorElement ? 0 : -1;
    to.focus({ preventScroll: true });
    to.scrollIntoView({ block: 'nearest' });
  };
}

/** maths is a formula as it is written; what draws it comes later. */
function maths(text: string, block: boolean): HTMLElement {
  const wide = text.startsWith('$$');
  const el = document.createElement(block ? 'div' : 'span');
  el.className = wide ? 'math wide' : 'math';
  el.textContent = text;
  el.dataset.math = text.slice(wide ? 2 : 1, wide ? -2 : -1).trim();
  if (block && !text.endsWith('$$')) el.dataset.math = text.slice(2).trim();
  return el;
}

/** player plays sound or film when a person asks for it. */
function player(kind: 'audio' | 'video', src: string, label: string): HTMLElement {
  const el = document.createElement(kind);
  el.controls = true;
  el.preload = 'metadata';
  el.src = src;
  el.setAttribute('aria-label', label);
  return el;
}

/** chip is a cited place: its number and what the note is called. */
function chip(c: Cited): HTMLElement {
  const a = document.createElement('a');
  a.className = c.doubt ? 'cite doubtful' : 'cite';
  a.href = c.href;
  a.title = c.doubt ? `${c.title}: ${c.doubt}` : c.passage || c.title;
  const n = document.createElement('span');
  n.className = 'number';
  n.textContent = `[${c.number}]`;
  a.append(n, ` ${c.title}${c.doubt ? ' ?' : ''}`);
  return a;
}

/** tell writes the host of an address beside a link whose words do not name it. */
function tell(a: HTMLElement, into: Node): void {
  if (!(a instanceof HTMLAnchorElement) || a.className !== 'outside') return;
  const where = a.protocol === 'mailto:' ? a.pathname : a.host;
  a.title = a.href;
  const words = (a.textContent ?? '').trim();
  let named = '';
  try {
    named = new URL(/^[a-z]+:/i.test(words) ? words : 'https://' + words).host;
  } catch {
    // words, and no address
  }
  if (named === where || words === where) return;
  const span = document.createElement('span');
  span.className = 'leads';
  span.textContent = ` (${where})`;
  into.appendChild(span);
}

/** unproved marks a quote whose words were not found. */
function unproved(el: HTMLElement): void {
  el.classList.add('unproved');
  const p = document.createElement('p');
  p.className = 'doubt';
  p.textContent = 'This quote was not found in the notes that were read.';
  el.append(p);
}

function code(text: string): HTMLElement {
  const el = document.createElement('code');
  el.textContent = text;
  return el;
}

/** tighten takes the paragraphs away from items that no blank line parts. */
function tighten(list: HTMLElement, text: string): void {
  if (/\n[ \t]*\n/.test(text)) return;
  for (const p of list.querySelectorAll(':scope > li > p')) p.replaceWith(...p.childNodes);
}

function trim(el: HTMLElement): void {
  if (el.firstChild?.nodeType === 3) el.firstChild.textContent = (el.firstChild.textContent ?? '').trimStart();
  if (el.lastChild?.nodeType === 3) el.lastChild.textContent = (el.lastChild.textContent ?? '').trimEnd();
}

const callouts = new Set(['note', 'info', 'tip', 'warning', 'danger', 'question', 'quote', 'example', 'todo', 'success', 'failure', 'bug', 'abstract', 'important', 'caution']);

/** callout makes one of a quote that begins with [!kind]. An unknown kind is a note. */
function callout(el: HTMLElement): void {
  const p = el.firstElementChild;
  const first = p?.firstChild;
  const m = /^\[!([\w-]+)\]([+-]?)[ \t]*/.exec(first?.textContent ?? '');
  if (!p || !first || !m) return;
  const kind = (m[1] ?? '').toLowerCase();
  first.textContent = (first.textContent ?? '').slice(m[0].length);
  let fold = m[2] ?? '';
  if (!first.textContent && first.nextSibling?.nodeType === 3) {
    fold ||= /^[+-]/.exec(first.nextSibling.textContent ?? '')?.[0] ?? '';
    first.nextSibling.textContent = (first.nextSibling.textContent ?? '').replace(/^[+-]?[ \t]*/, '');
  }
  el.className = 'callout ' + (callouts.has(kind) ? kind : 'note');
  const title = document.createElement('strong');
  title.className = 'callout-kind';
  for (let n = p.firstChild; n; n = p.firstChild) { // the rest of the line belongs to it
    const end = n.nodeType === 3 ? (n.textContent ?? '').indexOf('\n') : -1;
    if (end < 0) {
      title.append(n);
      continue;
    }
    title.append((n.textContent ?? '').slice(0, end));
    n.textContent = (n.textContent ?? '').slice(end + 1);
    break;
  }
  title.prepend(kind.slice(0, 1).toUpperCase() + kind.slice(1) + (title.textContent?.trim() ? ': ' : ''));
  if (!p.hasChildNodes()) p.remove();
  if (!fold || !el.hasChildNodes()) return el.prepend(title);
  const folds = document.createElement('details');
  folds.open = fold === '+';
  const head = document.createElement('summary');
  head.append(title);
  folds.append(head, ...el.childNodes);
  el.append(folds);
}

/** render makes nodes of a text. */
export function render(text: string, o: Options): DocumentFragment {
  const out = document.createDocumentFragment();
  const root = document.createElement('article');
  const body = text.replace(/\r\n?/g, '\n');
  const painter = new Painter(body, o);
  painter.one(parser.parse(body).topNode, root);
  painter.footnotes(root);
  showFields(root);
  out.append(...root.childNodes);
  return out;
}

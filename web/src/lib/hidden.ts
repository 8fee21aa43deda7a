// Characters that nobody sees, or that turn what is seen around. Words could
// hide in them, so a person who decides sees each as what it is. The list is
// that of the terminal (internal/surface/draw).

function harmful(c: number): boolean {
  return (
    (c < 0x20 && c !== 0x0a && c !== 0x09) || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) ||
    c === 0x200e || c === 0x200f || c === 0x061c || c === 0x2028 || c === 0x2029 || (c >= 0xe0000 && c <= 0xe007f)
  );
}

const single = new Set([0xad, 0x34f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x180e, 0x3164, 0xffa0, 0xfeff, 0x200b, 0xfffd]);

function unseen(c: number): boolean {
  return single.has(c) || (c >= 0x2060 && c <= 0x206f) || (c >= 0xfe00 && c <= 0xfe0e) || (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0100 && c <= 0xe01ef);
}

const names: Record<number, string> = {
  0x0d: 'carriage return', 0x1b: 'escape', 0xad: 'soft hyphen', 0x200b: 'zero width space', 0x200e: 'left-to-right mark', 0x200f: 'right-to-left mark', 0x202a: 'left-to-right embedding',
  0x202b: 'right-to-left embedding', 0x202c: 'end of embedding', 0x202d: 'left-to-right override', 0x202e: 'right-to-left override', 0x2028: 'line separator', 0x2029: 'paragraph separator',
  0x2060: 'word joiner', 0xfeff: 'byte order mark', 0xfffd: 'no text',
};

/** A Piece of a text: as it is, or one hidden character. */
export interface Piece {
  text: string;
  /** What a hidden character is called; absent for plain text. */
  hidden?: string;
}

/** nameOf is how a character is told to a person. */
export function nameOf(c: number): string {
  const code = 'U+' + c.toString(16).toUpperCase().padStart(4, '0');
  return names[c] ? `${code} ${names[c]}` : code;
}

/** reveal cuts a text where something hides. A carriage return before a line end hides nothing. */
export function reveal(text: string): Piece[] {
  const out: Piece[] = [];
  let plain = '';
  for (const ch of text.replaceAll('\r\n', '\n')) {
    const c = ch.codePointAt(0) ?? 0;
    if (!harmful(c) && !unseen(c)) {
      plain += ch;
      continue;
    }
    if (plain) out.push({ text: plain });
    plain = '';
    out.push({ text: ch, hidden: nameOf(c) });
  }
  if (plain) out.push({ text: plain });
  return out;
}

/** hides counts the hidden characters of a text. */
export function hides(text: string): number {
  let n = 0;
  for (const p of reveal(text)) if (p.hidden) n++;
  return n;
}

/** plainOf replaces them, for places that hold plain text alone, such as the title of the tab. */
export function plainOf(text: string): string {
  return reveal(text).map((p) => (p.hidden ? '\ufffd' : p.text)).join('');
}

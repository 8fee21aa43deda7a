// Characters that nobody sees, or that turn what is seen around. Words could
// hide in them, so a person who decides sees each as what it is. The list is
// that of the terminal (internal/surface/cli/draw).

function harmful(c: number): boolean {
  return (
    (c < 0x20 && c !== 0x0a && c !== 0x09) || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) ||
    c === 0x200e || c === 0x200f || c === 0x061c || c === 0x2028 || c === 0x2029 || (c >= 0xe0000 && c <= 0xe007f)
  );
}

const single = new Set([0xad, 0x34f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x180e, 0x3164, 0xffa0, 0xfeff, 0x200b, 0xfffd]);

function unseen(c: number): boolean {
  return single.has(c) || c === 0x200c || c === 0x200d || (c >= 0x180b && c <= 0x180f) || (c >= 0x2060 && c <= 0x206f) || (c >= 0xfe00 && c <= 0xfe0f) || (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0100 && c <= 0xe01ef);
}

// The joiners, the picture form of emoji and the tags of flags are spelling in
// their places: between letters of scripts that join, and in emoji. The rules are
// those for names (internal/note/invisible).
const flags = /\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}/gu;
const joined = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]$/u;
const picture = /^\p{Extended_Pictographic}/u;
const letters = /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Nko}\p{Script=Mandaic}\p{Script=Adlam}\p{Script=Hanifi_Rohingya}]\p{M}*$/u;
const virama = /[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca\u0f84\u1039\u17d2\u1b44]$/u;

function isSpelling(before: string, ch: string, after: string): boolean {
  switch (ch) {
    case '\u200d':
      return virama.test(before) || (/[\u09b0\u0cb0]$/u.test(before) && /^[\u09cd\u0ccd]/u.test(after)) || (joined.test(before) && picture.test(after));
    case '\u200c':
      return virama.test(before) || (letters.test(before) && /^\p{L}/u.test(after));
    case '\ufe0e':
    case '\ufe0f':
      return /[\p{Extended_Pictographic}0-9#*]$/u.test(before);
  }
  return false;
}

const names: Record<number, string> = {
  0x0d: 'carriage return', 0x1b: 'escape', 0xad: 'soft hyphen', 0x200b: 'zero width space', 0x200c: 'zero width non-joiner', 0x200d: 'zero width joiner', 0x200e: 'left-to-right mark', 0x200f: 'right-to-left mark', 0x202a: 'left-to-right embedding',
  0x202b: 'right-to-left embedding', 0x202c: 'end of embedding', 0x202d: 'left-to-right override', 0x202e: 'right-to-left override', 0x2028: 'line separator', 0x2029: 'paragraph separator',
  0x2060: 'word joiner', 0xfeff: 'byte order mark', 0xfffd: 'replacement character',
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
  text = text.replaceAll('\r\n', '\n');
  const spelled = new Set<number>(); // where the tags of flags are
  for (const m of text.matchAll(flags)) for (let i = 0; i < m[0].length; i++) spelled.add(m.index + i);
  let at = 0;
  for (const ch of text) {
    const c = ch.codePointAt(0) ?? 0;
    const here = at;
    at += ch.length;
    if ((!harmful(c) && !unseen(c)) || spelled.has(here) || isSpelling(text.slice(Math.max(0, here - 8), here), ch, text.slice(at, at + 4))) {
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

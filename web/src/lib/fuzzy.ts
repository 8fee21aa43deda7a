// How well what was typed fits a text: 0 is not at all. All words must be there; the
// beginning of a word counts more, letters in order count a little. Of two that fit
// alike, the shorter is the better.

/** hasLetters reports whether the letters of a word are in a text, in order. */
function hasLetters(word: string, text: string): boolean {
  let at = -1;
  for (const ch of word) {
    at = text.indexOf(ch, at + 1);
    if (at < 0) return false;
  }
  return true;
}

const other = /[^\p{L}\p{N}]/u;

/** beginsAt reports whether a word begins at a place of a text in lower case. */
function beginsAt(text: string, at: number): boolean {
  const c = text.charCodeAt(at - 1);
  if (c < 128) return !((c > 96 && c < 123) || (c > 47 && c < 58));
  return other.test(text[at - 1]!);
}

/** scorer reads what was typed once, for texts in lower case: fifty thousand of them are scored at each key. */
export function scorer(typed: string): (lower: string) => number {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return (t) => {
    let sum = 1;
    for (const w of words) {
      sum -= Math.min(t.length, 400) / 4000;
      const at = t.indexOf(w);
      if (at >= 0) sum += 10 + (at === 0 ? 8 : beginsAt(t, at) ? 5 : 0) - Math.min(at, 40) / 20;
      else if (hasLetters(w, t)) sum += 1;
      else return 0;
    }
    return sum;
  };
}

/** score tells how well what was typed fits one text. */
export function score(typed: string, text: string): number {
  return scorer(typed)(text.toLowerCase());
}

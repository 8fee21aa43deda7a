// score tells how well what was typed fits a text: 0 is not at all. All words
// must be there; the beginning of a word counts more, letters in order count a
// little. Of two that fit alike, the shorter is the better.
export function score(typed: string, text: string): number {
  const t = text.toLowerCase();
  let sum = 1;
  for (const w of typed.toLowerCase().split(/\s+/).filter(Boolean)) {
    sum -= Math.min(t.length, 400) / 4000;
    const at = t.indexOf(w);
    if (at >= 0) {
      sum += 10 + (at === 0 ? 8 : /[^\p{L}\p{N}]/u.test(t[at - 1] ?? '') ? 5 : 0) - Math.min(at, 40) / 20;
      continue;
    }
    let i = 0;
    for (const ch of t) if (ch === w[i]) i++;
    if (i < w.length) return 0;
    sum += 1;
  }
  return sum;
}

// A passage that a person selected, and its place in the text of the note.
export interface Passage {
  from: number;
  text: string;
}

const word = /[\p{L}\p{N}]+/gu;
const most = 20_000; // characters

/** findPassage finds what was selected in the drawn note in its text, where signs stand between the words. It is undefined where that is not one place. */
export function findPassage(source: string, selected: string): Passage | undefined {
  const exact = source.indexOf(selected);
  if (selected.trim() && exact >= 0 && source.indexOf(selected, exact + 1) < 0) return { from: exact, text: selected };
  const words = [...selected.matchAll(word)];
  if (!words.length || selected.length > most) return undefined;
  const found = [...source.matchAll(new RegExp(words.map((w) => w[0]).join('[^\\p{L}\\p{N}]+'), 'gu'))];
  const one = found[0];
  if (!one || found.length > 1) return undefined;
  let [from, to] = [one.index, one.index + one[0].length];
  const last = words.at(-1)!;
  const [head, tail] = [selected.slice(0, words[0]!.index).trim(), selected.slice(last.index + last[0].length).trim()];
  if (tail && source.startsWith(tail, to)) to += tail.length;
  if (head && source.slice(0, from).endsWith(head)) from -= head.length;
  return { from, text: source.slice(from, to) };
}

/** placeOf is where a passage is now; -1 where it is not, or not alone. */
export function placeOf(text: string, p: Passage): number {
  if (text.startsWith(p.text, p.from)) return p.from;
  const at = text.indexOf(p.text);
  return at >= 0 && text.indexOf(p.text, at + 1) < 0 ? at : -1;
}

/** rewritten is the answer of a model as the new text of a passage: without a fence around it, and with the blanks that the passage has. */
export function rewritten(answer: string, passage: string): string {
  let text = answer.replace(/\r\n?/g, '\n').trim();
  const fenced = /^(`{3,}|~{3,})[^\n]*\n([\s\S]*?)\n?\1$/.exec(text);
  if (fenced && !/^\s*(`{3,}|~{3,})/.test(passage)) text = (fenced[2] ?? '').trim();
  const tagged = /^<selection>\s*([\s\S]*?)\s*<\/selection>$/.exec(text);
  if (tagged) text = tagged[1] ?? '';
  return (/^\s*/.exec(passage)?.[0] ?? '') + text + (/\s*$/.exec(passage)?.[0] ?? '');
}

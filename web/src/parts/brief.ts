// The first lines of a note, or of one part of it, as plain words.
import { render, split } from './markdown';

const most = 420; // characters, about what a small card holds

/** wordsOf is a passage as a reader sees it, on one line. */
export function wordsOf(text: string): string {
  return (render(text, { note: () => '' }).textContent ?? '').replace(/\s+/g, ' ').trim();
}

/** briefOf takes what a reader would see first: without properties, and without the title again. */
export function briefOf(text: string, anchor = '', title = ''): string[] {
  const box = document.createElement('div');
  box.append(render(split(text).body, { note: () => '' }));
  const blocks = [...box.children].filter((el) => el.tagName !== 'HR');
  const heads = /^H[1-6]$/;
  const even = (s: string | null): string => (s ?? '').trim().toLowerCase();
  let from = 0;
  if (anchor) {
    const wanted = even(anchor.replace(/^.*#/, ''));
    const i = blocks.findIndex((el) => heads.test(el.tagName) && even(el.textContent) === wanted);
    if (i >= 0) from = i + 1;
  }
  const out: string[] = [];
  let room = most;
  for (const el of blocks.slice(from)) {
    if (from > 0 && heads.test(el.tagName)) break; // the next part
    for (const part of /^[UO]L$/.test(el.tagName) ? [...el.children] : [el]) {
      const words = (part.textContent ?? '').replace(/\s+/g, ' ').trim();
      if (!words || (!out.length && heads.test(el.tagName) && even(words) === even(title))) continue;
      out.push(words.length > room ? words.slice(0, room).replace(/\s+\S*$/, '') + ' …' : words);
      room -= words.length;
      if (room <= 0) return out;
    }
  }
  return out;
}

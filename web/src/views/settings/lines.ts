// Two texts as a unified diff, for the parts of the page that draw one. Pure.

// More lines than this are not compared one by one: all went, all came.
const most = 2000;

/** unified is what changed between two texts, whole, as the lines of a diff; '' is nothing. */
export function unified(before: string, after: string): string {
  if (before === after) return '';
  const a = linesOf(before);
  const b = linesOf(after);
  const rows = a.length > most || b.length > most ? [...a.map((l) => '-' + l), ...b.map((l) => '+' + l)] : compared(a, b);
  return `@@ -1,${a.length} +1,${b.length} @@\n${rows.join('\n')}\n`;
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

function compared(a: string[], b: string[]): string[] {
  const w = b.length + 1;
  const table = new Uint16Array((a.length + 1) * w); // the longest that both have from here on
  const at = (i: number, j: number): number => table[i * w + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) table[i * w + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  }
  const out: string[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push(' ' + a[i]);
      i++;
      j++;
    } else if (i < a.length && (j === b.length || at(i + 1, j) >= at(i, j + 1))) out.push('-' + a[i++]);
    else out.push('+' + b[j++]);
  }
  return out;
}

/** pairsOf reads lines like NAME=value; what is none is told. */
export function pairsOf(text: string, sign: '=' | ':'): { pairs: Record<string, string>; wrong: string } {
  const pairs: Record<string, string> = {};
  for (const line of text.split('\n').map((l) => l.trim()).filter(Boolean)) {
    const at = line.indexOf(sign);
    if (at < 1) return { pairs, wrong: `“${line}” is not valid. Use ${sign === '=' ? 'NAME=value' : 'Name: value'}.` };
    pairs[line.slice(0, at).trim()] = line.slice(at + 1).trim();
  }
  return { pairs, wrong: '' };
}

/** wordsOf cuts what was typed into a program and its arguments: spaces part, quotes hold together. */
export function wordsOf(line: string): string[] {
  const out: string[] = [];
  for (const m of line.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g)) out.push(m[1]?.replace(/\\(["\\])/g, '$1') ?? m[2] ?? m[3] ?? '');
  return out;
}

/** quoted shows where a word begins and ends. */
export function quoted(word: string): string {
  return /^[^\s"'\\$`&|;<>()*?[\]{}]+$/.test(word) ? word : JSON.stringify(word);
}

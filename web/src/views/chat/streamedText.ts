// Markdown that comes in pieces, split into blocks as soon as they are finished:
// a finished block is drawn once, and only the last one is drawn again.

/** A StreamedText is an answer while it comes in: the finished blocks, and the one that still grows. */
export class StreamedText {
  done: string[] = [];
  tail = '';

  /** The longest block that is drawn again with every piece; longer ones end at a blank line. */
  static most = 8000;

  push(text: string): void {
    this.tail += text;
    let from = 0; // where the unfinished block begins
    let at = 0;
    let fence = '';
    for (;;) {
      const end = this.tail.indexOf('\n', at);
      if (end < 0) break;
      const line = this.tail.slice(at, end);
      const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
      if (mark && !fence) fence = mark;
      else if (mark && mark[0] === fence[0] && mark.length >= fence.length && /^\s*[`~]+\s*$/.test(line)) fence = '';
      at = end + 1;
      if (fence || line.trim()) continue;
      // A blank line ends a block unless what follows belongs to it: an item of a
      // list, a line that is set in. What follows must be there to be known.
      const next = this.tail.slice(at, at + 6);
      if (!next || !/\S/.test(next.slice(0, 1)) || /^([-*+>]|\d{1,9}[.)])/.test(next)) {
        if (at - from < StreamedText.most) continue;
      }
      const block = this.tail.slice(from, at);
      if (block.trim()) this.done.push(block);
      from = at;
    }
    this.tail = this.tail.slice(from);
  }
}

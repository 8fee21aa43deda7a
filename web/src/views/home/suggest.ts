// Questions that the notes suggest: made of what is in them, without a model.
// Pure, so that it can be proved.

export interface Known {
  path: string;
  title: string;
  type?: string;
  tags?: string[];
}

export interface Opposed {
  from: { title: string };
  to: { title: string };
}

const most = 4;
/** A daily note, or one that is only called by a number, says nothing in its title. */
const isTelling = (n: Known): boolean => /\p{L}{3}/u.test(n.title) && !/^(untitled|readme|index|home|todo|inbox|start here)$/i.test(n.title) && !/\d{4}-\d{2}-\d{2}/.test(n.path) && !/(^|\/)_?templates?\//i.test(n.path);
const asQuestion = (title: string): string => title.replace(/[\s?.!…]+$/u, '') + '?';

/** suggest makes questions: where notes disagree, what a note asks itself, what was last written about. */
export function suggest(recent: readonly Known[], against: readonly Opposed[]): string[] {
  const out: string[] = [];
  const told = new Set<string>();
  const add = (text: string, ...about: string[]): void => {
    if (about.some((t) => told.has(t)) || out.includes(text)) return;
    about.forEach((t) => told.add(t));
    out.push(text);
  };
  const notes = recent.filter(isTelling);
  const [first] = against;
  if (first) add(`What speaks for and against “${first.from.title}” and “${first.to.title}”?`, first.from.title, first.to.title);
  for (const n of notes) if (n.type === 'Question' || n.title.endsWith('?')) add(asQuestion(n.title), n.title);
  const plain = notes.filter((n) => !told.has(n.title));
  for (const [i, a] of plain.entries()) {
    const b = plain.slice(i + 1).find((x) => x.tags?.some((t) => a.tags?.includes(t)));
    if (!b) continue;
    add(`How are “${a.title}” and “${b.title}” related?`, a.title, b.title);
    break;
  }
  for (const n of plain) add(`What do my notes say about “${n.title}”?`, n.title);
  return out.slice(0, most);
}

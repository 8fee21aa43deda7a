// A question that is asked again makes a chat of its own. In the list one row stands
// for all of them: the open one, or else the one that changed last.
import type { Chat } from './talk';

/** A Row is one line of the list. */
export interface Row {
  chat: Chat;
  /** The first chat of the family that is known here. */
  root: string;
  /** How many others the row stands for; 0 in the rows of those others. */
  others: number;
}

/** rowsOf puts the others of the families in open below the row that stands for them, and leaves out the rest. */
export function rowsOf(chats: Chat[], current: string, open: ReadonlySet<string>): Row[] {
  const byID = new Map(chats.map((c) => [c.id, c]));
  const rootOf = (c: Chat): string => {
    const seen = new Set<string>();
    for (let p = c.parent ? byID.get(c.parent) : undefined; p && !seen.has(p.id); p = p.parent ? byID.get(p.parent) : undefined) seen.add((c = p).id);
    return c.id;
  };
  const families = new Map<string, Chat[]>();
  for (const c of chats) {
    const root = rootOf(c);
    const members = families.get(root);
    if (members) members.push(c);
    else families.set(root, [c]);
  }
  return [...families].flatMap(([root, members]) => {
    const head = members.find((c) => c.id === current) ?? members[0]!;
    const rest = open.has(root) ? members.filter((c) => c !== head) : [];
    return [{ chat: head, root, others: members.length - 1 }, ...rest.map((chat) => ({ chat, root, others: 0 }))];
  });
}

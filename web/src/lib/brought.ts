// What another view brings along for the next message of a chat. It is shown in
// the chat, and sent when the person sends it.
export interface Brought {
  kind: string;
  name: string;
  text?: string;
}

let waiting: Brought | undefined;

/** bring leaves it for the chat. */
export function bring(b: Brought): void {
  waiting = b;
}

/** brought takes it, once. */
export function brought(): Brought | undefined {
  const b = waiting;
  waiting = undefined;
  return b;
}

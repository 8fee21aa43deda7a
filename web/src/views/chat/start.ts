// What another view wants a conversation to begin with. It passes through the
// page and not through the address: no link of anybody says something for a
// person.
export interface Start {
  text: string;
  model?: string;
}

let waiting: Start | undefined;

/** begin leaves it for the chat. */
export function begin(s: Start): void {
  waiting = s;
}

/** begun takes it, once. */
export function begun(): Start | undefined {
  const s = waiting;
  waiting = undefined;
  return s;
}

// What was written and not sent, by conversation. It stays in this browser.
import { server } from '../../lib/server.svelte';
import type { Attachment } from './attachments';

/** A Draft is a message that is not sent. */
export interface Draft {
  text: string;
  attached: Attachment[];
}

const name = 'lore-chat';
const shelf = 'drafts';

function open(): Promise<IDBDatabase> {
  return new Promise((done, fail) => {
    const r = indexedDB.open(name, 1);
    r.onupgradeneeded = () => r.result.createObjectStore(shelf);
    r.onsuccess = () => done(r.result);
    r.onerror = () => fail(new Error('this browser cannot store drafts'));
  });
}

async function run<T>(mode: IDBTransactionMode, act: (s: IDBObjectStore) => IDBRequest<T>): Promise<T | undefined> {
  try {
    const db = await open();
    return await new Promise<T | undefined>((done) => {
      const r = act(db.transaction(shelf, mode).objectStore(shelf));
      r.onsuccess = () => done(r.result);
      r.onerror = () => done(undefined);
      r.transaction!.oncomplete = () => db.close();
    });
  } catch {
    return undefined; // a browser that keeps nothing still sends
  }
}

// Other vaults may have been served from this address.
async function place(chat: string): Promise<string> {
  if (chat) return chat;
  await server.known;
  return 'new in ' + (server.status?.vault ?? '');
}

/** draftOf is what was written for a conversation; "" is the one that is not begun. */
export async function draftOf(chat: string): Promise<Draft> {
  const at = await place(chat);
  const v = await run('readonly', (s) => s.get(at) as IDBRequest<unknown>);
  if (typeof v === 'string') return { text: v, attached: [] }; // kept by an older page
  return (v as Draft | undefined) ?? { text: '', attached: [] };
}

// One is kept after the other, and of those that wait the last.
let last: Promise<unknown> = Promise.resolve();
const waiting = new Map<string, Draft>();

/** keepDraft keeps it, or forgets what is empty. */
export function keepDraft(chat: string, text: string, attached: Attachment[] = []): Promise<void> {
  waiting.set(chat, { text, attached });
  const mine = last.then(async () => {
    const now = waiting.get(chat);
    if (now === undefined) return;
    waiting.delete(chat);
    const at = await place(chat);
    if (now.text || now.attached.length) await run('readwrite', (s) => s.put(now, at) as IDBRequest<unknown>);
    else await run('readwrite', (s) => s.delete(at) as IDBRequest<unknown>);
  });
  last = mine;
  return mine;
}

// What was written and not saved yet. It lies in the browser, under the note and
// the version that it was made from, so that it outlives a reload and a server
// that is away.

export interface Draft {
  vault: string;
  path: string;
  /** The hash of the text that it was made from. */
  base: string;
  /** That text; drafts of earlier versions of the page lack it. */
  from?: string;
  text: string;
  time: string;
}

let opened: Promise<IDBDatabase> | undefined;

function open(): Promise<IDBDatabase> {
  opened ??= new Promise((yes, no) => {
    const r = indexedDB.open('lore', 1);
    r.onupgradeneeded = () => r.result.createObjectStore('drafts', { keyPath: ['vault', 'path', 'base'] });
    r.onsuccess = () => yes(r.result);
    r.onerror = () => no(r.error ?? new Error('the browser storage for drafts cannot be opened'));
  });
  return opened;
}

async function run<T>(mode: IDBTransactionMode, f: (s: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const db = await open();
  return new Promise((yes, no) => {
    const t = db.transaction('drafts', mode, { durability: 'relaxed' });
    const r = f(t.objectStore('drafts'));
    t.oncomplete = () => yes(r.result);
    t.onabort = t.onerror = () => no(t.error ?? new Error('the draft could not be saved'));
  });
}

/** keep stores a draft in the place of the one from the same version. */
export function keep(d: Draft): Promise<unknown> {
  return run('readwrite', (s) => s.put(d));
}

/** drafts are those of a note, the newest first. Where nothing can be kept, there are none. */
export async function drafts(vault: string, path: string): Promise<Draft[]> {
  try {
    const all = (await run('readonly', (s) => s.getAll(IDBKeyRange.bound([vault, path, ''], [vault, path, '\uffff'])))) as Draft[];
    return all.sort((a, b) => b.time.localeCompare(a.time));
  } catch {
    return [];
  }
}

/** follow takes the drafts of a note along to its new name. */
export async function follow(vault: string, from: string, to: string): Promise<void> {
  for (const d of await drafts(vault, from)) {
    await keep({ ...d, path: to });
    await drop(vault, from, d.base);
  }
}

/** drop forgets a draft. */
export async function drop(vault: string, path: string, base: string): Promise<void> {
  await run('readwrite', (s) => s.delete([vault, path, base])).catch(() => undefined);
}

// The session of this browser. Its cookie is sent to every port of the machine,
// so it opens nothing alone: the server also wants a word that only pages of this
// very origin can read, and that is never a cookie and never in an address.
import { stopApp } from './app';
import { hmac } from './hmac';

const name = 'lore.session';

interface Held {
  session: string;
  files: string;
}

function read(): Held | null {
  try {
    const v = JSON.parse(localStorage.getItem(name) ?? 'null') as Partial<Held> | null;
    return v && typeof v.session === 'string' && typeof v.files === 'string' ? { session: v.session, files: v.files } : null;
  } catch {
    return null;
  }
}
let held = read();
// Another tab signed in or out.
addEventListener('storage', (e) => {
  if (e.key === name || e.key === null) held = read();
});

/** isHeld reports whether this browser was ever signed in here. */
export function isHeld(): boolean {
  return held !== null;
}

/** proof is what every request carries. */
export function proof(): Record<string, string> {
  return held ? { 'Lore-Session': held.session } : {};
}

/** forget drops the word, after signing out. */
export function forget(): void {
  held = null;
  localStorage.removeItem(name);
  void stopApp();
}

/** signed adds a signature to the address of an attachment, for what cannot send a header: pictures, sound, links. It holds for this one path, a day or two. */
export function signed(at: string, path: string): string {
  if (!held) return at;
  const until = (Math.floor(Date.now() / 86_400_000) + 2) * 86_400;
  return `${at}?until=${until}&signature=${hmac(held.files, `${until}\n${path}`)}`;
}

/** signIn turns the code of a sign-in link into a session, once; what went wrong is told in words. */
export async function signIn(code: string): Promise<string> {
  try {
    const res = await fetch('/login', { method: 'POST', credentials: 'same-origin', headers: { 'Content-Type': 'application/json', Accept: 'application/json' }, body: JSON.stringify({ code }) });
    const v = (await res.json()) as Partial<Held & { detail: string }>;
    if (!res.ok || typeof v.session !== 'string' || typeof v.files !== 'string') return v.detail ?? 'This sign-in link does not work. Run lore login for a new one.';
    held = { session: v.session, files: v.files };
    localStorage.setItem(name, JSON.stringify(held));
    return '';
  } catch {
    return 'Lore is not responding.';
  }
}

// Where the files of the vault lie that are no notes.
import { routes } from '../api.gen';
import { signed } from './session';
import { bytes } from './when';

/** fileAddress is where an attachment is served, signed for this browser's session. */
export function fileAddress(path: string): string {
  return signed(routes.readFile[1].replace('{path}', path.split('/').map(encodeURIComponent).join('/')), path);
}

/** sizeOf is how large the file at an address is, in words; nothing when that cannot be told. */
export async function sizeOf(at: string): Promise<string> {
  try {
    const n = Number((await fetch(at, { method: 'HEAD', credentials: 'same-origin' })).headers.get('Content-Length') ?? NaN);
    return Number.isNaN(n) ? '' : bytes(n);
  } catch {
    return '';
  }
}

/** isFile tells the name of an attachment from that of a note. */
export function isFile(target: string): boolean {
  const m = /\.([a-z0-9]{1,5})$/i.exec(target.replace(/[#?].*$/, ''));
  return !!m && /^(png|jpe?g|gif|webp|avif|bmp|ico|svg|mp3|m4a|wav|ogg|opus|flac|mp4|m4v|webm|mov|ogv|pdf|zip|csv|txt|docx?|xlsx?|pptx?|epub)$/i.test(m[1] ?? '');
}

/** near is a relative target seen from a note: pictures/a.png, ../a.png. */
export function near(note: string, target: string): string {
  const out = target.startsWith('/') ? [] : note.split('/').slice(0, -1);
  for (const part of target.split('/')) {
    if (part === '..') out.pop();
    else if (part && part !== '.') out.push(part);
  }
  return out.join('/');
}

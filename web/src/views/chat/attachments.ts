// What a person sends along with a message, and what of it can be sent. A picture
// is drawn anew in the size that models use: what is sent is what is shown, without
// the place and the camera that its file may name.
import type { Saying } from '../../api.gen';
import { count } from '../../lib/when';

export type Attachment = NonNullable<Saying['attached']>[number];

export const most = { count: 8, text: 256 * 1024, picture: 1024 * 1024, file: 20 * 1024 * 1024, all: 3_500_000 };
const edge = 1568; // pixels; larger pictures are made smaller by every provider

/** A Refusal says why something cannot be attached. */
export class Refusal extends Error {}

/** isPicture reports whether a file is attached as a picture. Drawings in SVG are text. */
export function isPicture(f: { type: string }): boolean {
  return f.type.startsWith('image/') && f.type !== 'image/svg+xml';
}

/** attachmentOf reads a file. */
export async function attachmentOf(f: File): Promise<Attachment> {
  if (f.size > most.file) throw new Refusal(`${f.name} is too large. Attach files of at most 20 MB.`);
  return isPicture(f) ? pictureOf(f) : textOf(f);
}

async function textOf(f: File): Promise<Attachment> {
  if (f.size > most.text) throw new Refusal(`${f.name} is too large. Attach text files of at most 256 kB.`);
  const bytes = await f.arrayBuffer();
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (text.includes('\0')) throw new Error();
    return { kind: 'file', name: f.name, text };
  } catch {
    throw new Refusal(`${f.name} is not a text file. Attach text files and pictures.`);
  }
}

async function pictureOf(f: File): Promise<Attachment> {
  let drawn: ImageBitmap;
  try {
    drawn = await createImageBitmap(f);
  } catch {
    throw new Refusal(`This browser cannot read ${f.name}. Attach a PNG, JPEG, GIF or WebP file.`);
  }
  const scale = Math.min(1, edge / Math.max(drawn.width, drawn.height));
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(drawn.width * scale));
  canvas.height = Math.max(1, Math.round(drawn.height * scale));
  canvas.getContext('2d')?.drawImage(drawn, 0, 0, canvas.width, canvas.height);
  drawn.close();
  const ways: [string, number | undefined][] = [['image/png', undefined], ['image/jpeg', 0.85], ['image/jpeg', 0.6]];
  for (const [type, quality] of f.type === 'image/jpeg' ? ways.slice(1) : ways) {
    const b = await new Promise<Blob | null>((done) => canvas.toBlob(done, type, quality));
    if (b && b.size <= most.picture) return { kind: 'picture', name: f.name || 'picture', media: b.type, data: await base64(b) };
  }
  throw new Refusal(`${f.name} is too large. Attach a smaller picture.`);
}

async function base64(b: Blob): Promise<string> {
  const bytes = new Uint8Array(await b.arrayBuffer());
  let out = '';
  for (let i = 0; i < bytes.length; i += 0x8000) out += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(out);
}

const size = (a: Attachment): number => (a.text?.length ?? 0) + (a.data?.length ?? 0);

/** add puts attachments to those that are there, each once, as far as there is room. */
export function add(list: Attachment[], more: Attachment[]): { list: Attachment[]; refused: string } {
  const out = [...list];
  for (const a of more) {
    if (out.some((b) => b.kind === a.kind && b.name === a.name && b.text === a.text && b.data === a.data)) continue;
    if (out.length >= most.count) return { list: out, refused: `You can attach at most ${count(most.count, 'item')} to a message.` };
    if (out.reduce((n, b) => n + size(b), size(a)) > most.all) return { list: out, refused: `${a.name} does not fit. The attachments of a message can have 3.5 MB together.` };
    out.push(a);
  }
  return { list: out, refused: '' };
}

/** Sight is whether a model can read pictures; undefined: not known. */
export type Sight = boolean | undefined;

/** blindness says why a message with pictures cannot go to a model. */
export function blindness(model: string, none: boolean, sees: Sight): string {
  if (none) return 'No model is chosen. Choose a model that can read pictures.';
  return sees === false ? `${model} cannot read pictures. Choose another model.` : '';
}

/** dataURL is a picture as an address. */
export function dataURL(a: Attachment): string {
  return `data:${a.media};base64,${a.data}`;
}

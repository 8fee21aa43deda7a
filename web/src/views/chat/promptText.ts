// Prompts that are notes: a text with places to fill in. {{topic}} is asked for,
// {{topic?}} may stay empty; {selection}, {note} and {date} are known where they are.
import { split } from '../../parts/markdown';

/** A Prompt is a note of the folder Prompts. */
export interface Prompt {
  path: string;
  name: string;
  /** Its first line, for the list. */
  about: string;
  body: string;
}

const places = /\{\{[ \t]*([A-Za-z][A-Za-z0-9_-]{0,63})[ \t]*(\?)?[ \t]*\}\}|\{(selection|note|date)\}/g;

/** promptOf reads the text of a note. */
export function promptOf(path: string, title: string, text: string): Prompt {
  const name = title || path.replace(/^.*\//, '').replace(/\.md$/, '');
  let body = split(text).body.trim();
  const heading = /^#[ \t]+(.*)\n*/.exec(body);
  if (heading && heading[1]?.trim() === name && body.length > heading[0].length) body = body.slice(heading[0].length).trim();
  const first = body.split('\n').map((l) => l.replace(/^[#>*\-\s]+/, '').trim()).find(Boolean) ?? '';
  return { path, name, about: first.length > 100 ? first.slice(0, 99) + '…' : first, body };
}

/** A Gap is a place that a person fills in. */
export interface Gap {
  name: string;
  needed: boolean;
}

/** gapsOf are the names in a prompt that are not known. */
export function gapsOf(body: string, known: Record<string, string>): Gap[] {
  const out: Gap[] = [];
  for (const m of body.matchAll(places)) {
    const name = m[1] ?? m[3] ?? '';
    if (known[name]) continue;
    const had = out.find((g) => g.name === name);
    if (!had) out.push({ name, needed: !m[2] });
    else if (!m[2]) had.needed = true;
  }
  return out;
}

/** fill puts values into their places. What is not given stays empty. */
export function fill(body: string, values: Record<string, string>): string {
  return body.replace(places, (_, a: string | undefined, __, b: string | undefined) => values[a ?? b ?? ''] ?? '');
}

// Names of notes, tags and tools are written by others. Where the page puts one
// into plain text (a tooltip, a label for screen readers, an option), what hides
// in it is marked.
import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const root = process.cwd() + '/src/';
const files = (readdirSync(root, { recursive: true }) as string[]).filter((f) => f.endsWith('.svelte'));

// Expressions that are words of the page itself, numbers or times.
const own = [
  /^at\(/, /^'[^']*'$/, /^(?:[\w.!?=<>' ]+ \? '[^']*' : )+'[^']*'$/, /^(theme\.now|p\.hidden|g\.label|percent|h\.number|none|s\.word|w|n|example)$/, /^ended\(k\)$/, /^l\.title\.toLowerCase\(\)$/,
  /^[ck]\.title$/, /^known\[local\]\?\.at$/, /^p\.usual$/, // of clients and providers that Lore knows
  /^hint\(f\)/, /^usually \?/, // marked where they are made
];

/** expressions are the parts in braces, which may hold braces themselves. */
function expressions(text: string): string[] {
  const out: string[] = [];
  for (let i = 0; i < text.length; i++) {
    if (text[i] !== '{') continue;
    let depth = 0;
    for (let j = i; j < text.length; j++) {
      if (text[j] === '{') depth++;
      if (text[j] === '}' && --depth === 0) {
        out.push(text.slice(i + 1, j));
        i = j;
        break;
      }
    }
  }
  return out;
}

/** valueAt is an attribute's value that begins there: in quotes or in braces. */
function valueAt(text: string, at: number): string {
  if (text[at] === '"') return text.slice(at + 1, text.indexOf('"', at + 1));
  return `{${expressions(text.slice(at))[0] ?? ''}}`;
}

/** plainTexts are the places of a file that hold plain text alone. */
function plainTexts(text: string): string[] {
  const out: string[] = [];
  for (const m of text.matchAll(/\b(aria-label|title|alt|placeholder|aria-description)=(?=["{])/g)) {
    const tag = text.slice(0, m.index).match(/<([A-Za-z][\w.]*)(?![\s\S]*<[A-Za-z])/)?.[1] ?? '';
    if (m[1] !== 'aria-label' && /^[A-Z]/.test(tag)) continue; // a part of the page, which marks it itself
    out.push(valueAt(text, m.index + m[0].length));
  }
  for (const m of text.matchAll(/<option\b(?:[^>"{]|"[^"]*"|\{[^}]*\})*>([\s\S]*?)<\/option>/g)) out.push(m[1] ?? '');
  return out;
}

describe('names in plain text', () => {
  for (const f of files) {
    it(f, () => {
      const text = readFileSync(root + f, 'utf8');
      const bare = plainTexts(text).flatMap(expressions).filter((e) => !e.startsWith('#') && !e.startsWith('/') && !e.startsWith(':') && !e.includes('plainOf(') && !own.some((o) => o.test(e.trim())));
      expect(bare).toEqual([]);
    });
  }

  it('toasts are revealed', () => {
    expect(readFileSync(root + 'shell/Toasts.svelte', 'utf8')).toContain('<Revealed text={t.text} />');
  });

  it('the graph', () => {
    expect(readFileSync(root + 'views/graph/draw.ts', 'utf8')).toMatch(/label: plainOf\(n\.title\)/);
  });
});

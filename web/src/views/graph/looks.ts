// How a type of note is drawn: a shape and a colour together, never a colour alone.

/** The shapes, in the order of their numbers in shapes.ts. */
export const shapes = ['circle', 'square', 'diamond', 'triangle', 'hexagon', 'cross', 'wedge'] as const;
export type Shape = (typeof shapes)[number];
export type Tone = '--accent' | '--ochre' | '--blue' | '--violet' | '--rose' | '--good' | '--line-strong';
export interface NodeLook {
  shape: Shape;
  tone: Tone;
}

/** plain is a note that has no type. */
export const plain: NodeLook = { shape: 'circle', tone: '--line-strong' };

const known: Record<string, NodeLook> = {
  Note: plain,
  Claim: { shape: 'square', tone: '--accent' },
  Hypothesis: { shape: 'diamond', tone: '--violet' },
  Observation: { shape: 'triangle', tone: '--ochre' },
  Source: { shape: 'hexagon', tone: '--blue' },
  Question: { shape: 'cross', tone: '--rose' },
  Concept: { shape: 'wedge', tone: '--good' },
};

const ownShapes: Shape[] = ['square', 'diamond', 'triangle', 'hexagon', 'cross', 'wedge'];
const ownTones: Tone[] = ['--blue', '--violet', '--rose', '--ochre', '--accent', '--good'];

function hash(s: string): number {
  let h = 7;
  for (let i = 0; i < s.length; i++) h = (h * 31 + s.charCodeAt(i)) >>> 0;
  return h;
}

/** looksOf gives each type a look. A type keeps its look as long as no other type wants the same one; with more types than looks, some share. */
export function looksOf(types: Iterable<string>): Map<string, NodeLook> {
  const out = new Map<string, NodeLook>();
  const taken = new Set<string>();
  const key = (l: NodeLook): string => l.shape + l.tone;
  const list = [...new Set(types)].sort();
  for (const t of list) {
    const look = known[t];
    if (!look) continue;
    out.set(t, look);
    taken.add(key(look));
  }
  const all = ownShapes.length * ownTones.length;
  for (const t of list) {
    if (out.has(t)) continue;
    let look = plain;
    for (let i = 0; i < all; i++) {
      const n = (hash(t) + i * 7) % all; // 7 and 36 have no common factor: every look is tried
      look = { shape: ownShapes[n % ownShapes.length]!, tone: ownTones[Math.floor(n / ownShapes.length)]! };
      if (!taken.has(key(look))) break;
    }
    out.set(t, look);
    taken.add(key(look));
  }
  return out;
}

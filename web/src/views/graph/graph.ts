// The graph as data: what is in it, what of it is shown. Pure, so that it can be
// proved; how it is drawn is draw.ts's.

export interface Node {
  node_id: string;
  path: string;
  type: string;
  title: string;
  tags?: string[];
  confidence: number | null;
  /** As the note itself says; many say nothing. */
  created?: string;
  modified?: string;
}

export interface Edge {
  edge_id: string;
  from_id: string;
  to_id: string;
  relationship_type: string;
  confidence: number | null;
  notes?: string;
}

export interface Data {
  nodes: Node[];
  edges: Edge[];
}

/** A Look is how a kind of relation is drawn: never by its colour alone. */
export interface Look {
  shape: 'arrow' | 'line' | 'wedge' | 'both';
  sign: string;
  tone: '--accent' | '--bad' | '--good' | '--ochre' | '--line-strong' | '--dim' | '--ink';
}

const looks: Record<string, Look> = {
  SUPPORTS: { shape: 'arrow', sign: '→', tone: '--good' },
  CONTRADICTS: { shape: 'both', sign: '⇄', tone: '--bad' },
  DERIVED_FROM: { shape: 'wedge', sign: '◁', tone: '--ochre' },
  PART_OF: { shape: 'wedge', sign: '⊂', tone: '--accent' },
  CITES: { shape: 'arrow', sign: '❝', tone: '--ochre' },
  CAUSES: { shape: 'arrow', sign: '⇒', tone: '--ink' },
  SIMILAR_TO: { shape: 'both', sign: '≈', tone: '--accent' },
  RELATES_TO: { shape: 'arrow', sign: '–', tone: '--accent' },
  LINKS_TO: { shape: 'line', sign: '·', tone: '--line-strong' },
};

/** lookOf is how a relation is drawn; words of the person's own have one look. */
export function lookOf(type: string): Look {
  return looks[type] ?? { shape: 'arrow', sign: '•', tone: '--dim' };
}

/** said is a relation in words. */
export function said(type: string): string {
  return type.toLowerCase().replaceAll('_', ' ');
}

export interface Filter {
  /** Kinds of relations that are shown; nothing is all. */
  kinds: ReadonlySet<string>;
  type: string;
  tag: string;
  words: string;
}

/** tagged reports whether a note has a tag, or one below it. */
function tagged(n: Node, tag: string): boolean {
  const t = tag.toLowerCase();
  return (n.tags ?? []).some((x) => x.toLowerCase() === t || x.toLowerCase().startsWith(t + '/'));
}

/** only is what a filter leaves. With kinds of relations, only notes that have one stay. */
export function only(d: Data, f: Filter): Data {
  if (f.kinds.size === 0 && !f.type && !f.tag && !f.words.trim()) return d;
  const words = f.words.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const hit = (n: Node): boolean => words.every((w) => `${n.title} ${n.path} ${n.node_id}`.toLowerCase().includes(w));
  let nodes = d.nodes.filter((n) => (!f.type || n.type === f.type) && (!f.tag || tagged(n, f.tag)));
  const fits = new Set(nodes.filter(hit).map((n) => n.node_id));
  const there = new Set(nodes.map((n) => n.node_id));
  // Words find a note and what it is related to.
  const edges = d.edges.filter((e) => (f.kinds.size === 0 || f.kinds.has(e.relationship_type)) && there.has(e.from_id) && there.has(e.to_id) && (words.length === 0 || fits.has(e.from_id) || fits.has(e.to_id)));
  const touched = new Set(edges.flatMap((e) => [e.from_id, e.to_id]));
  nodes = nodes.filter((n) => (f.kinds.size === 0 && fits.has(n.node_id)) || touched.has(n.node_id));
  return { nodes, edges };
}

/** dayOf is the day of a note, as a number that grows by one each day. */
export function dayOf(n: Node, by: 'created' | 'modified'): number {
  const t = Date.parse((by === 'created' ? n.created : undefined) ?? n.modified ?? '');
  return Number.isNaN(t) ? -Infinity : Math.floor(t / 86_400_000);
}

/** days are the first and the last day of a graph; without any, there is no time line. */
export function days(d: Data, by: 'created' | 'modified'): { first: number; last: number } | null {
  let [first, last] = [Infinity, -Infinity];
  for (const n of d.nodes) {
    const day = dayOf(n, by);
    if (day === -Infinity) continue;
    first = Math.min(first, day);
    last = Math.max(last, day);
  }
  return last > first ? { first, last } : null;
}

/** without is the graph that is left when some nodes are not shown. */
export function without(d: Data, hidden: ReadonlySet<string>): Data {
  if (!hidden.size) return d;
  return { nodes: d.nodes.filter((n) => !hidden.has(n.node_id)), edges: d.edges.filter((e) => !hidden.has(e.from_id) && !hidden.has(e.to_id)) };
}

/** around are the relations of one node: typed ones first, each with the node at its other end. */
export function around(d: Data, id: string): { key: string; type: string; back: boolean; node: Node }[] {
  const byId = new Map(d.nodes.map((n) => [n.node_id, n]));
  const out = [];
  for (const e of d.edges) {
    const back = e.to_id === id;
    if (!back && e.from_id !== id) continue;
    const node = byId.get(back ? e.from_id : e.to_id);
    if (node && node.node_id !== id) out.push({ key: `${e.edge_id}\n${e.relationship_type}\n${e.from_id}\n${e.to_id}`, type: e.relationship_type, back, node });
  }
  return out.sort((a, b) => Number(a.type === 'LINKS_TO') - Number(b.type === 'LINKS_TO') || a.node.title.localeCompare(b.node.title));
}

/** counts are how many there are of each, the most frequent first. */
export function counts(list: Iterable<string>): [string, number][] {
  const m = new Map<string, number>();
  for (const x of list) m.set(x, (m.get(x) ?? 0) + 1);
  return [...m].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
}

/** spiral are places to begin a layout at: the same for the same number of nodes. */
export function spiral(n: number): Float32Array {
  const out = new Float32Array(n * 2);
  for (let i = 0; i < n; i++) {
    const r = 10 * Math.sqrt(i + 1);
    const a = i * 2.399963229728653; // the golden angle
    out[2 * i] = r * Math.cos(a);
    out[2 * i + 1] = r * Math.sin(a);
  }
  return out;
}

/** tidy takes what stands twice, as when a note links to another in two places. */
export function tidy(d: Data): Data {
  const seen = new Set<string>();
  const once = (key: string): boolean => !seen.has(key) && !!seen.add(key);
  return { nodes: d.nodes.filter((n) => once(n.node_id)), edges: d.edges.filter((e) => once(`${e.relationship_type}\n${e.from_id}\n${e.to_id}\n${e.relationship_type === 'LINKS_TO' ? '' : e.edge_id}`)) };
}

// The picture of the graph. Places come from a worker; the page itself only draws.
import Graph from 'graphology';
import { EdgeArrowProgram, EdgeDoubleArrowProgram, EdgeTriangleProgram } from 'sigma/rendering';
import { plainOf } from '../../lib/hidden';
import layoutURL from './layout.worker.ts?worker&url';
import { startWorker } from '../../lib/worker';
import { lookOf, said, type Data } from './graph';
import { looksOf, plain, shapes } from './looks';
import { Shapes } from './shapes';
import { Lines, Sketch } from './sketch';
import type { Order, Placed } from './layout.worker';

// From here on arrows would be smaller than they can be seen: lines do.
const many = 1500;
// Up to here nobody gets lost in it.
const few = 40;

/** slices cut a long work: after some milliseconds a slice is full, and a rest lets the page do what waits. */
function slices(): { full: () => boolean; rest: () => Promise<void> } {
  let begun = performance.now();
  return {
    full: () => performance.now() - begun > 10,
    rest: () => new Promise((f) => setTimeout(() => f(void (begun = performance.now())), 0)),
  };
}

/** mix is a colour, so much of it, on another one; both as #rgb or #rrggbb. */
function mix(color: string, on: string, part: number): string {
  const [top, ground] = [color, on].map((c) => (/^#[0-9a-f]{3}$/i.test(c) ? c.replace(/[0-9a-f]/gi, '$&$&') : c)) as [string, string];
  if (![top, ground].every((c) => /^#[0-9a-f]{6}$/i.test(c))) return color;
  const at = (hex: string, i: number): number => parseInt(hex.slice(1 + 2 * i, 3 + 2 * i), 16);
  return '#' + [0, 1, 2].map((i) => Math.round(at(top, i) * part + at(ground, i) * (1 - part)).toString(16).padStart(2, '0')).join('');
}

/** picture makes one, or none where the browser has no WebGL. */
export function picture(box: HTMLElement, chosen: (id: string) => void): Picture | undefined {
  const gl = document.createElement('canvas').getContext('webgl');
  if (!gl) return undefined;
  gl.getExtension('WEBGL_lose_context')?.loseContext(); // browsers give only a few
  return new Picture(box, chosen);
}

export class Picture {
  #box: HTMLElement;
  #chosen: (id: string) => void;
  #sigma: Sketch | undefined;
  #graph = new Graph({ multi: true, type: 'directed' });
  #inks = { ink: '', ground: '', faint: '' };
  #resized: ResizeObserver; // the picture is as large as its box, also when a bar beside it grows
  #worker: Worker | undefined;
  #run = 0;
  #laid: { of: Data; places: Float32Array } | undefined; // in other colours it lies where it was
  #wanted = ''; // a node may be chosen before it is drawn
  #selected = '';
  #near = new Set<string>();
  #veiled: ReadonlySet<string> = new Set(); // nodes that are there, and not shown
  #calm = matchMedia('(prefers-reduced-motion: reduce)').matches;

  constructor(box: HTMLElement, chosen: (id: string) => void) {
    this.#box = box;
    this.#chosen = chosen;
    this.#resized = new ResizeObserver(() => this.#sigma?.scheduleRender());
    this.#resized.observe(box);
    this.#sigma = this.#make(); // once: what a picture needs of the machine is slow to get
  }

  #tone(name: string): string {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  /** show lays a graph out and draws it; it reports whether it was drawn, not overtaken. */
  async show(d: Data, centre: string): Promise<boolean> {
    const run = ++this.#run;
    const places = this.#laid?.of === d ? this.#laid.places : await this.#lay(d, run);
    if (run !== this.#run || !places) return false;
    this.#laid = { of: d, places };
    const g = new Graph({ multi: true, type: 'directed' });
    const tones = new Map<string, string>();
    const tone = (name: string): string => {
      if (!tones.has(name)) tones.set(name, this.#tone(name));
      return tones.get(name)!;
    };
    const faded = mix(this.#tone('--line-strong'), this.#tone('--surface'), 0.45);
    const looks = looksOf(d.nodes.map((n) => n.type));
    const large = d.nodes.length > many;
    const scale = large ? 0.45 : 1;
    const degree = new Map<string, number>();
    for (const e of d.edges) for (const id of [e.from_id, e.to_id]) degree.set(id, (degree.get(id) ?? 0) + 1);
    // In slices: nothing that the person does meanwhile waits.
    const slice = slices();
    for (let i = 0; i < d.nodes.length; i++) {
      const n = d.nodes[i]!;
      const look = looks.get(n.type) ?? plain;
      const size = scale * (Math.min(14, 4 + Math.sqrt(degree.get(n.node_id) ?? 0) * 1.6) + (n.node_id === centre ? 3 : 0));
      if (!g.hasNode(n.node_id)) g.addNode(n.node_id, { type: 'shape', shape: shapes.indexOf(look.shape), x: places[2 * i] ?? 0, y: places[2 * i + 1] ?? 0, label: plainOf(n.title), size, color: tone(look.tone) });
      if (slice.full()) await slice.rest();
    }
    for (const [i, e] of d.edges.entries()) {
      const look = lookOf(e.relationship_type);
      const typed = e.relationship_type !== 'LINKS_TO';
      // Plain links stand back behind the relationships that somebody stated.
      g.addEdgeWithKey(i, e.from_id, e.to_id, { type: large ? 'line' : look.shape, color: typed ? tone(look.tone) : faded, size: typed ? 1.2 + 3 * (e.confidence ?? 0.4) : 1, typed, label: plainOf(said(e.relationship_type)) });
      if (slice.full()) await slice.rest();
    }
    await slice.rest(); // drawing is a task of its own
    const s = this.#sigma;
    if (run !== this.#run || !s) return false;
    // Taken once, when all is there: taking part by part draws everything in every part.
    const color = this.#paint();
    const settings = { labelColor: { color }, edgeLabelColor: { color }, hideEdgesOnMove: large, hideLabelsOnMove: large };
    const had = this.#selected;
    if (g.order <= few && g.order !== this.#graph.order) this.zoom(0); // small enough to be seen whole
    this.#graph = g;
    this.#mark();
    s.take(g, settings);
    await slice.rest();
    if (this.#sigma !== s) return false; // closed meanwhile
    s.show();
    if (this.#selected !== had) this.#go();
    return run === this.#run;
  }

  #paint(): string {
    this.#inks = { ink: this.#tone('--ink'), ground: this.#tone('--surface'), faint: this.#tone('--line') };
    if (this.#sigma) this.#sigma.ground = this.#inks.ground;
    return this.#inks.ink;
  }

  #make(): Sketch {
    const font = getComputedStyle(document.body).fontFamily;
    const color = this.#paint();
    const s = new Sketch(this.#graph, this.#box, {
      allowInvalidContainer: true, labelColor: { color }, edgeLabelColor: { color }, labelFont: font, edgeLabelFont: font, labelSize: 13, edgeLabelSize: 11, minCameraRatio: 0.02, maxCameraRatio: 4,
      defaultEdgeType: 'line', nodeProgramClasses: { shape: Shapes },
      edgeProgramClasses: { line: Lines, arrow: EdgeArrowProgram, wedge: EdgeTriangleProgram, both: EdgeDoubleArrowProgram },
      defaultDrawNodeHover: (c, n, settings) => {
        const text = n.label ?? '';
        const { ink, ground } = this.#inks;
        c.font = `600 ${settings.labelSize}px ${settings.labelFont}`;
        const width = c.measureText(text).width;
        c.fillStyle = ground;
        c.strokeStyle = ink;
        c.beginPath();
        c.roundRect(n.x + n.size + 1, n.y - 11, width + 12, 22, 6);
        c.fill();
        c.stroke();
        c.beginPath();
        c.arc(n.x, n.y, n.size + 2, 0, 2 * Math.PI);
        c.stroke();
        c.fillStyle = ink;
        c.fillText(text, n.x + n.size + 7, n.y + 4);
      },
      nodeReducer: (id, a) => (this.#veiled.has(id) ? { ...a, hidden: true } : this.#selected && id !== this.#selected && !this.#near.has(id) ? { ...a, color: this.#inks.faint, label: '' } : id === this.#selected ? { ...a, highlighted: true } : a),
      edgeReducer: (id, a) => (this.#selected && !this.#graph.hasExtremity(id, this.#selected) ? { ...a, color: this.#inks.faint, label: '' } : a),
    });
    s.ground = this.#inks.ground;
    for (const over of ['enterNode', 'leaveNode'] as const) s.on(over, ({ node }) => {
      this.#box.dataset.over = over === 'enterNode' ? node : '';
      s.relabel();
    });
    const camera = s.getCamera();
    const tell = (): void => {
      const { x, y, ratio } = camera.getState();
      this.#box.dataset.view = `${x.toFixed(3)} ${y.toFixed(3)} ${ratio.toFixed(3)}`;
    };
    camera.on('updated', tell);
    tell();
    s.on('clickNode', ({ node }) => this.#chosen(node));
    s.on('clickStage', () => this.#chosen(''));
    return s;
  }

  #lay(d: Data, run: number): Promise<Float32Array | undefined> {
    this.#worker?.terminate();
    if (d.nodes.length === 0) return Promise.resolve(new Float32Array());
    const worker = (this.#worker = startWorker(layoutURL));
    const at = new Map(d.nodes.map((n, i) => [n.node_id, i]));
    const order: Order = { run, nodes: d.nodes.length, edges: new Uint32Array(d.edges.length * 2), weights: new Float32Array(d.edges.length) };
    d.edges.forEach((e, i) => {
      order.edges[2 * i] = at.get(e.from_id) ?? 0;
      order.edges[2 * i + 1] = at.get(e.to_id) ?? 0;
      order.weights[i] = e.relationship_type === 'LINKS_TO' ? 0.5 : 1;
    });
    return new Promise((f) => {
      worker.onmessage = (e: MessageEvent<Placed>) => {
        worker.terminate();
        f(e.data.places);
      };
      worker.onerror = () => f(undefined);
      worker.postMessage(order, [order.edges.buffer, order.weights.buffer]);
    });
  }

  /** veil hides nodes without moving the others. */
  veil(ids: ReadonlySet<string>): void {
    const changed = [...this.#veiled].filter((id) => !ids.has(id));
    for (const id of ids) if (!this.#veiled.has(id)) changed.push(id);
    this.#veiled = ids;
    if (changed.length) this.#sigma?.repaint(changed);
  }

  /** select shows a node and what it is related to, and moves there. */
  select(id: string): void {
    this.#wanted = id;
    this.#mark();
    this.#sigma?.repaint();
    this.#go();
  }

  #mark(): void {
    this.#selected = this.#graph.hasNode(this.#wanted) ? this.#wanted : '';
    this.#near = new Set(this.#selected ? this.#graph.neighbors(this.#selected) : []);
  }

  #go(): void {
    const at = this.#selected && this.#sigma?.getNodeDisplayData(this.#selected);
    if (!at || !this.#sigma) return;
    const camera = this.#sigma.getCamera();
    if (this.#graph.order <= few && camera.ratio >= 1) return; // all of it is seen
    const to = { x: at.x, y: at.y, ratio: Math.min(camera.ratio, 0.7) };
    if (this.#calm) camera.setState(to);
    else void camera.animate(to, { duration: 250 });
  }

  zoom(by: number): void {
    const c = this.#sigma?.getCamera();
    if (!c) return;
    if (by === 0) c.setState({ x: 0.5, y: 0.5, ratio: 1, angle: 0 });
    else c.setState({ ratio: Math.max(0.02, Math.min(4, c.ratio * by)) });
  }

  close(): void {
    this.#run++;
    this.#resized.disconnect();
    this.#worker?.terminate();
    this.#sigma?.kill();
    this.#sigma = undefined;
  }
}

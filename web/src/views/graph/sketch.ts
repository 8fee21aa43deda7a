// Sigma, doing less for each picture. Where no graphics card is, every layer that is
// touched is computed, copied and waited for.
import type Graph from 'graphology';
import Sigma from 'sigma';
import { EdgeLineProgram, type ProgramInfo } from 'sigma/rendering';
import type { Coordinates, RenderParams } from 'sigma/types';
import { Room, write, type Wanted } from './labels';

// What Sigma keeps to itself.
interface Own {
  webGLContexts: Record<'nodes' | 'edges', WebGLRenderingContext>;
  canvasContexts: Record<'labels' | 'edgeLabels', CanvasRenderingContext2D>;
  needToProcess: boolean;
  hoveredNode: string | null;
  highlightedNodes: Set<string>;
  getNodeAtPosition: (at: Coordinates) => string | null;
  renderHighlightedNodes: () => void;
  renderLabels: () => void;
  nodeDataCache: Record<string, Seen>;
  displayedNodeLabels: Set<string>;
}

/** Seen is a node as it is drawn. */
interface Seen extends Coordinates {
  size: number;
  label: string | null;
  hidden: boolean;
  highlighted: boolean;
}

// So much room one name has, and so many notes may be in sight while all relations are named.
const [perName, legible, crowd] = [11_000, 12, 150];
// A finger is not as exact as a pointer.
const reach = (): number => (matchMedia('(pointer: coarse)').matches ? 16 : 3);

export class Sketch extends Sigma {
  // Said only, not set: Sigma draws for the first time before a field of this class is there.
  declare private held: boolean | undefined;
  declare private named: number | undefined; // how much is drawn between the lines and the notes: names of relations, and halos
  #widths = new Map<string, number>();

  constructor(...args: ConstructorParameters<typeof Sigma>) {
    super(...args);
    const own = this as unknown as Own;
    // Sigma reads the colour of a second, unseen picture, and waits until that is drawn.
    own.getNodeAtPosition = (at) => this.nodeAt(at);
    own.renderLabels = () => this.#write();
    // What lies over the nodes is touched when something is there, or was.
    const draw = own.renderHighlightedNodes.bind(this);
    let had = false;
    own.renderHighlightedNodes = () => {
      const some = own.hoveredNode !== null || own.highlightedNodes.size > 0;
      if (some || had) draw();
      had = some;
    };
  }

  override createWebGLContext(...[id, options]: Parameters<Sigma['createWebGLContext']>): WebGLRenderingContext {
    return super.createWebGLContext(id, { ...options, picking: false, preserveDrawingBuffer: id === 'edges' });
  }

  /** nodeAt is the node at a place of the box; of many, the one whose middle is nearest. */
  nodeAt(at: Coordinates): string | null {
    const { x, y } = this.viewportToGraph(at);
    const [scale, size, near] = [this.getGraphToViewportRatio(), this.scaleSize(1), reach()];
    const seen = (this as unknown as Own).nodeDataCache;
    let found: string | null = null;
    let best = Infinity;
    this.getGraph().forEachNode((id, a) => {
      const far = scale * Math.hypot(a.x - x, a.y - y);
      if (far < best && far <= Math.max(size * a.size, near) && !seen[id]?.hidden) [best, found] = [far, id];
    });
    return found;
  }

  /** relabel writes the names again, of a picture that stays as it is. */
  relabel(): void {
    if (this.moves || !this.getGraph().order) return;
    const { canvasContexts: text } = this as unknown as Own;
    const { width, height } = this.getDimensions();
    text.labels.clearRect(0, 0, width, height);
    text.edgeLabels.clearRect(0, 0, width, height);
    this.#write();
  }

  #width(c: CanvasRenderingContext2D, text: string): number {
    let w = this.#widths.get(text);
    if (w === undefined) this.#widths.set(text, (w = c.measureText(text).width));
    return w;
  }

  /** write writes the names: the important notes first, then relations, none over another. */
  #write(): void {
    const own = this as unknown as Own;
    const c = own.canvasContexts.labels;
    const { width, height } = this.getDimensions();
    const { labelSize, labelFont, labelColor } = this.getSettings();
    c.font = `400 ${labelSize}px ${labelFont}`;
    const wanted: Wanted[] = [];
    const places = new Map<string, Coordinates>();
    const matrix = { matrix: (this as unknown as { matrix: Float32Array }).matrix };
    for (const [id, n] of Object.entries(own.nodeDataCache)) {
      if (n.hidden) continue;
      const { x, y } = this.framedGraphToViewport(n, matrix);
      if (x < 0 || y < 0 || x > width || y > height) continue;
      places.set(id, { x, y });
      if (n.label) wanted.push({ key: id, x, y, reach: this.scaleSize(n.size), width: 0, weight: n.size + (id === own.hoveredNode || n.highlighted ? 1000 : 0) });
    }
    const most = Math.ceil((width * height) / perName);
    wanted.sort((a, b) => b.weight - a.weight);
    wanted.length = Math.min(wanted.length, 6 * most); // what is less important has no room anyhow
    for (const w of wanted) w.width = this.#width(c, own.nodeDataCache[w.key]?.label ?? '');
    const room = new Room(width, height);
    // Where there is room, a name also leaves the other notes in sight.
    if (places.size <= crowd) for (const [id, { x, y }] of places) {
      const r = this.scaleSize(own.nodeDataCache[id]?.size ?? 0);
      room.take({ left: x - r, top: y - r, right: x + r, bottom: y + r });
    }
    const written = write(wanted, most, room);
    own.displayedNodeLabels = new Set(written.map((w) => w.key));
    c.fillStyle = labelColor.color ?? '#000';
    // The lines do not strike through the names: between both lies a halo.
    const under = own.canvasContexts.edgeLabels;
    under.font = c.font;
    [under.lineWidth, under.lineJoin, under.strokeStyle] = [4, 'round', this.ground];
    for (const w of written) {
      // What is under the pointer or chosen is written in its own frame.
      if (w.key === own.hoveredNode || own.nodeDataCache[w.key]?.highlighted) continue;
      const name = own.nodeDataCache[w.key]?.label ?? '';
      under.strokeText(name, w.left, w.bottom - 4);
      c.fillText(name, w.left, w.bottom - 4);
    }
    this.#name(places, room);
    this.named = (this.named ?? 0) + written.length;
    this.getContainer().dataset.names = String(written.length);
  }

  /** name writes what relations are: those of the node that is meant, and all when few notes are in sight. */
  #name(places: Map<string, Coordinates>, room: Room): void {
    const own = this as unknown as Own;
    const meant = new Set([...own.highlightedNodes, ...(own.hoveredNode ? [own.hoveredNode] : [])]);
    const g = this.getGraph();
    const seen: { id: string; key: string; at: Coordinates; meant: boolean }[] = [];
    const add = (id: string, label: string, a: string, b: string): void => {
      const [from, to] = [places.get(a), places.get(b)];
      if (from && to && label) seen.push({ id, key: label, at: { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 }, meant: meant.has(a) || meant.has(b) });
    };
    if (meant.size) for (const n of meant) g.forEachEdge(n, (id, a, from, to) => add(id, a.label, from, to));
    else if (places.size <= legible) for (const n of places.keys()) g.forEachOutEdge(n, (id, a, from, to) => a.typed && add(id, a.label, from, to));
    const c = own.canvasContexts.edgeLabels;
    const { edgeLabelSize, edgeLabelFont, edgeLabelColor } = this.getSettings();
    c.font = `400 ${edgeLabelSize}px ${edgeLabelFont}`;
    const words = new Map(seen.map((e) => [e.id, e.key]));
    const written = write(seen.map((e) => ({ key: e.id, ...e.at, reach: 0, width: this.#width(c, e.key) + 4, weight: 0, inside: true })), 60, room);
    [c.lineWidth, c.lineJoin, c.strokeStyle, c.fillStyle] = [4, 'round', this.ground, edgeLabelColor.color ?? '#000'];
    for (const w of written) {
      c.strokeText(words.get(w.key) ?? '', w.left + 2, w.bottom - 4);
      c.fillText(words.get(w.key) ?? '', w.left + 2, w.bottom - 4);
    }
    this.named = written.length;
    this.getContainer().dataset.relations = [...new Set(written.map((w) => words.get(w.key)))].sort().join(', ');
  }

  /** ground is the colour behind the picture. */
  declare ground: string;

  /** take reads a graph and how it is drawn; show draws it, as a task of its own. */
  take(g: Graph, settings: Parameters<Sigma['setSettings']>[0]): void {
    this.held = true;
    this.setGraph(g);
    this.setSettings(settings); // reads the graph
    this.held = false;
  }

  show(): void {
    if (this.unread) this.refresh({ partialGraph: {} });
  }

  private get unread(): boolean {
    return (this as unknown as Own).needToProcess;
  }

  /** repaint draws the graph where it is, in other colours: all of it, or what hangs on some nodes. */
  repaint(some?: string[]): void {
    const g = this.getGraph();
    const nodes = some?.filter((n) => g.hasNode(n)) ?? g.nodes();
    const edges = some ? [...new Set(nodes.flatMap((n) => g.edges(n)))] : g.edges();
    this.refresh(this.unread ? {} : { partialGraph: { nodes, edges }, skipIndexation: true });
  }

  override scheduleRender(): this {
    return this.held ? this : super.scheduleRender();
  }

  /** refresh without a word comes with a new graph, and after each drag: there is nothing to read again. */
  override refresh(opts?: Parameters<Sigma['refresh']>[0]): this {
    return opts ? super.refresh(opts) : this.scheduleRender();
  }

  /** moves is while Sigma draws less. */
  get moves(): boolean {
    const hand = this.getMouseCaptor();
    return this.getSetting('hideEdgesOnMove') && !!(this.getCamera().isAnimated() || hand.isMoving || hand.draggedEvents || hand.currentWheelDirection || this.getTouchCaptor().isMoving);
  }

  /** clear leaves alone what is empty, and what is not seen: while a large picture moves, all but the nodes. */
  override clear(): this {
    const { webGLContexts: gl, canvasContexts: text } = this as unknown as Own;
    if (!this.getGraph().order) return super.clear(); // and that is all Sigma does then
    const { moves } = this;
    for (const [id, c] of Object.entries(this.getCanvases())) c.style.opacity = moves && id !== 'nodes' ? '0' : '';
    for (const layer of moves ? [gl.nodes] : [gl.nodes, gl.edges]) layer.clear(layer.COLOR_BUFFER_BIT);
    const { width, height } = this.getDimensions();
    if (!moves && this.getNodeDisplayedLabels().size) text.labels.clearRect(0, 0, width, height);
    if (!moves && this.named) text.edgeLabels.clearRect(0, 0, width, height);
    return this;
  }
}

// So many lines are drawn at once; more take their turn, a part in every frame.
const part = 2500;

export class Lines extends EdgeLineProgram {
  #from = 0;
  #frame = 0;

  override render(params: RenderParams): void {
    cancelAnimationFrame(this.#frame);
    if (this.capacity <= part) super.render(params);
    else this.#later(params, -part); // the next frame has the nodes to show
  }

  #later(params: RenderParams, from: number): void {
    this.#frame = requestAnimationFrame(() => {
      if ((this.renderer as Sketch).moves) return; // all is drawn anew when it rests
      this.#from = from;
      if (from >= 0) super.render(params);
      if (from + part < this.capacity) this.#later(params, from + part);
    });
  }

  override drawWebGL(method: number, { gl }: ProgramInfo): void {
    gl.drawArrays(method, 2 * this.#from, 2 * Math.min(part, this.capacity - this.#from));
  }

  override kill(): void {
    cancelAnimationFrame(this.#frame);
    super.kill();
  }
}

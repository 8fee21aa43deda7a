// Sigma, doing less for each picture. Where no graphics card is, every layer that is
// touched is computed, copied and waited for.
import type Graph from 'graphology';
import Sigma from 'sigma';
import { EdgeLineProgram, type ProgramInfo } from 'sigma/rendering';
import type { Coordinates, RenderParams } from 'sigma/types';

// What Sigma keeps to itself.
interface Own {
  webGLContexts: Record<'nodes' | 'edges', WebGLRenderingContext>;
  canvasContexts: Record<'labels' | 'edgeLabels', CanvasRenderingContext2D>;
  needToProcess: boolean;
  hoveredNode: string | null;
  highlightedNodes: Set<string>;
  getNodeAtPosition: (at: Coordinates) => string | null;
  renderHighlightedNodes: () => void;
}

export class Sketch extends Sigma {
  // Said only, not set: Sigma draws for the first time before a field of this class is there.
  declare private held: boolean | undefined;

  constructor(...args: ConstructorParameters<typeof Sigma>) {
    super(...args);
    const own = this as unknown as Own;
    // Sigma reads the colour of a second, unseen picture, and waits until that is drawn.
    own.getNodeAtPosition = (at) => this.nodeAt(at);
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
    const [scale, size] = [this.getGraphToViewportRatio(), this.scaleSize(1)];
    let found: string | null = null;
    let best = Infinity;
    this.getGraph().forEachNode((id, a) => {
      const far = scale * Math.hypot(a.x - x, a.y - y);
      if (far < best && far <= size * a.size) [best, found] = [far, id];
    });
    return found;
  }

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

  /** repaint draws the graph where it is, in other colours. */
  repaint(): void {
    const g = this.getGraph();
    this.refresh(this.unread ? {} : { partialGraph: { nodes: g.nodes(), edges: g.edges() }, skipIndexation: true });
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
    return this.getSetting('hideEdgesOnMove') && !!(this.getCamera().isAnimated() || hand.isMoving || hand.draggedEvents || hand.currentWheelDirection);
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
    if (!moves && this.getEdgeDisplayedLabels().size) text.edgeLabels.clearRect(0, 0, width, height);
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

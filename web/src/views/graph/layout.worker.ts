// Where the nodes lie, computed beside the page: ForceAtlas2, always from the same
// beginning, so that a graph looks the same each time.
import iterate from 'graphology-layout-forceatlas2/iterate.js';
import { spiral } from './graph';

export interface Order {
  run: number;
  nodes: number;
  /** Pairs of indexes. */
  edges: Uint32Array;
  weights: Float32Array;
}
export interface Placed {
  run: number;
  places: Float32Array;
}

const [perNode, perEdge] = [10, 3];

function lay({ run, nodes, edges, weights }: Order): Placed {
  const places = spiral(nodes);
  const m = new Float32Array(nodes * perNode);
  for (let i = 0; i < nodes; i++) {
    const at = i * perNode;
    m[at] = places[2 * i] ?? 0;
    m[at + 1] = places[2 * i + 1] ?? 0;
    m[at + 6] = 1; // its mass: more with each edge
    m[at + 7] = 1;
    m[at + 8] = 1;
  }
  const e = new Float32Array(weights.length * perEdge);
  for (let i = 0; i < weights.length; i++) {
    const [a, b] = [(edges[2 * i] ?? 0) * perNode, (edges[2 * i + 1] ?? 0) * perNode];
    e.set([a, b, weights[i] ?? 1], i * perEdge);
    m[a + 6]! += weights[i] ?? 1;
    m[b + 6]! += weights[i] ?? 1;
  }
  const options = {
    linLogMode: false, outboundAttractionDistribution: false, adjustSizes: false, edgeWeightInfluence: 1, scalingRatio: 10, strongGravityMode: true, gravity: 0.05,
    slowDown: 1 + Math.log(nodes + 1), barnesHutOptimize: nodes > 400, barnesHutTheta: 1,
  };
  const times = nodes > 3000 ? 60 : nodes > 800 ? 120 : 300;
  for (let i = 0; i < times; i++) iterate(options, m, e);
  for (let i = 0; i < nodes; i++) {
    places[2 * i] = m[i * perNode] ?? 0;
    places[2 * i + 1] = m[i * perNode + 1] ?? 0;
  }
  return { run, places };
}

addEventListener('message', (e: MessageEvent<Order>) => {
  const out = lay(e.data);
  postMessage(out, { transfer: [out.places.buffer] });
});

// Nodes as shapes: one point each, whose outline is computed where it is painted.
import { NodeProgram, type ProgramInfo } from 'sigma/rendering';
import type { NodeDisplayData, RenderParams } from 'sigma/types';
import { floatColor } from 'sigma/utils';

const vertex = /*glsl*/ `
attribute vec4 a_id;
attribute vec4 a_color;
attribute vec2 a_position;
attribute float a_size;
attribute float a_shape;
uniform float u_sizeRatio;
uniform float u_pixelRatio;
uniform mat3 u_matrix;
varying vec4 v_color;
varying float v_edge;
varying float v_shape;
const float bias = 255.0 / 254.0;
void main() {
  gl_Position = vec4((u_matrix * vec3(a_position, 1)).xy, 0, 1);
  gl_PointSize = a_size / u_sizeRatio * u_pixelRatio * 2.3;
  v_edge = 2.0 / gl_PointSize;
  v_shape = a_shape;
  #ifdef PICKING_MODE
  v_color = a_id;
  #else
  v_color = a_color;
  #endif
  v_color.a *= bias;
}`;

// Each distance is below zero inside; a point reaches from -1 to 1, with y downwards.
const fragment = /*glsl*/ `
precision mediump float;
varying vec4 v_color;
varying float v_edge;
varying float v_shape;
void main() {
  vec2 p = (gl_PointCoord - 0.5) * 2.0;
  vec2 q = abs(p);
  float d;
  if (v_shape < 0.5) d = length(p) - 0.87;
  else if (v_shape < 1.5) d = max(q.x, q.y) - 0.76;
  else if (v_shape < 2.5) d = (q.x + q.y - 1.0) * 0.7071;
  else if (v_shape < 3.5) d = max(p.y - 0.72, q.x * 0.89 - (p.y + 0.98) * 0.45);
  else if (v_shape < 4.5) d = max(q.x * 0.866 + q.y * 0.5, q.y) - 0.84;
  else if (v_shape < 5.5) d = min(max(q.x - 0.95, q.y - 0.36), max(q.x - 0.36, q.y - 0.95));
  else d = max(-p.y - 0.72, q.x * 0.89 - (0.98 - p.y) * 0.45);
  gl_FragColor = mix(v_color, vec4(0.0), smoothstep(-v_edge, 0.0, d));
}`;

const uniforms = ['u_sizeRatio', 'u_pixelRatio', 'u_matrix'] as const;

export class Shapes extends NodeProgram<(typeof uniforms)[number]> {
  getDefinition() {
    const { FLOAT, UNSIGNED_BYTE, POINTS } = WebGLRenderingContext;
    return {
      VERTICES: 1, VERTEX_SHADER_SOURCE: vertex, FRAGMENT_SHADER_SOURCE: fragment, METHOD: POINTS as 0, UNIFORMS: uniforms,
      ATTRIBUTES: [
        { name: 'a_position', size: 2, type: FLOAT },
        { name: 'a_size', size: 1, type: FLOAT },
        { name: 'a_color', size: 4, type: UNSIGNED_BYTE, normalized: true },
        { name: 'a_id', size: 4, type: UNSIGNED_BYTE, normalized: true },
        { name: 'a_shape', size: 1, type: FLOAT },
      ],
    };
  }

  processVisibleItem(index: number, i: number, data: NodeDisplayData & { shape?: number }): void {
    this.array.set([data.x, data.y, data.size, floatColor(data.color), index, data.shape ?? 0], i);
  }

  setUniforms({ sizeRatio, pixelRatio, matrix }: RenderParams, { gl, uniformLocations: at }: ProgramInfo): void {
    gl.uniform1f(at.u_pixelRatio!, pixelRatio);
    gl.uniform1f(at.u_sizeRatio!, sizeRatio);
    gl.uniformMatrix3fv(at.u_matrix!, false, matrix);
  }
}

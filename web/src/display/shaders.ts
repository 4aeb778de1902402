// SPDX-License-Identifier: Apache-2.0
import { INVALID_COLOURS, STRIPE } from "./renderer";
import { LOG_STRENGTH, type Stretch } from "./stretch";

const colour = ([r, g, b]: readonly [number, number, number]) => `vec3(${r}.0, ${g}.0, ${b}.0) / 255.0`;

/** One triangle that covers the cell. */
export const VERTEX_SHADER = `#version 300 es
void main() {
  gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0);
}`;

/** What a fragment shader is made for: it holds nothing that this cell does not need, because a processor that stands in
 *  for a graphics processor walks through every branch. */
export interface Drawn {
  layers: number;
  smooth: boolean;
  stretch: Stretch;
}

const POSITIONS: Record<Stretch, string> = {
  linear: "s",
  log: `log(1.0 + ${LOG_STRENGTH}.0 * s) / log(${LOG_STRENGTH + 1}.0)`,
  power: "pow(s, gamma)",
};

const NEAREST = "return at(values, ivec2(floor(place)));";
const SMOOTH = `
  vec2 corner = floor(place - 0.5);
  vec2 part = place - 0.5 - corner;
  ivec2 c = ivec2(corner);
  float top = mix(at(values, c), at(values, c + ivec2(1, 0)), part.x);
  float bottom = mix(at(values, c + ivec2(0, 1)), at(values, c + ivec2(1, 1)), part.x);
  return mix(top, bottom, part.y);`;

/** The same as cpu_renderer.ts, per device pixel: sample, position in the map, colour. */
export function fragmentShader({ layers, smooth, stretch }: Drawn): string {
  const all = [...Array(layers).keys()];
  const components = ["x", "y", "z"];
  return `#version 300 es
precision highp float;
precision highp int;
precision highp sampler2D;
uniform sampler2D ${all.map((i) => `values${i}, colours${i}`).join(", ")};
uniform ivec2 size;       // columns, rows
uniform vec2 origin;      // screen place of the image's upper left corner
uniform vec2 scale;       // screen pixels of one data pixel
uniform float height;     // of the canvas
uniform vec3 low, span;
uniform float gamma;
out vec4 shown;

float at(sampler2D values, ivec2 place) {
  return texelFetch(values, clamp(place, ivec2(0), size - 1), 0).r;
}

float sampled(sampler2D values, vec2 place) {
  ${smooth ? SMOOTH : NEAREST}
}

// -1 where the value is no number. A flat range is shown in the middle of the map.
float position(float value, float low, float span) {
  float s = clamp((value - low) / span, 0.0, 1.0);
  float t = span > 0.0 ? ${POSITIONS[stretch]} : 0.5;
  return isnan(value) || isinf(value) ? -1.0 : t;
}

vec3 coloured(sampler2D colours, float t) {
  return texelFetch(colours, ivec2(int(floor(255.0 * max(t, 0.0) + 0.5)), 0), 0).rgb;
}

void main() {
  vec2 screen = vec2(gl_FragCoord.x, height - gl_FragCoord.y);
  vec2 place = (screen - origin) / scale;
  ${all.map((i) => `float t${i} = position(sampled(values${i}, place), low.${components[i]}, span.${components[i]});`).join("\n  ")}
  vec3 sum = ${all.map((i) => `coloured(colours${i}, t${i})`).join(" + ")};
  float least = ${all.map((i) => `t${i}`).reduce((a, b) => `min(${a}, ${b})`)};
  float stripe = mod(floor((screen.x + screen.y) / ${STRIPE}.0), 2.0);
  vec3 invalid = stripe < 1.0 ? ${colour(INVALID_COLOURS[0])} : ${colour(INVALID_COLOURS[1])};
  shown = vec4(least < 0.0 ? invalid : min(sum, 1.0), 1.0);
}`;
}

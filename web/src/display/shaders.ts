// SPDX-License-Identifier: Apache-2.0
import { INVALID_COLOURS, STRIPE } from "./renderer";
import { LOG_STRENGTH } from "./stretch";

const colour = ([r, g, b]: readonly [number, number, number]) => `vec3(${r}.0, ${g}.0, ${b}.0) / 255.0`;

/** One triangle that covers the cell. */
export const VERTEX_SHADER = `#version 300 es
void main() {
  gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0);
}`;

/** The same as cpu_renderer.ts, per device pixel: sample, position in the map, colour. */
export const FRAGMENT_SHADER = `#version 300 es
precision highp float;
precision highp int;
precision highp sampler2D;
uniform sampler2D values0, values1, values2, colours0, colours1, colours2;
uniform int count;        // layers
uniform ivec2 size;       // columns, rows
uniform vec2 origin;      // screen place of the image's upper left corner
uniform vec2 scale;       // screen pixels of one data pixel
uniform float height;     // of the canvas
uniform bool smoothly;
uniform vec3 low, span;
uniform int stretch;
uniform float gamma;
out vec4 shown;

float at(sampler2D values, ivec2 place) {
  return texelFetch(values, clamp(place, ivec2(0), size - 1), 0).r;
}

float sampled(sampler2D values, vec2 place) {
  if (!smoothly) return at(values, ivec2(floor(place)));
  vec2 corner = floor(place - 0.5);
  vec2 part = place - 0.5 - corner;
  ivec2 c = ivec2(corner);
  float top = mix(at(values, c), at(values, c + ivec2(1, 0)), part.x);
  float bottom = mix(at(values, c + ivec2(0, 1)), at(values, c + ivec2(1, 1)), part.x);
  return mix(top, bottom, part.y);
}

// -1 where the value is no number.
float position(float value, float low, float span) {
  if (isnan(value) || isinf(value)) return -1.0;
  float s = span > 0.0 ? clamp((value - low) / span, 0.0, 1.0) : 0.5;
  if (span <= 0.0) return s;
  if (stretch == 1) return log(1.0 + ${LOG_STRENGTH}.0 * s) / log(${LOG_STRENGTH + 1}.0);
  return stretch == 2 ? pow(s, gamma) : s;
}

vec3 coloured(sampler2D colours, float t) {
  return texelFetch(colours, ivec2(int(floor(255.0 * t + 0.5)), 0), 0).rgb;
}

void main() {
  vec2 screen = vec2(gl_FragCoord.x, height - gl_FragCoord.y);
  vec2 place = (screen - origin) / scale;
  if (any(lessThan(place, vec2(0))) || any(greaterThanEqual(place, vec2(size)))) discard;
  float t = position(sampled(values0, place), low.x, span.x);
  bool invalid = t < 0.0;
  vec3 sum = coloured(colours0, max(t, 0.0));
  if (count > 1) {
    float u = position(sampled(values1, place), low.y, span.y);
    invalid = invalid || u < 0.0;
    sum += coloured(colours1, max(u, 0.0));
  }
  if (count > 2) {
    float v = position(sampled(values2, place), low.z, span.z);
    invalid = invalid || v < 0.0;
    sum += coloured(colours2, max(v, 0.0));
  }
  if (invalid) {
    float stripe = mod(floor((screen.x + screen.y) / ${STRIPE}.0), 2.0);
    sum = stripe < 1.0 ? ${colour(INVALID_COLOURS[0])} : ${colour(INVALID_COLOURS[1])};
  }
  shown = vec4(min(sum, 1.0), 1.0);
}`;

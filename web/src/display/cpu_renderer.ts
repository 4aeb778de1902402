// SPDX-License-Identifier: Apache-2.0
import { INVALID_COLOURS, STRIPE, type Cell, type Layer, type Renderer } from "./renderer";
import { position } from "./stretch";

/** Anything that pixels can be written to; a canvas, or a test. */
export interface Pixels {
  width: number;
  height: number;
  data: Uint8ClampedArray;
}

function clamped(value: number, most: number): number {
  return value < 0 ? 0 : value > most ? most : value;
}

/** The value at a place in data pixels from the image's corner, as the shader takes it. */
export function sample({ values, rows, cols }: Layer, row: number, col: number, smooth: boolean): number {
  if (!smooth) return values[clamped(Math.floor(row), rows - 1) * cols + clamped(Math.floor(col), cols - 1)];
  const [r, c] = [Math.floor(row - 0.5), Math.floor(col - 0.5)];
  const [down, right] = [row - 0.5 - r, col - 0.5 - c];
  const [r0, r1] = [clamped(r, rows - 1) * cols, clamped(r + 1, rows - 1) * cols];
  const [c0, c1] = [clamped(c, cols - 1), clamped(c + 1, cols - 1)];
  const top = values[r0 + c0] * (1 - right) + values[r0 + c1] * right;
  const bottom = values[r1 + c0] * (1 - right) + values[r1 + c1] * right;
  return top * (1 - down) + bottom * down;
}

/** The layers' colours as 32-bit pixels, summed as light; 0 where a value is no number. Plain loops: this is the time
 *  that a frame takes. */
function mixed(layers: Layer[], count: number, valueOf: (layer: Layer, i: number) => number): Uint32Array {
  const sums = new Uint32Array(count);
  for (const [k, layer] of layers.entries()) {
    const { mapping } = layer;
    const colours = new Uint32Array(layer.colours.buffer, layer.colours.byteOffset, 256);
    for (let i = 0; i < count; ++i) {
      const t = position(valueOf(layer, i), mapping);
      const colour = t === t ? colours[Math.floor(255 * t + 0.5)] : 0;
      if (k === 0) sums[i] = colour;
      else sums[i] = colour === 0 || sums[i] === 0 ? 0 : added(sums[i], colour);
    }
  }
  return sums;
}

function added(a: number, b: number): number {
  const channel = (shift: number) => Math.min(255, ((a >>> shift) & 255) + ((b >>> shift) & 255));
  return packed(channel(0), channel(8), channel(16));
}

function packed(red: number, green: number, blue: number): number {
  return (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;
}

const STRIPES = INVALID_COLOURS.map(([red, green, blue]) => packed(red, green, blue));

/** Draws one cell into pixels; the same mapping as shaders.ts. */
export function drawCell({ layers, at, smooth }: Cell, pixels: Pixels): void {
  if (layers.length === 0) return;
  const shown = new Uint32Array(pixels.data.buffer, pixels.data.byteOffset, pixels.width * pixels.height);
  const left = Math.max(0, Math.round(at.box.x), Math.ceil(at.x - 0.5));
  const top = Math.max(0, Math.round(at.box.y), Math.ceil(at.y - 0.5));
  const right = Math.min(pixels.width, Math.round(at.box.x + at.box.width), Math.ceil(at.x + at.cols * at.scale - 0.5));
  const bottom = Math.min(pixels.height, Math.round(at.box.y + at.box.height), Math.ceil(at.y + at.rows * at.rowScale - 0.5));
  const width = Math.max(0, right - left);
  const colAt = (x: number) => (left + x + 0.5 - at.x) / at.scale;
  // Without interpolation a colour is worked out once per data pixel, and a line of the screen only gathers them.
  const ready = smooth ? null : mixed(layers, at.rows * at.cols, ({ values }, i) => values[i]);
  const cols = new Uint32Array(width);
  for (let x = 0; x < width; ++x) cols[x] = clamped(Math.floor(colAt(x)), at.cols - 1);
  for (let y = top; y < bottom; ++y) {
    const row = (y + 0.5 - at.y) / at.rowScale;
    const first = clamped(Math.floor(row), at.rows - 1) * at.cols;
    const line = ready ? null : mixed(layers, width, (layer, x) => sample(layer, row, colAt(x), true));
    const to = y * pixels.width + left;
    for (let x = 0; x < width; ++x) {
      const colour = ready ? ready[first + cols[x]] : line ? line[x] : 0;
      shown[to + x] = colour !== 0 ? colour : STRIPES[Math.floor((left + x + y + 1) / STRIPE) % 2];
    }
  }
}

/** For browsers without WebGL2, and for pictures that are made without a screen. */
export class CpuRenderer implements Renderer {
  readonly name = "Canvas2D";
  private context: CanvasRenderingContext2D;
  private pixels: ImageData | null = null;

  constructor(private readonly canvas: HTMLCanvasElement) {
    const context = canvas.getContext("2d", { alpha: false });
    if (!context) throw new Error("this browser draws neither with WebGL2 nor with Canvas2D");
    this.context = context;
  }

  draw(cells: Cell[], background: readonly [number, number, number]): void {
    const { width, height } = this.canvas;
    if (this.pixels?.width !== width || this.pixels.height !== height) this.pixels = this.context.createImageData(width, height);
    const ground = (255 << 24) | (background[2] << 16) | (background[1] << 8) | background[0];
    new Uint32Array(this.pixels.data.buffer).fill(ground);
    for (const cell of cells) drawCell(cell, this.pixels);
    this.context.putImageData(this.pixels, 0, 0);
  }
}

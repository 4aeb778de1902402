// SPDX-License-Identifier: Apache-2.0
import { covered, INVALID_COLOURS, STRIPE, type Cell, type Layer, type Renderer } from "./renderer";
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

/** The layers' colours as 32-bit pixels, summed as light; 0 where a value is no number. `lines` holds the values of each
 *  layer. Plain loops: this is the time that a frame takes. */
function mixed(layers: Layer[], lines: ArrayLike<number>[], count: number): Uint32Array {
  const sums = coloured(layers[0], lines[0], count);
  for (let k = 1; k < layers.length; ++k) {
    const more = coloured(layers[k], lines[k], count);
    for (let i = 0; i < count; ++i) sums[i] = sums[i] === 0 || more[i] === 0 ? 0 : added(sums[i], more[i]);
  }
  return sums;
}

function coloured({ mapping, colours }: Layer, values: ArrayLike<number>, count: number): Uint32Array {
  const table = new Uint32Array(colours.buffer, colours.byteOffset, 256);
  const result = new Uint32Array(count);
  const { low, high } = mapping;
  if (mapping.stretch !== "linear" || !(high > low)) {
    for (let i = 0; i < count; ++i) {
      const t = position(values[i], mapping);
      result[i] = t === t ? table[Math.floor(255 * t + 0.5)] : 0;
    }
    return result;
  }
  // `position` written out: the usual stretch is drawn at every step of a drag.
  const span = high - low;
  for (let i = 0; i < count; ++i) {
    const value = values[i];
    if (value - value !== 0) continue;
    const s = (value - low) / span;
    result[i] = table[(255 * (s < 0 ? 0 : s > 1 ? 1 : s) + 0.5) | 0];
  }
  return result;
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
  const { left, top, right, bottom } = covered(at, pixels);
  const width = Math.max(0, right - left);
  const colAt = (x: number) => (left + x + 0.5 - at.x) / at.scale;
  const rowAt = (y: number) => (y + 0.5 - at.y) / at.rowScale;
  const fill = (y: number, line: Uint32Array, first: number, cols: Uint32Array) => {
    const to = y * pixels.width + left;
    let whole = true;
    for (let x = 0; x < width; ++x) {
      const colour = line[first + cols[x]];
      if (colour !== 0) {
        shown[to + x] = colour;
        continue;
      }
      whole = false;
      shown[to + x] = STRIPES[Math.floor((left + x + y + 1) / STRIPE) % 2];
    }
    return whole;
  };
  if (smooth) {
    const each = Uint32Array.from({ length: width }, (_, x) => x);
    const lines = layers.map(() => new Float64Array(width));
    for (let y = top; y < bottom; ++y) {
      layers.forEach((layer, k) => {
        for (let x = 0; x < width; ++x) lines[k][x] = sample(layer, rowAt(y), colAt(x), true);
      });
      fill(y, mixed(layers, lines, width), 0, each);
    }
    return;
  }
  // Without interpolation a colour is worked out once per data pixel, a line of the screen only gathers them, and the
  // lines of the same row are copies.
  const ready = mixed(layers, layers.map(({ values }) => values), at.rows * at.cols);
  const cols = Uint32Array.from({ length: width }, (_, x) => clamped(Math.floor(colAt(x)), at.cols - 1));
  let before = -1;
  for (let y = top; y < bottom; ++y) {
    const row = clamped(Math.floor(rowAt(y)), at.rows - 1);
    const to = y * pixels.width + left;
    if (row === before) shown.copyWithin(to, to - pixels.width, to - pixels.width + width);
    // Stripes of invalid values run on from line to line.
    else before = fill(y, ready, row * at.cols, cols) ? row : -1;
  }
}

/** For browsers without WebGL2, and for pictures that are made without a screen. */
export class CpuRenderer implements Renderer {
  readonly name = "Canvas2D";
  private context: CanvasRenderingContext2D;
  private pixels: ImageData | null = null;
  /** Where cells were drawn, and on which ground. */
  private drawn = "";

  constructor(private readonly canvas: HTMLCanvasElement) {
    const context = canvas.getContext("2d", { alpha: false });
    if (!context) throw new Error("this browser draws neither with WebGL2 nor with Canvas2D");
    this.context = context;
  }

  draw(cells: Cell[], background: readonly [number, number, number]): void {
    const { width, height } = this.canvas;
    if (this.pixels?.width !== width || this.pixels.height !== height) {
      this.pixels = this.context.createImageData(width, height);
      this.drawn = "";
    }
    // Images that follow each other in the same places leave the ground between them as it is.
    const drawn = JSON.stringify([background, cells.map(({ at }) => covered(at, this.canvas))]);
    if (drawn !== this.drawn) new Uint32Array(this.pixels.data.buffer).fill(packed(...background));
    this.drawn = drawn;
    for (const cell of cells) drawCell(cell, this.pixels);
    this.context.putImageData(this.pixels, 0, 0);
  }
}

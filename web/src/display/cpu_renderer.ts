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

/** Index into the colour table for each value, 256 where there is none: once per value, not per screen pixel. */
function indices(layer: Layer): Uint16Array {
  const result = new Uint16Array(layer.values.length);
  for (let i = 0; i < result.length; ++i) {
    const t = position(layer.values[i], layer.mapping);
    result[i] = t === t ? Math.floor(255 * t + 0.5) : 256;
  }
  return result;
}

/** Draws one cell into pixels; the same mapping as shaders.ts. */
export function drawCell({ layers, at, smooth }: Cell, pixels: Pixels): void {
  if (layers.length === 0) return;
  const ready = smooth ? null : layers.map(indices);
  const left = Math.max(0, Math.round(at.box.x), Math.ceil(at.x - 0.5));
  const top = Math.max(0, Math.round(at.box.y), Math.ceil(at.y - 0.5));
  const right = Math.min(pixels.width, Math.round(at.box.x + at.box.width), Math.ceil(at.x + at.cols * at.scale - 0.5));
  const bottom = Math.min(pixels.height, Math.round(at.box.y + at.box.height), Math.ceil(at.y + at.rows * at.scale - 0.5));
  for (let y = top; y < bottom; ++y) {
    const row = (y + 0.5 - at.y) / at.scale;
    const line = clamped(Math.floor(row), at.rows - 1) * at.cols;
    for (let x = left; x < right; ++x) {
      const col = (x + 0.5 - at.x) / at.scale;
      let [red, green, blue, invalid] = [0, 0, 0, false];
      for (let i = 0; i < layers.length; ++i) {
        const index = ready ? ready[i][line + clamped(Math.floor(col), at.cols - 1)] : smoothIndex(layers[i], row, col);
        if (index > 255) {
          invalid = true;
          continue;
        }
        const { colours } = layers[i];
        red += colours[4 * index];
        green += colours[4 * index + 1];
        blue += colours[4 * index + 2];
      }
      if (invalid) [red, green, blue] = INVALID_COLOURS[Math.floor((x + y + 1) / STRIPE) % 2];
      const to = 4 * (y * pixels.width + x);
      pixels.data[to] = red;
      pixels.data[to + 1] = green;
      pixels.data[to + 2] = blue;
      pixels.data[to + 3] = 255;
    }
  }
}

function smoothIndex(layer: Layer, row: number, col: number): number {
  const t = position(sample(layer, row, col, true), layer.mapping);
  return t === t ? Math.floor(255 * t + 0.5) : 256;
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

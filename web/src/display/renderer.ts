// SPDX-License-Identifier: Apache-2.0
import type { ColourTable } from "./colour_maps";
import type { Mapping } from "./stretch";
import type { Placement } from "./viewport";

export interface Layer {
  values: Float32Array;
  rows: number;
  cols: number;
  mapping: Mapping;
  colours: ColourTable;
  /** Values are angles in rad: means of them are taken on the circle. */
  cyclic?: boolean;
}

/** One image, or up to three as the red, green and blue of one. All layers have the same size. */
export interface Cell {
  layers: Layer[];
  /** In device pixels. */
  at: Placement;
  smooth: boolean;
}

/** auto: WebGL2 where a graphics processor does the work. */
export type Drawing = "auto" | "webgl" | "canvas";

/** Draws cells on a canvas. Both implementations give the same colours, see renderer tests. */
export interface Renderer {
  readonly name: "WebGL2" | "Canvas2D";
  draw(cells: Cell[], background: readonly [number, number, number]): void;
}

/** The device pixels whose middle lies on the image, within its box and the canvas: left and top in, right and bottom out. */
export function covered(at: Placement, { width, height }: { width: number; height: number }) {
  return {
    left: Math.max(0, Math.round(at.box.x), Math.ceil(at.x - 0.5)),
    top: Math.max(0, Math.round(at.box.y), Math.ceil(at.y - 0.5)),
    right: Math.min(width, Math.round(at.box.x + at.box.width), Math.ceil(at.x + at.cols * at.scale - 0.5)),
    bottom: Math.min(height, Math.round(at.box.y + at.box.height), Math.ceil(at.y + at.rows * at.rowScale - 0.5)),
  };
}

/** Colours of the stripes that stand for a value that is no number; no map contains both. */
export const INVALID_COLOURS = [
  [120, 58, 74],
  [58, 40, 52],
] as const;
/** Width of a stripe in device pixels. */
export const STRIPE = 4;

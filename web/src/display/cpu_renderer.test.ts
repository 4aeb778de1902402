// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";

import { colourTable } from "./colour_maps";
import { drawCell, sample, type Pixels } from "./cpu_renderer";
import { INVALID_COLOURS, type Layer } from "./renderer";
import { place, WHOLE } from "./viewport";

function drawn(layers: Layer[], size: number, view = WHOLE, smooth = false): Pixels {
  const pixels = { width: size, height: size, data: new Uint8ClampedArray(4 * size * size) };
  const box = { x: 0, y: 0, width: size, height: size };
  drawCell({ layers, at: place(layers[0].rows, layers[0].cols, box, view), smooth }, pixels);
  return pixels;
}
const at = ({ data, width }: Pixels, x: number, y: number) => Array.from(data.slice(4 * (y * width + x), 4 * (y * width + x) + 3));
const gray = (values: number[], low = 0, high = 255): Layer => ({
  values: Float32Array.from(values),
  rows: 2,
  cols: 2,
  mapping: { low, high, stretch: "linear", gamma: 1 },
  colours: colourTable("gray"),
});

describe("drawCell", () => {
  it("shows every data pixel as a square of its colour", () => {
    const pixels = drawn([gray([0, 51, 102, 255])], 8);
    expect([at(pixels, 0, 0), at(pixels, 4, 3), at(pixels, 3, 4), at(pixels, 7, 7)]).toEqual([[0, 0, 0], [51, 51, 51], [102, 102, 102], [255, 255, 255]]);
  });
  it("hatches what is no number in two colours", () => {
    const pixels = drawn([gray([NaN, NaN, NaN, NaN])], 16);
    const seen = new Set(Array.from({ length: 16 }, (_, x) => at(pixels, x, 0).join()));
    expect(seen).toEqual(new Set(INVALID_COLOURS.map((colour) => colour.join())));
  });
  it("adds layers as light", () => {
    const channel = (index: number): Layer => ({ ...gray([255, 0, 0, 0]), colours: colourTable("gray").map((value, i) => (i % 4 === index ? value : 0)) });
    expect(at(drawn([channel(0), channel(2)], 4), 0, 0)).toEqual([255, 0, 255]);
  });
  it("shows the part that is zoomed to", () => {
    const pixels = drawn([gray([0, 51, 102, 255])], 4, { zoom: 2, row: 0.75, col: 0.75 });
    for (const [x, y] of [[0, 0], [3, 3]]) expect(at(pixels, x, y)).toEqual([255, 255, 255]);
  });
});

describe("sample", () => {
  it("interpolates between pixel centres and stays flat beyond the outermost", () => {
    const layer = gray([0, 100, 200, 300]);
    expect(sample(layer, 1, 1, true)).toBe(150);
    expect(sample(layer, 0.5, 1, true)).toBe(50);
    expect(sample(layer, 0.1, 0.1, true)).toBe(0);
  });
});

// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";

import { colourTable } from "./colour_maps";
import { areaMean, areaMeanAngle, fitted } from "./reduce";
import { place, WHOLE } from "./viewport";

const stripes = (rows: number, cols: number) => Float32Array.from({ length: rows * cols }, (_, i) => (i % cols) % 2);

describe("areaMean", () => {
  it("is the mean of whole blocks", () => {
    expect(Array.from(areaMean(Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8), 2, 4, 1, 2))).toEqual([3.5, 5.5]);
  });
  it("counts parts of pixels by their part", () => {
    // Three columns into two: one and a half each.
    expect(Array.from(areaMean(Float32Array.of(3, 6, 12), 1, 3, 1, 2))).toEqual([4, 10]);
    expect(Array.from(areaMean(Float32Array.of(3, 6, 12), 3, 1, 2, 1))).toEqual([4, 10]);
  });
  it("equals a sum over every overlap, for any sizes", () => {
    const [rows, cols, outRows, outCols] = [17, 23, 7, 9];
    const values = Float32Array.from({ length: rows * cols }, (_, i) => (i * 7919) % 101);
    const overlap = (a: number, size: number, b: number) => Math.max(0, Math.min((a + 1) * size, b + 1) - Math.max(a * size, b));
    const found = areaMean(values, rows, cols, outRows, outCols);
    for (let i = 0; i < outRows; ++i)
      for (let j = 0; j < outCols; ++j) {
        let sum = 0;
        for (let r = 0; r < rows; ++r)
          for (let c = 0; c < cols; ++c) sum += overlap(i, rows / outRows, r) * overlap(j, cols / outCols, c) * values[r * cols + c];
        // Rounding to 24 bits of values up to 101 is below 1e-5.
        expect(found[i * outCols + j]).toBeCloseTo((sum * outRows * outCols) / (rows * cols), 4);
      }
  });
  it("leaves out what is no number, unless there is nothing else", () => {
    expect(Array.from(areaMean(Float32Array.of(NaN, 4, NaN, NaN), 1, 4, 1, 2))).toEqual([4, NaN]);
  });
});

describe("fitted", () => {
  const cell = (rows: number, cols: number, width: number) => ({
    layers: [{ values: stripes(rows, cols), rows, cols, mapping: { low: 0, high: 1, stretch: "linear" as const, gamma: 1 }, colours: colourTable("gray") }],
    at: place(rows, cols, { x: 0, y: 0, width, height: width }, WHOLE),
    smooth: false,
  });
  it("shows fine stripes on a coarse screen as an even grey", () => {
    const { layers, at } = fitted(cell(300, 300, 100));
    expect([at.rows, at.cols, at.scale, at.rowScale]).toEqual([100, 100, 1, 1]);
    // Three stripes of which one or two are bright.
    for (const value of layers[0].values) expect(Math.abs(value - 0.5)).toBeLessThanOrEqual(1 / 6 + 1e-6);
  });
  it("covers the same place on the screen", () => {
    const before = cell(301, 299, 100);
    const { at } = fitted(before);
    expect(at.cols * at.scale).toBeCloseTo(before.at.cols * before.at.scale, 9);
    expect(at.rows * at.rowScale).toBeCloseTo(before.at.rows * before.at.rowScale, 9);
  });
  it("leaves an image alone that has room", () => {
    const before = cell(50, 50, 100);
    expect(fitted(before)).toBe(before);
  });
});

describe("areaMeanAngle", () => {
  it("is the direction between two, across pi as well", () => {
    const angles = Float32Array.from([3, -3, 0.25, 0.75]);
    const [seam, plain] = areaMeanAngle(angles, 1, 4, 1, 2);
    // 3 and -3 lie 0.28 apart on either side of pi.
    expect(Math.abs(seam)).toBeCloseTo(Math.PI, 6);
    expect(plain).toBeCloseTo(0.5, 6);
  });
});

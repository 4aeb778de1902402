// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";

import { bars, histogram, percentile, percentileRange } from "./histogram";
import { position, stretched, symmetricRange, valueAt, type Mapping } from "./stretch";
import { scaleBar, scaleBarLength } from "./scale_bar";
import { COLOUR_MAPS, colourTable } from "./colour_maps";

describe("position", () => {
  const mapping: Mapping = { low: 10, high: 30, stretch: "linear", gamma: 1 };

  it("is linear between the ends and stays within them", () => {
    expect([5, 10, 15, 30, 99].map((value) => position(value, mapping))).toEqual([0, 0, 0.25, 1, 1]);
  });
  it("is log(1 + 1000 s) / log(1001) with log", () => {
    expect(position(20, { ...mapping, stretch: "log" })).toBeCloseTo(Math.log(501) / Math.log(1001), 14);
  });
  it("is s to the power of gamma with power", () => {
    expect(position(15, { ...mapping, stretch: "power", gamma: 0.5 })).toBeCloseTo(0.5, 14);
  });
  it("is in the middle for a flat range, and nowhere for what is no number", () => {
    expect(position(3, { ...mapping, low: 3, high: 3 })).toBe(0.5);
    expect(position(NaN, mapping)).toBeNaN();
    expect(position(Infinity, mapping)).toBeNaN();
  });
  it.each(["linear", "log", "power"] as const)("is undone by valueAt (%s)", (stretch) => {
    const how: Mapping = { low: -2, high: 7, stretch, gamma: 0.3 };
    for (const value of [-1.9, 0, 3.3, 6.99]) expect(valueAt(position(value, how), how)).toBeCloseTo(value, 9);
  });
  it("maps both ends onto themselves for every stretch", () => {
    for (const stretch of ["linear", "log", "power"] as const)
      expect([stretched(0, { stretch, gamma: 2 }), stretched(1, { stretch, gamma: 2 })]).toEqual([0, 1]);
  });
});

describe("symmetricRange", () => {
  it("reaches as far to either side as the farther end", () => {
    expect(symmetricRange({ low: -3, high: 1 })).toEqual({ low: -3, high: 3 });
  });
});

describe("histogram", () => {
  it("gives every count up to 4095 a bin of its own", () => {
    const values = Float32Array.from({ length: 4096 }, (_, i) => i);
    expect(histogram(values).counts.every((count) => count === 1)).toBe(true);
  });
  it("leaves out what is not finite", () => {
    const of = histogram(new Float32Array([1, NaN, 3, Infinity, -Infinity]));
    expect([of.low, of.high, of.finite]).toEqual([1, 3, 2]);
  });
  it("finds percentiles as sorting does, within half a bin", () => {
    const values = Float32Array.from({ length: 10007 }, (_, i) => ((i * 7919) % 10007) ** 1.5);
    const sorted = Float32Array.from(values).sort();
    const of = histogram(values);
    const halfBin = (of.high - of.low) / 4095 / 2;
    for (const percent of [0, 0.5, 25, 50, 99.5, 100]) {
      const exact = sorted[Math.round((percent / 100) * (sorted.length - 1))];
      // 1e-6: float32 has 24 bits.
      expect(Math.abs(percentile(of, percent) - exact)).toBeLessThanOrEqual(halfBin * (1 + 1e-6) + 1e-6 * exact);
    }
  });
  it("ignores a single hot pixel by default percentiles", () => {
    const values = new Float32Array(10000).map((_, i) => i % 100);
    values[5] = 99;
    values[6] = 5000;
    const range = percentileRange(histogram(values), 0.5, 99.5);
    // A bin is 5000 / 4095 = 1.2 wide; the true percentiles are 0 and 99.
    expect(range.low).toBeCloseTo(0, 6);
    expect(Math.abs(range.high - 99)).toBeLessThan(0.62);
  });
  it("has a range even without values", () => {
    expect(percentileRange(histogram(new Float32Array([NaN])), 0.5, 99.5)).toEqual({ low: 0, high: 1 });
    expect(percentileRange(histogram(new Float32Array([7, 7])), 0.5, 99.5)).toEqual({ low: 7, high: 7 });
  });
  it("draws bars in the place of their values", () => {
    expect(Array.from(bars(histogram(new Float32Array([0, 0, 0, 10])), 3))).toEqual([1, 0, 0.5]);
  });
});

describe("scale bar", () => {
  it("is 1, 2 or 5 times a power of ten, at most what fits", () => {
    expect([0.9, 1, 1.9, 2, 4.99, 5, 9.9, 10, 0.03, 730].map(scaleBarLength)).toEqual([0.5, 1, 1, 2, 2, 5, 5, 10, 0.02, 500]);
  });
  it("has the length of its label on the screen", () => {
    expect(scaleBar({ perPixel: 0.25, unit: "nm" }, 3, 100)).toEqual({ pixels: 60, label: "5 nm" });
  });
  it.each([
    [0.001, "nm", "0.2 \u00c5"],
    [20, "nm", "500 nm"],
    [90, "nm", "2 \u00b5m"],
    [1.2, "mrad", "20 mrad"],
    [0.002, "1/nm", "0.05 1/nm"],
  ])("reads well (%d %s per pixel)", (perPixel, unit, label) => {
    expect(scaleBar({ perPixel, unit }, 1, 30)?.label).toBe(label);
  });
  it("is none without a calibration", () => {
    expect(scaleBar({ perPixel: 0, unit: "nm" }, 3, 100)).toBeNull();
  });
});

describe("colour maps", () => {
  it.each(COLOUR_MAPS)("%s has 256 opaque colours, reversed from the other end", (name) => {
    const table = colourTable(name);
    const reversed = colourTable(name, true);
    expect(table.length).toBe(1024);
    expect(Array.from(reversed.slice(0, 4))).toEqual(Array.from(table.slice(1020)));
    expect(table[3]).toBe(255);
  });
  it("begin and end as published", () => {
    // Viridis: (68, 1, 84) to (253, 231, 37), from the tables of its authors.
    expect(Array.from(colourTable("viridis").slice(0, 3))).toEqual([68, 1, 84]);
    expect(Array.from(colourTable("viridis").slice(1020, 1023))).toEqual([253, 231, 37]);
  });
  it("phase comes back to where it began", () => {
    const table = colourTable("phase");
    for (const i of [0, 1, 2]) expect(Math.abs(table[i] - table[1020 + i])).toBeLessThan(6);
  });
});

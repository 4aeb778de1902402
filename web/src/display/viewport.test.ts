// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";

import { axisNumber, formatNumber, frequencyText, radiusText, scanCoordinates, valueOf } from "./readout";
import { grid, panBy, place, toData, toScreen, WHOLE, zoomAbout } from "./viewport";
import { decodeFrame } from "../protocol/frame";
import { encodeFrame } from "../../test/encode_frame";

const box = { x: 10, y: 20, width: 400, height: 300 };

describe("placement", () => {
  it("fits the whole image into the box, in the middle", () => {
    const at = place(30, 60, box, WHOLE);
    expect(at.scale).toBeCloseTo(400 / 60, 12);
    expect(toScreen(at, 14.5, 29.5)).toEqual({ x: 210, y: 170 });
  });
  it("shows pixels that are higher than wide as such", () => {
    // 30 rows of twice the width of a column are as high as 60 columns are wide: the height of the box decides.
    const at = place(30, 60, box, WHOLE, 2);
    expect([at.scale, at.rowScale]).toEqual([5, 10]);
    expect(toScreen(at, 14.5, 29.5)).toEqual({ x: 210, y: 170 });
  });
  it.each([1, 0.3, 4])("goes to the screen and back, of pixels of aspect %d", (aspect) => {
    const at = place(31, 17, box, { zoom: 3, row: 0.4, col: 0.6 }, aspect);
    const { x, y } = toScreen(at, 5.25, 11.5);
    expect(toData(at, x, y).row).toBeCloseTo(5.25, 10);
    expect(toData(at, x, y).col).toBeCloseTo(11.5, 10);
  });
  it.each([1, 2])("keeps the place under the pointer while zooming, of pixels of aspect %d", (aspect) => {
    const view = { zoom: 2, row: 0.5, col: 0.5 };
    const before = toData(place(64, 64, box, view, aspect), 230, 150);
    const after = zoomAbout(view, place(64, 64, box, view, aspect), 230, 150, 1.5);
    const there = toData(place(64, 64, box, after, aspect), 230, 150);
    expect(there.row).toBeCloseTo(before.row, 9);
    expect(there.col).toBeCloseTo(before.col, 9);
  });
  it("never shows ground beyond the image's middle, nor a smaller one than whole", () => {
    const at = place(64, 64, box, WHOLE);
    expect(panBy(WHOLE, at, 500, 500)).toEqual(WHOLE);
    expect(zoomAbout(WHOLE, at, 15, 25, 0.1)).toEqual(WHOLE);
  });
});

describe("grid", () => {
  it.each([
    [1, 1, 1],
    [2, 2, 1],
    [4, 2, 2],
    [8, 4, 2],
  ])("shows %d square images in %d columns and %d lines of a wide box", (count, columns, lines) => {
    const boxes = grid({ x: 0, y: 0, width: 800, height: 420 }, count, 1, 4);
    expect(new Set(boxes.map(({ x }) => x)).size).toBe(columns);
    expect(new Set(boxes.map(({ y }) => y)).size).toBe(lines);
  });
});

describe("read-out", () => {
  it("shows every digit of a count", () => {
    expect(formatNumber(4294967295)).toBe("4\u2009294\u2009967\u2009295");
    expect(formatNumber(12345678901234567890n)).toBe("12\u2009345\u2009678\u2009901\u2009234\u2009567\u2009890");
    expect([formatNumber(0.1234567), formatNumber(NaN), formatNumber(-3)]).toEqual(["0.123457", "no value", "\u22123"]);
    expect([formatNumber(-0.25), formatNumber(-1.5e-7)]).toEqual(["\u22120.25", "\u22121.5000e-7"]);
  });
  it("gives neighbours on an axis different digits", () => {
    expect([123450, 123500].map((tick) => axisNumber(tick, 200))).toEqual(["123450", "123500"]);
    expect([-0.02, 0, 0.02].map((tick) => axisNumber(tick, 0.05))).toEqual(["\u22120.02", "0", "0.02"]);
  });
  it("takes the received number, beyond 2^53 too", () => {
    const exact = 2n ** 53n + 1n;
    const frame = decodeFrame(encodeFrame({ rows: 1, cols: 2, values: new BigUint64Array([exact, 5n]) }));
    expect([valueOf(frame, 0, 0), valueOf(frame, 0, 1), valueOf(frame, 1, 0)]).toEqual([exact, 5, undefined]);
  });
  it("gives calibrated places where the calibration is known", () => {
    expect(scanCoordinates(4, 10, [0.5, 0.25])).toBe("x 2.50\u2009nm, y 2.00\u2009nm");
    expect(scanCoordinates(4, 10, undefined)).toBe("");
    expect(radiusText(3, 4, { row: 0, col: 0 }, { perPixel: 2, unit: "mrad" })).toBe("r 10.0\u2009mrad");
    expect(radiusText(3, 4, { row: 0, col: 0 }, { perPixel: 0.02, unit: "1/\u00c5" })).toBe("r 0.100\u20091/\u00c5");
    expect(radiusText(3, 4, { row: 0, col: 0 }, null)).toBe("r 5.00\u2009px");
    expect(frequencyText(32, 42, 64, 64, [0.1, 0.1])).toBe("q 1.000\u20091/nm, d 1.000\u2009nm");
  });
});

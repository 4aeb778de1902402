// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";

import { linearMarks } from "../display/marks";
import type { Frame } from "../protocol/frame";
import { colourOfLabel, colourOfNumber } from "./colours_panel";
import { scaleOf, spansDecades } from "./curves_panel";
import { KINDS } from "./kinds";
import { mappingOf } from "./picture_panel";
import { axisTitle } from "./slices";

it("marks round values within the axis", () => {
  expect(linearMarks(-0.1, 6.2, 4)).toEqual([0, 2, 4, 6]);
  expect(linearMarks(3, 3, 4)).toEqual([]);
});

it("takes a logarithm only where it says more", () => {
  expect(spansDecades([1e-4, 1e-2, 1])).toBe(true);
  expect(spansDecades([1e-3, 1e-2, 1e-1])).toBe(true);
  expect(spansDecades([1, 2, 3])).toBe(false);
  expect(spansDecades([-1, 1, 1000])).toBe(false);
  expect(spansDecades([null, 1, 1000])).toBe(true);
});

it("puts equal factors of a logarithmic axis equally far apart", () => {
  const scale = scaleOf([1e-4, 1], true, 5);
  expect(scale?.marks).toEqual([0.0001, 0.001, 0.01, 0.1, 1]);
  const at = (value: number) => scale?.at(value) ?? NaN;
  expect(at(0.1) - at(0.01)).toBeCloseTo(at(1) - at(0.1), 12);
});

it("gives a constant some room", () => {
  const scale = scaleOf([2, 2], false, 5);
  expect(scale?.at(2)).toBeCloseTo(0.5, 12);
  expect(scaleOf([null], false, 5)).toBeNull();
});

const frame = (values: number[]) => ({ values: Float32Array.from(values) }) as unknown as Frame;
const part = (name: string) => ({ name, unit: "", channel: 0 });

it("shows numbers of both signs on both sides of zero, and phases that go around on a circle", () => {
  const signed = mappingOf(frame([-1, 0, 2]), part(""));
  expect(signed.colours).toBe("RdBu");
  expect(signed.mapping).toMatchObject({ low: -2, high: 2 });
  expect(mappingOf(frame([1, 2, 3]), part("")).colours).toBe("viridis");
  expect(mappingOf(frame([-3.1, 0, 3.1]), part("phase")).colours).toBe("phase");
  expect(mappingOf(frame([-0.1, 0, 0.3]), part("phase")).colours).toBe("gray");
});

it("gives pictures that belong together one range", () => {
  const [small, large] = [frame([-1, 0, 1]), frame([-3, 0, 5])];
  for (const one of [small, large]) expect(mappingOf(one, part(""), [small, large]).mapping).toMatchObject({ low: -5, high: 5 });
});

it("draws colours as they are, and what is white in a legend not at all", () => {
  expect(colourOfNumber(0x010203)).toBe(0xff030201);
  expect(colourOfNumber(0xffffff)).toBe(0xffffffff);
  expect(colourOfNumber(0xffffff, true)).toBe(0);
  expect(colourOfNumber(NaN)).toBe(0);
});

it("gives names that follow each other colours that differ, and 0 none", () => {
  expect(colourOfLabel(0)).toBe(0);
  const colours = Array.from({ length: 60 }, (_, i) => colourOfLabel(i + 1));
  expect(new Set(colours).size).toBe(60);
  const parts = (colour: number) => [colour & 255, (colour >> 8) & 255, (colour >> 16) & 255];
  for (let i = 1; i < 60; ++i) {
    const [one, next] = [parts(colours[i - 1]), parts(colours[i])];
    expect(Math.hypot(...one.map((part, k) => part - next[k]))).toBeGreaterThan(60);
  }
});

it("names an axis with its unit", () => {
  const axis = { name: "theta", unit: "rad", size: 3, first: 0, step: 1 };
  expect(axisTitle(axis)).toBe("theta (rad)");
  expect(axisTitle({ ...axis, unit: "" })).toBe("theta");
});

it("knows every kind of panel that the pages of reports and results have", () => {
  expect(Object.keys(KINDS)).toEqual(expect.arrayContaining(["chart", "curves", "facts", "picture", "table", "text"]));
});

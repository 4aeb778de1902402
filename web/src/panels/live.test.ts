// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";

import { logMarks } from "./error_curves";
import { shownRange } from "./frame_view";

it("leaves half a percent at either end out of the range", () => {
  const values = Float32Array.from({ length: 1001 }, (_, i) => i);
  values[500] = NaN;
  expect(shownRange(values)).toEqual([5, 995]);
});

it("has a range where nothing is a number", () => {
  expect(shownRange(new Float32Array([NaN, NaN]))).toEqual([0, 1]);
});

it("looks at a part of large images", () => {
  const [low, high] = shownRange(Float32Array.from({ length: 300000 }, (_, i) => i));
  // Every 73rd value: half a percent, and at most half a step beside it; less than a step is left over at the end.
  expect(Math.abs(low - 1500)).toBeLessThanOrEqual(37);
  expect(Math.abs(high - 298500)).toBeLessThanOrEqual(37 + 73);
});

it("marks 1, 2 and 5 of every decade", () => {
  expect(logMarks(0.04, 1.5)).toEqual([0.05, 0.1, 0.2, 0.5, 1]);
});

it("marks every figure of a part of a decade, and even steps of a small one", () => {
  expect(logMarks(0.11, 0.45)).toEqual([0.2, 0.3, 0.4]);
  expect(logMarks(0.0512, 0.0547)).toEqual([0.052, 0.053, 0.054]);
});

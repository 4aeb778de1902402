// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";

import { barTicks } from "./colour_bar";
import { position, type Mapping } from "./stretch";

const linear = (low: number, high: number): Mapping => ({ low, high, stretch: "linear", gamma: 1 });

it("ends with the ends of the range, and has round values between them", () => {
  expect(barTicks(linear(-3, 3))).toEqual([
    { at: 0, label: "\u22123" },
    { at: expect.closeTo(1 / 6, 9) as number, label: "\u22122" },
    { at: 0.5, label: "0" },
    { at: expect.closeTo(5 / 6, 9) as number, label: "2" },
    { at: 1, label: "3" },
  ]);
});
it("tells digits that differ", () => {
  expect(barTicks(linear(1.0161234, 1.0361234)).map(({ label }) => label)).toEqual(["1.0161", "1.02", "1.025", "1.03", "1.0361"]);
});
it("has powers of ten on a logarithmic scale, where their colours are", () => {
  const mapping: Mapping = { low: 0, high: 4000, stretch: "log", gamma: 1 };
  const ticks = barTicks(mapping);
  expect(ticks.map(({ label }) => label)).toEqual(["0", "10", "100", "1000", "4000"]);
  expect(ticks[1].at).toBeCloseTo(position(10, mapping), 12);
});
it("says the one value of a flat image", () => expect(barTicks(linear(7, 7))).toEqual([{ at: 0.5, label: "7" }]));
it("tells sums beyond ten million apart, and fractions below a thousandth", () => {
  expect(barTicks(linear(1e7, 1.02e7)).map(({ label }) => label)).toEqual(["1e+7", "1.005e+7", "1.01e+7", "1.015e+7", "1.02e+7"]);
  expect(barTicks(linear(-2e-7, 2e-7)).map(({ label }) => label)).toEqual(["\u22122e-7", "\u22121e-7", "0", "1e-7", "2e-7"]);
});

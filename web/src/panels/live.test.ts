// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";

import { bySeverity } from "./diagnoses";
import { logMarks } from "../display/marks";
import { shownRange } from "./frame_view";
import { arrowPath, movesInWords } from "./move_arrows";
import { howFar } from "./run_bar";
import { byTable, changeInWords, limitsInWords } from "./run_settings";

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

const MOVES = { arrows: [10, 20, 0, 0.5, 5, 5, 0, 0], longer: 10, one_of: 3, rms_px: 0.2512, largest_px: 1 };

it("draws arrows from where a position was, as much longer as it says", () => {
  // To the right: the head's strokes come from the left, one above and one below.
  expect(arrowPath(MOVES, 2)).toMatch(/^M20\.00 10\.00L25\.00 10\.00M23\.19 10\.85L25\.00 10\.00L23\.19 9\.15$/);
});

it("has no head that is longer than the arrow", () => {
  expect(arrowPath({ ...MOVES, longer: 2 }, 100)).toMatch(/^M20\.00 10\.00L21\.00 10\.00M20\.09 /);
});

it("says how much longer arrows are than the movement", () => {
  expect(movesInWords(MOVES)).toBe("arrows: how positions were moved, 10 times as long; one of 3 is shown; rms 0.251 px, largest 1 px");
  expect(movesInWords({ ...MOVES, longer: 1, one_of: 1 })).toBe("arrows: how positions were moved; rms 0.251 px, largest 1 px");
});

it("lists suspects first and unknown ones last, each in their order", () => {
  const of = (name: string, verdict: "good" | "suspect" | "unknown") => ({ name, verdict, threshold: 1 });
  const all = [of("a", "unknown"), of("b", "good"), of("c", "suspect"), of("d", "good"), of("e", "suspect")];
  expect(bySeverity(all).map(({ name }) => name)).toEqual(["c", "e", "b", "d", "a"]);
});

it("groups settings by the table that they stand in", () => {
  const of = (setting: string, kind: string) => ({ setting, of: kind, key: "", help: "", unit: "", min: null, max: null, optional: false, value: 1 });
  const all = [of("engine.0.step", "gd"), of("engine.0.g", "gd"), of("engine.1.step", "gd"), of("constraint.0.weight", "tv")];
  expect(byTable(all).map(({ table, of: kind, settings }) => [table, kind, settings.length])).toEqual([
    ["engine.0", "gd", 2],
    ["engine.1", "gd", 1],
    ["constraint.0", "tv", 1],
  ]);
});

it("says limits and changes in words", () => {
  expect(limitsInWords({ min: 0, max: 2, unit: "", optional: false })).toBe("0 to 2");
  expect(limitsInWords({ min: 0, max: null, unit: "A", optional: true })).toBe("at least 0 A, empty: none");
  expect(limitsInWords({ min: null, max: null, unit: "rad", optional: false })).toBe("rad");
  expect(changeInWords({ after: 12, setting: "engine.0.step", before: 0.5, now: 0.3 })).toBe("after 12: engine.0.step from 0.5 to 0.3");
  expect(changeInWords({ after: 3, setting: "constraint.0.phase_max", before: null, now: 1 })).toBe("after 3: constraint.0.phase_max from none to 1");
});

it("says how far work is, in steps or in what is counted", () => {
  expect(howFar({ done: 5, total: 20, note: "gd" }, "iteration")).toBe("iteration 5 of 20, gd");
  expect(howFar({ done: 5, total: 20, units: "points", note: "solving" }, "step")).toBe("solving: 5 of 20 points");
  expect(howFar({ done: 5, units: "grids" }, "step")).toBe("5 grids");
  expect(howFar({ note: "solving" }, "step")).toBe("solving");
});

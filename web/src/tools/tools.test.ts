// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";

import { maskRim, painted, runsOf, type Run } from "./brush";
import { carried, contains, converted, dragged, grip, grown, hollowed, middle, toParams, type Shape } from "./shapes";
import { withCorner } from "./shapes/polygon";
import { shortExpression } from "./short_expression";

const circle: Shape = { kind: "circle", row: 10, col: 20, r: 5 };
const ring: Shape = { kind: "annulus", row: 10, col: 20, rIn: 3, rOut: 8 };
const segment: Shape = { kind: "segment", row: 0, col: 0, rIn: 2, rOut: 6, k: 1, n: 4, phi0: 0 };
const rect: Shape = { kind: "rect", row0: 2, col0: 3, row1: 6, col1: 9 };
const polygon: Shape = { kind: "polygon", points: [[0, 0], [0, 10], [10, 10], [10, 0]] };
const area = (shape: Shape, size: number) => {
  let pixels = 0;
  for (let row = 0; row < size; ++row) for (let col = 0; col < size; ++col) pixels += contains(shape, row, col) ? 1 : 0;
  return pixels;
};

describe("contains", () => {
  it("counts a distance equal to the outer radius as outside, to the inner as inside", () => {
    expect([contains(circle, 10, 25), contains(circle, 10, 24)]).toEqual([false, true]);
    expect([contains(ring, 10, 23), contains(ring, 10, 22), contains(ring, 10, 28)]).toEqual([true, false, false]);
  });
  it("takes rows row0 <= row < row1 of a rectangle", () => {
    expect(area(rect, 20)).toBe(4 * 6);
  });
  it("splits a ring into segments that share no pixel, clockwise on the screen", () => {
    const pieces = [0, 1, 2, 3].map((k): Shape => ({ ...segment, row: 8, col: 8, k }));
    const whole = area({ kind: "annulus", row: 8, col: 8, rIn: 2, rOut: 6 }, 20);
    expect(pieces.reduce((sum, piece) => sum + area(piece, 20), 0)).toBe(whole);
    // Rows grow downwards: the first quarter after the x axis is below and right.
    expect(contains({ ...segment, k: 0 }, 3, 2)).toBe(true);
  });
  it("is even-odd for polygons", () => {
    const bowTie: Shape = { kind: "polygon", points: [[0, 0], [10, 10], [0, 10], [10, 0]] };
    // Its wings lie left and right of the crossing.
    expect([contains(bowTie, 2, 5), contains(bowTie, 5, 2), contains(bowTie, 5, 8)]).toEqual([false, true, true]);
    // Ten by ten; of the pixels on its four sides those on two belong to it.
    expect(area(polygon, 20)).toBe(100);
  });
});

describe("grip", () => {
  it("prefers the nearest handle to the body", () => {
    expect(grip(circle, 10, 24.5, 2)).toEqual({ handle: "outer" });
    expect(grip(circle, 10, 21, 2)).toBe("body");
    expect(grip(circle, 30, 30, 2)).toBeNull();
  });
  it("reaches a handle from outside the shape too", () => {
    expect(grip(ring, 10, 29.5, 2)).toEqual({ handle: "outer" });
    expect(grip(ring, 10, 17.5, 2)).toEqual({ handle: "inner" });
  });
});

describe("dragged", () => {
  it("puts the rim under the pointer", () => {
    expect(dragged(circle, "outer", 13, 24)).toMatchObject({ r: 5 });
    expect(dragged(ring, "inner", 10, 24)).toMatchObject({ rIn: 4, rOut: 8 });
  });
  it("keeps the inner radius below the outer one", () => {
    expect(dragged(ring, "inner", 10, 40)).toMatchObject({ rIn: 7.5 });
    expect(dragged(ring, "outer", 10, 20)).toMatchObject({ rOut: 3.5 });
  });
  it("makes a rectangle of whole pixels, which keeps its size by way of another shape", () => {
    const made = converted([20.3, 24.7], "rect", 9.2);
    expect(made).toEqual({ kind: "rect", row0: 11, col0: 16, row1: 30, col1: 35 });
    expect(converted(converted(made, "circle", 5), "rect", 5)).toEqual(made);
  });

  it("moves one corner of a rectangle and never turns it inside out", () => {
    expect(dragged(rect, "11", 7.5, 11.5)).toEqual({ ...rect, row1: 8, col1: 12 });
    expect(dragged(rect, "00", 50, 50)).toEqual({ ...rect, row0: 5, col0: 8 });
  });
  it("turns a segment about its centre", () => {
    const turned = dragged(segment, "turn", 0, -4);
    expect(turned.kind === "segment" && turned.phi0).toBeCloseTo(Math.PI / 2, 12);
  });
  it("carries the whole", () => {
    expect(middle(carried(polygon, [1, 1], [3, 6]))).toEqual([7, 10]);
  });
  it("adds a corner on the nearest side", () => {
    expect(withCorner([[0, 0], [0, 10], [10, 10]], 1, 5)).toEqual([[0, 0], [1, 5], [0, 10], [10, 10]]);
  });
});

describe("sizes", () => {
  it("grow and shrink, but never vanish", () => {
    expect(grown(circle, 2)).toMatchObject({ r: 7 });
    expect(grown(circle, -50)).toMatchObject({ r: 0.5 });
    expect(middle(grown(rect, 3))).toEqual(middle(rect));
  });
  it("get a hole by growing the inner radius", () => {
    expect(hollowed(circle, 1)).toEqual({ kind: "annulus", row: 10, col: 20, rIn: 1, rOut: 5 });
    expect(hollowed(ring, -50)).toMatchObject({ rIn: 0 });
  });
});

describe("toParams", () => {
  it("follows the protocol's order", () => {
    expect(toParams(segment)).toEqual([0, 0, 2, 6, 1, 4, 0]);
    expect(toParams({ kind: "polygon", points: [[1, 2], [3, 4], [5, 6]] })).toEqual([1, 2, 3, 4, 5, 6]);
    expect(toParams(rect)).toEqual([2, 3, 6, 9]);
  });
});

describe("brush", () => {
  const size = { rows: 5, cols: 5 };
  it("paints a round spot and wipes it out again", () => {
    const spot = painted([], size, [2, 2], [2, 2], 1, false);
    expect(spot).toEqual([[1, 2, 3], [2, 1, 4], [3, 2, 3]]);
    expect(painted(spot, size, [2, 2], [2, 2], 1, true)).toEqual([]);
  });
  it("paints along the way without gaps, within the detector", () => {
    expect(painted([], size, [0, -3], [0, 9], 0.5, false)).toEqual([[0, 0, 5]]);
  });
  it("splits rows into runs", () => {
    expect(runsOf([1, 1, 0, 1, 0, 0], 2, 3)).toEqual([[0, 0, 2], [1, 0, 1]]);
  });
});

describe("the rim of a mask", () => {
  const rim = (runs: Run[]) => maskRim(runs).map((loop) => loop.map((corner) => corner.join()).sort()).sort();
  it("of a rectangle of any rows is its four corners, with nothing between its rows", () => {
    const runs: Run[] = [[2, 3, 7], [3, 3, 7], [4, 3, 7]];
    expect(rim(runs)).toEqual([["1.5,2.5", "1.5,6.5", "4.5,2.5", "4.5,6.5"]]);
  });
  it("does not tell how a row is cut into runs", () => {
    expect(rim([[2, 3, 5], [2, 4, 7], [3, 6, 7], [3, 3, 6]])).toEqual(rim([[2, 3, 7], [3, 3, 7]]));
  });
  it("goes around a hole as well", () => {
    const loops = maskRim([[0, 0, 3], [1, 0, 1], [1, 2, 3], [2, 0, 3]]);
    expect(loops.map((loop) => loop.length)).toEqual([4, 4]);
  });
  it("has as many unit edges as pixels have neighbours that are not painted", () => {
    // A disc with a bite, and a pixel that touches it at a corner.
    const size = { rows: 24, cols: 24 };
    let runs = painted([], size, [11, 11], [11, 12], 7, false);
    runs = painted(runs, size, [11, 18], [11, 18], 3, true);
    const mask = (r: number, c: number) => runs.some(([row, c0, c1]) => row === r && c >= c0 && c < c1);
    let edges = 0;
    for (let r = 0; r < 24; ++r)
      for (let c = 0; c < 24; ++c)
        if (mask(r, c)) edges += [[r - 1, c], [r + 1, c], [r, c - 1], [r, c + 1]].filter(([y, x]) => !mask(y, x)).length;
    const length = maskRim(runs).reduce(
      (sum, loop) => sum + loop.reduce((part, [r, c], i) => part + Math.abs(r - loop[(i + 1) % loop.length][0]) + Math.abs(c - loop[(i + 1) % loop.length][1]), 0),
      0,
    );
    expect(length).toBe(edges);
  });
  it("of nothing is nothing", () => expect(maskRim([])).toEqual([]));
});

describe("an expression for people", () => {
  it.each([
    ["circle(31.499999999999996,31.00000000000004,9.5)", "circle(31.5,31,9.5)"],
    ["segment(1,2,3,4,0,4,-0.7853981633974483)", "segment(1,2,3,4,0,4,-0.785)"],
    ["annulus(auto,auto,1.5rho,3rho) & !rect(0,0,96,192)", "annulus(auto,auto,1.5rho,3rho) & !rect(0,0,96,192)"],
    ["file(mask_v1.23456.npy)", "file(mask_v1.23456.npy)"],
  ])("%s reads %s", (text, short) => expect(shortExpression(text)).toBe(short));
  it("is cut where it is longer than anybody reads", () => expect(shortExpression(`runs(${"1,2,3,".repeat(200)})`)).toHaveLength(400));
});

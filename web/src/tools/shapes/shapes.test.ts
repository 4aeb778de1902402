// SPDX-License-Identifier: Apache-2.0
/** What holds for every file of the table. Single shapes are in tools.test.ts. */
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

import { contains, converted, dragged, fromParams, grip, grown, handles, isEmpty, isPainted, isShape, middle, moved, numbersOf, outline, painted, SHAPE_KINDS, SHAPES, snapped, toolsOf, toParams, type Arc, type Pen, type Point, type Shape, type ShapeKind } from ".";

const SIZE = 48;
const CENTRE: Point = [20.3, 24.7];

/** One of each kind, with pixels inside, as a hand leaves it. */
function example(kind: ShapeKind): Shape {
  const shape = snapped(converted(CENTRE, kind, 9.2));
  return isPainted(shape) ? painted(shape, { size: { rows: SIZE, cols: SIZE }, from: CENTRE, to: [CENTRE[0], CENTRE[1] + 6], radius: 4, erase: false }) : shape;
}

const pixels = (holds: (row: number, col: number) => boolean) => Array.from({ length: SIZE * SIZE }, (_, i) => i).filter((i) => holds(Math.floor(i / SIZE), i % SIZE));
const numbers = (shape: Shape) => toParams(shape).flat() as number[];

/** Lines as corners, which the even-odd rule then says what is within. */
class CornerPen implements Pen {
  readonly loops: Point[][] = [];
  loop(corners: readonly Point[]): void {
    this.loops.push([...corners]);
  }
  arcs(...arcs: Arc[]): void {
    const steps = 2000;
    const along = ({ row, col, a, b = a, phi = 0, from = 0, to = 2 * Math.PI }: Arc) =>
      Array.from({ length: steps + 1 }, (_, i): Point => {
        const angle = from + ((to - from) * i) / steps;
        const [u, v] = [a * Math.cos(angle), b * Math.sin(angle)];
        return [row + u * Math.sin(phi) + v * Math.cos(phi), col + u * Math.cos(phi) - v * Math.sin(phi)];
      });
    this.loops.push(arcs.flatMap(along));
  }
  pixel([row, col]: Point): void {
    this.loop([[row - 0.5, col - 0.5], [row - 0.5, col + 0.5], [row + 0.5, col + 0.5], [row + 0.5, col - 0.5]]);
  }
  within(row: number, col: number): boolean {
    let inside = false;
    for (const loop of this.loops)
      loop.forEach(([r1, c1], i) => {
        const [r0, c0] = loop[(i + loop.length - 1) % loop.length];
        if (r0 > row !== r1 > row && col < c0 + ((c1 - c0) * (row - r0)) / (r1 - r0)) inside = !inside;
      });
    return inside;
  }
}

it("the folder has a file for every kind, and no other", () => {
  const beside = ["index.ts", "roles.ts", "tools.ts"];
  const files = readdirSync(fileURLToPath(new URL(".", import.meta.url))).filter((name) => !name.endsWith(".test.ts") && !beside.includes(name));
  expect(files.map((name) => name.replace(".ts", "")).sort()).toEqual([...SHAPE_KINDS].sort());
});

describe.each(SHAPE_KINDS)("%s", (kind) => {
  const tools = toolsOf({ kind });
  const shape = example(kind);

  it("has its own name in the table, words for people and an icon", () => {
    expect(SHAPES[kind].kind).toBe(kind);
    for (const words of [tools.name, tools.label]) expect(words).toMatch(/^\w[\w ,]+$/);
    expect(tools.icon).toMatch(/^M[\d.\- a-z]+$/i);
    const others = SHAPE_KINDS.filter((other) => other !== kind).map((other) => SHAPES[other]);
    expect(others.map(({ label }) => label)).not.toContain(tools.label);
    expect(others.map(({ icon }) => icon)).not.toContain(tools.icon);
  });

  it("keeps each argument in a field of its own, or all of them in a list", () => {
    const fields = tools.arguments.map(({ field }) => field);
    if (tools.list) expect(fields.every((field) => field === undefined)).toBe(true);
    else expect(Object.keys(shape).filter((name) => name !== "kind").sort()).toEqual([...fields].sort());
    expect(new Set(tools.arguments.map(({ role }) => role)).size).toBe(tools.arguments.length);
  });

  it("goes to the program's parameters and back", () => {
    const params = toParams(shape);
    expect(params.flat().every((value) => Number.isFinite(value))).toBe(true);
    expect(params.flat().length % tools.arguments.length).toBe(0);
    expect(fromParams(kind, params)).toEqual(shape);
  });

  it("is taken from a file as it was written, and refused when a number is damaged or absent", () => {
    const written = JSON.stringify(shape);
    expect(isShape(JSON.parse(written))).toBe(true);
    expect(isShape(JSON.parse(written.replace(/(?<=[:[])-?\d[\d.]*/, '"7"')))).toBe(false);
    expect(isShape({ kind })).toBe(false);
  });

  it("has pixels inside, which its line encloses", () => {
    const pen = new CornerPen();
    outline(shape, pen);
    const inside = pixels((row, col) => contains(shape, row, col));
    expect(inside.length).toBeGreaterThan(0);
    expect(inside).toEqual(pixels((row, col) => pen.within(row, col)));
  });

  it("moves as a whole", () => {
    const [row, col] = middle(shape);
    const next = moved(shape, 3, -5);
    expect(middle(next)[0]).toBeCloseTo(row + 3, 9);
    expect(middle(next)[1]).toBeCloseTo(col - 5, 9);
    for (let r = 0; r < SIZE; ++r) for (let c = 0; c < SIZE; ++c) if (contains(next, r + 3, c - 5) !== contains(shape, r, c)) expect.fail(`row ${r}, column ${c}`);
  });

  it("has every handle where it is taken, and stays when one is dragged to where it is", () => {
    for (const { id, at } of handles(shape)) {
      expect(grip(shape, ...at, 0.5)).toEqual({ handle: id });
      numbers(dragged(shape, id, ...at)).forEach((value, i) => expect(value).toBeCloseTo(numbers(shape)[i], 9));
    }
  });

  it("follows a handle that is dragged", () => {
    for (const { id, at } of handles(shape)) expect(numbers(dragged(shape, id, at[0] + 2, at[1] + 2))).not.toEqual(numbers(shape));
  });

  it("grows and shrinks by its outer size, if it has one, about its middle", () => {
    const before = tools.reach(shape);
    const larger = grown(shape, 2);
    expect(tools.reach(larger)).toBeCloseTo(before > 0 ? before + 2 : 0, 9);
    expect(middle(larger)[0]).toBeCloseTo(middle(shape)[0], 9);
    expect(pixels((row, col) => contains(grown(shape, -100), row, col)).length).toBeLessThanOrEqual(pixels((row, col) => contains(shape, row, col)).length);
  });

  it("shows its numbers in the order of the parameters", () => {
    expect(numbersOf(shape).map(({ value }) => value)).toEqual(tools.list ? [] : toParams(shape));
  });

  it("is taken by its middle, unless it is painted", () => {
    // The hole of a ring belongs to what can be taken; a piece of a ring is taken by the ring.
    expect(grip(shape, ...middle(shape), 0.5)).toBe(isPainted(shape) ? null : "body");
  });

  it("stays where it is on whole pixels", () => expect(snapped(snapped(shape))).toEqual(snapped(shape)));

  it.each(SHAPE_KINDS)("gives its place to %s", (other) => {
    const next = converted(shape, other, 5);
    expect(next.kind).toBe(other);
    if (isEmpty(next)) return;
    expect(Math.abs(middle(next)[0] - middle(shape)[0])).toBeLessThanOrEqual(0.5);
    expect(Math.abs(middle(next)[1] - middle(shape)[1])).toBeLessThanOrEqual(0.5);
  });
});

it("what is no shape is refused", () => {
  for (const value of [null, undefined, 3, "circle", {}, { kind: "disc" }, { kind: "toString" }, { kind: 3 }]) expect(isShape(value)).toBe(false);
});

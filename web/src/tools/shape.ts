// SPDX-License-Identifier: Apache-2.0
/** Detectors and scan regions as places, in pixels with centres at whole numbers. Names and membership are those of the
 *  program's detector expressions. */
export type Point = [row: number, col: number];

export type Shape =
  | { kind: "circle"; row: number; col: number; r: number }
  | { kind: "annulus"; row: number; col: number; rIn: number; rOut: number }
  | { kind: "rect"; row0: number; col0: number; row1: number; col1: number }
  | { kind: "polygon"; points: Point[] }
  | { kind: "point"; row: number; col: number }
  | { kind: "segment"; row: number; col: number; rIn: number; rOut: number; k: number; n: number; phi0: number }
  | { kind: "brush"; runs: [row: number, col0: number, col1: number][] };

export type ShapeKind = Shape["kind"];

/** Smallest radius or side that a hand can make. */
export const LEAST = 0.5;

/** What the command set_detector wants beside `shape`. */
export function toParams(shape: Shape): unknown[] {
  switch (shape.kind) {
    case "circle":
      return [shape.row, shape.col, shape.r];
    case "annulus":
      return [shape.row, shape.col, shape.rIn, shape.rOut];
    case "rect":
      return [shape.row0, shape.col0, shape.row1, shape.col1];
    case "polygon":
      return shape.points.flat();
    case "point":
      return [shape.row, shape.col];
    case "segment":
      return [shape.row, shape.col, shape.rIn, shape.rOut, shape.k, shape.n, shape.phi0];
    case "brush":
      return shape.runs;
  }
}

/** An expression for people to read: numbers with at most three digits after the point, long masks cut. What is computed
 *  and stored keeps all digits. */
export function shortExpression(text: string, longest = 400): string {
  const short = text.replace(/(?<![\w.])-?\d+\.\d+(?:e[+-]?\d+)?/gi, (number) => String(Number(Number(number).toFixed(3))));
  return short.length > longest ? `${short.slice(0, longest - 1)}\u2026` : short;
}

/** Whether a place belongs to the shape, by the program's rules: half-open distances, polygons even-odd. */
export function contains(shape: Shape, row: number, col: number): boolean {
  switch (shape.kind) {
    case "circle":
      return Math.hypot(row - shape.row, col - shape.col) < shape.r;
    case "annulus":
      return between(Math.hypot(row - shape.row, col - shape.col), shape.rIn, shape.rOut);
    case "rect":
      return between(row, shape.row0, shape.row1) && between(col, shape.col0, shape.col1);
    case "polygon":
      return insidePolygon(shape.points, row, col);
    case "point":
      return Math.round(shape.row) === Math.round(row) && Math.round(shape.col) === Math.round(col);
    case "segment": {
      if (!between(Math.hypot(row - shape.row, col - shape.col), shape.rIn, shape.rOut)) return false;
      const turn = (Math.atan2(row - shape.row, col - shape.col) - shape.phi0) / (2 * Math.PI);
      return Math.floor((turn - Math.floor(turn)) * shape.n) === shape.k;
    }
    case "brush":
      return shape.runs.some(([r, c0, c1]) => r === Math.round(row) && between(Math.round(col), c0, c1));
  }
}

function between(value: number, low: number, high: number): boolean {
  return value >= low && value < high;
}

function insidePolygon(points: Point[], row: number, col: number): boolean {
  let inside = false;
  for (let i = 0, j = points.length - 1; i < points.length; j = i++) {
    const [ri, ci] = points[i];
    const [rj, cj] = points[j];
    if (ri > row !== rj > row && col < ((cj - ci) * (row - ri)) / (rj - ri) + ci) inside = !inside;
  }
  return inside;
}

export function moved(shape: Shape, rows: number, cols: number): Shape {
  switch (shape.kind) {
    case "rect":
      return {
        kind: "rect",
        row0: shape.row0 + rows,
        col0: shape.col0 + cols,
        row1: shape.row1 + rows,
        col1: shape.col1 + cols,
      };
    case "polygon":
      return { kind: "polygon", points: shape.points.map(([row, col]) => [row + rows, col + cols]) };
    case "brush": {
      const [down, right] = [Math.round(rows), Math.round(cols)];
      return { kind: "brush", runs: shape.runs.map(([row, c0, c1]) => [row + down, c0 + right, c1 + right]) };
    }
    default:
      return { ...shape, row: shape.row + rows, col: shape.col + cols };
  }
}

/** The middle: what an arrow key or a drag of the body moves. */
export function middle(shape: Shape): Point {
  switch (shape.kind) {
    case "rect":
      // The last row and column are row1 - 1 and col1 - 1.
      return [(shape.row0 + shape.row1 - 1) / 2, (shape.col0 + shape.col1 - 1) / 2];
    case "polygon":
      return mean(shape.points);
    case "brush":
      return mean(shape.runs.map(([row, c0, c1]) => [row, (c0 + c1 - 1) / 2]));
    default:
      return [shape.row, shape.col];
  }
}

function rectAbout(row: number, col: number, height: number, width: number): Shape {
  const [row0, col0] = [row - (height - 1) / 2, col - (width - 1) / 2];
  return { kind: "rect", row0, col0, row1: row0 + height, col1: col0 + width };
}

function mean(points: Point[]): Point {
  const count = Math.max(1, points.length);
  return [points.reduce((sum, [row]) => sum + row, 0) / count, points.reduce((sum, [, col]) => sum + col, 0) / count];
}

/** Larger by `by` pixels of outer radius (or half a side); shapes without a size stay. */
export function grown(shape: Shape, by: number): Shape {
  switch (shape.kind) {
    case "circle":
      return { ...shape, r: Math.max(LEAST, shape.r + by) };
    case "annulus":
    case "segment":
      return { ...shape, rOut: Math.max(shape.rIn + LEAST, shape.rOut + by) };
    case "rect": {
      const height = Math.max(1, shape.row1 - shape.row0 + 2 * by);
      const width = Math.max(1, shape.col1 - shape.col0 + 2 * by);
      const [row, col] = middle(shape);
      return rectAbout(row, col, height, width);
    }
    case "polygon": {
      const [row, col] = middle(shape);
      const reach = Math.max(LEAST, ...shape.points.map(([r, c]) => Math.hypot(r - row, c - col)));
      const factor = Math.max(LEAST, reach + by) / reach;
      return {
        kind: "polygon",
        points: shape.points.map(([r, c]) => [row + (r - row) * factor, col + (c - col) * factor]),
      };
    }
    default:
      return shape;
  }
}

/** The inner radius by `by` pixels; a circle becomes an annulus when it gets a hole. */
export function hollowed(shape: Shape, by: number): Shape {
  if (shape.kind === "circle" && by > 0 && by <= shape.r - LEAST)
    return { kind: "annulus", row: shape.row, col: shape.col, rIn: by, rOut: shape.r };
  if (shape.kind !== "annulus" && shape.kind !== "segment") return shape;
  return { ...shape, rIn: Math.min(shape.rOut - LEAST, Math.max(0, shape.rIn + by)) };
}

/** The same place and about the same size as another kind of shape. */
export function converted(shape: Shape, kind: ShapeKind, size: number): Shape {
  if (shape.kind === kind) return shape;
  const [row, col] = middle(shape);
  const outer = outerRadius(shape) || size;
  const inner = shape.kind === "annulus" || shape.kind === "segment" ? shape.rIn : outer / 2;
  switch (kind) {
    case "circle":
      return { kind, row, col, r: outer };
    case "annulus":
      return { kind, row, col, rIn: inner, rOut: outer };
    case "segment":
      return { kind, row, col, rIn: inner, rOut: outer, k: 0, n: 4, phi0: -Math.PI / 4 };
    case "rect":
      return rectAbout(Math.round(row), Math.round(col), 2 * Math.round(outer), 2 * Math.round(outer));
    case "point":
      return { kind, row: Math.round(row), col: Math.round(col) };
    case "polygon": {
      const corner = (i: number): Point => [
        row - outer * Math.cos((i * Math.PI) / 3),
        col + outer * Math.sin((i * Math.PI) / 3),
      ];
      return { kind, points: [0, 1, 2, 3, 4, 5].map(corner) };
    }
    case "brush":
      return { kind, runs: [] };
  }
}

export function outerRadius(shape: Shape): number {
  switch (shape.kind) {
    case "circle":
      return shape.r;
    case "annulus":
    case "segment":
      return shape.rOut;
    case "rect":
      return Math.min(shape.row1 - shape.row0, shape.col1 - shape.col0) / 2;
    case "polygon": {
      const [row, col] = middle(shape);
      return Math.max(0, ...shape.points.map(([r, c]) => Math.hypot(r - row, c - col)));
    }
    default:
      return 0;
  }
}

// SPDX-License-Identifier: Apache-2.0
import { contains, LEAST, moved, type Point, type Shape } from "./shape";

/** A place that can be taken with a pointer to change a shape. */
export interface Handle {
  id: string;
  at: Point;
}

export type Grip = { handle: string } | "body" | null;

export function handles(shape: Shape): Handle[] {
  switch (shape.kind) {
    case "circle":
      return [{ id: "outer", at: [shape.row, shape.col + shape.r] }];
    case "annulus":
      return [
        { id: "outer", at: [shape.row, shape.col + shape.rOut] },
        { id: "inner", at: [shape.row, shape.col - shape.rIn] },
      ];
    case "segment": {
      const middleAngle = shape.phi0 + (2 * Math.PI * (shape.k + 0.5)) / shape.n;
      const on = (radius: number, angle: number): Point => [
        shape.row + radius * Math.sin(angle),
        shape.col + radius * Math.cos(angle),
      ];
      return [
        { id: "outer", at: on(shape.rOut, middleAngle) },
        { id: "inner", at: on(shape.rIn, middleAngle) },
        { id: "turn", at: on((shape.rIn + shape.rOut) / 2, shape.phi0 + (2 * Math.PI * shape.k) / shape.n) },
      ];
    }
    case "rect":
      return [
        { id: "00", at: [shape.row0, shape.col0] },
        { id: "01", at: [shape.row0, shape.col1] },
        { id: "10", at: [shape.row1, shape.col0] },
        { id: "11", at: [shape.row1, shape.col1] },
      ].map(({ id, at }) => ({ id, at: [at[0] - 0.5, at[1] - 0.5] }));
    case "polygon":
      return shape.points.map((at, i) => ({ id: `v${i}`, at }));
    default:
      return [];
  }
}

/** What lies under a place: the nearest handle within `reach` pixels, else the body, else nothing. */
export function grip(shape: Shape, row: number, col: number, reach: number): Grip {
  let best: Grip = null;
  let distance = reach;
  for (const { id, at } of handles(shape)) {
    const away = Math.hypot(at[0] - row, at[1] - col);
    if (away <= distance) {
      distance = away;
      best = { handle: id };
    }
  }
  if (best) return best;
  if (shape.kind === "brush") return null;
  // The hole of a ring and a point's surroundings are easier to take than their pixels alone.
  if (shape.kind === "annulus" || shape.kind === "segment")
    return Math.hypot(row - shape.row, col - shape.col) < shape.rOut + reach / 4 ? "body" : null;
  if (shape.kind === "point") return Math.hypot(row - shape.row, col - shape.col) <= reach ? "body" : null;
  return contains(shape, row, col) ? "body" : null;
}

/** The shape after its handle was dragged to a place. */
export function dragged(shape: Shape, handle: string, row: number, col: number): Shape {
  switch (shape.kind) {
    case "circle":
      return { ...shape, r: Math.max(LEAST, Math.hypot(row - shape.row, col - shape.col)) };
    case "annulus":
    case "segment": {
      const radius = Math.hypot(row - shape.row, col - shape.col);
      if (handle === "outer") return { ...shape, rOut: Math.max(shape.rIn + LEAST, radius) };
      if (handle === "inner") return { ...shape, rIn: Math.min(shape.rOut - LEAST, Math.max(0, radius)) };
      if (shape.kind === "annulus") return shape;
      const angle = Math.atan2(row - shape.row, col - shape.col);
      return { ...shape, phi0: angle - (2 * Math.PI * shape.k) / shape.n };
    }
    case "rect": {
      // Edges lie between pixels, half a pixel off their centres.
      const [r, c] = [Math.round(row + 0.5), Math.round(col + 0.5)];
      const next = { ...shape };
      if (handle[0] === "0") next.row0 = Math.min(r, shape.row1 - 1);
      else next.row1 = Math.max(r, shape.row0 + 1);
      if (handle[1] === "0") next.col0 = Math.min(c, shape.col1 - 1);
      else next.col1 = Math.max(c, shape.col0 + 1);
      return next;
    }
    case "polygon": {
      const index = Number(handle.slice(1));
      return { kind: "polygon", points: shape.points.map((point, i) => (i === index ? [row, col] : point)) };
    }
    default:
      return shape;
  }
}

/** The shape with its middle, as it was when taken, following the hand. */
export function carried(shape: Shape, from: Point, to: Point): Shape {
  return moved(shape, to[0] - from[0], to[1] - from[1]);
}

/** A polygon with another corner in the middle of its side nearest to a place. */
export function withCorner(points: Point[], row: number, col: number): Point[] {
  let side = 0;
  let distance = Infinity;
  for (let i = 0; i < points.length; ++i) {
    const [r0, c0] = points[i];
    const [r1, c1] = points[(i + 1) % points.length];
    const length = (r1 - r0) ** 2 + (c1 - c0) ** 2;
    const t = length > 0 ? Math.min(1, Math.max(0, ((row - r0) * (r1 - r0) + (col - c0) * (c1 - c0)) / length)) : 0;
    const away = Math.hypot(row - r0 - t * (r1 - r0), col - c0 - t * (c1 - c0));
    if (away < distance) {
      distance = away;
      side = i;
    }
  }
  return [...points.slice(0, side + 1), [row, col], ...points.slice(side + 1)];
}

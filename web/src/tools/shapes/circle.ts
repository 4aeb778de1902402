// SPDX-License-Identifier: Apache-2.0
import type { Annulus } from "./annulus";
import { besideCircle, LEAST, type ShapeTools } from "./tools";

export interface Circle {
  kind: "circle";
  row: number;
  col: number;
  r: number;
}

export const circle: ShapeTools<Circle, Circle | Annulus> = {
  kind: "circle",
  name: "circle",
  label: "Circle",
  icon: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2z",
  region: true,
  arguments: [
    { name: "row", role: "centre_row", field: "row" },
    { name: "col", role: "centre_col", field: "col" },
    { name: "r", role: "radius", field: "r" },
  ],
  drawn: ({ row, col, outer }) => ({ kind: "circle", row, col, r: outer }),
  contains: (shape, row, col) => Math.hypot(row - shape.row, col - shape.col) < shape.r,
  handles: ({ row, col, r }) => [{ id: "outer", at: [row, col + r] }],
  dragged: (shape, _, row, col) => ({ ...shape, r: Math.max(LEAST, Math.hypot(row - shape.row, col - shape.col)) }),
  grown: (shape, by) => ({ ...shape, r: Math.max(LEAST, shape.r + by) }),
  reach: ({ r }) => r,
  outline: ({ row, col, r }, pen) => pen.arcs({ row, col, a: r }),
  labelAt: ({ row, col, r }) => besideCircle(row, col, r),
  /** With a hole it is an annulus. */
  hollowed: (shape, by) => (by > 0 && by <= shape.r - LEAST ? { kind: "annulus", row: shape.row, col: shape.col, rIn: by, rOut: shape.r } : shape),
};

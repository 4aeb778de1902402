// SPDX-License-Identifier: Apache-2.0
import type { ShapeTools } from "./tools";

/** The pixel that holds a place. */
export interface PointShape {
  kind: "point";
  row: number;
  col: number;
}

export const point: ShapeTools<PointShape> = {
  kind: "point",
  name: "point",
  label: "Point",
  icon: "M8 2v4M8 10v4M2 8h4M10 8h4M7 7h2v2H7z",
  region: false,
  arguments: [
    { name: "row", role: "centre_row", field: "row" },
    { name: "col", role: "centre_col", field: "col" },
  ],
  drawn: ({ row, col }) => ({ kind: "point", row: Math.round(row), col: Math.round(col) }),
  contains: (shape, row, col) => Math.round(shape.row) === Math.round(row) && Math.round(shape.col) === Math.round(col),
  /** Its surroundings are taken too: they are easier than the pixel alone. */
  held: (shape, row, col, reach) => Math.hypot(row - shape.row, col - shape.col) <= reach,
  handles: () => [],
  dragged: (shape) => shape,
  grown: (shape) => shape,
  reach: () => 0,
  snapped: (shape) => ({ ...shape, row: Math.round(shape.row), col: Math.round(shape.col) }),
  outline: ({ row, col }, pen) => pen.pixel([Math.round(row), Math.round(col)]),
  labelAt: ({ row, col }) => [row, col],
};

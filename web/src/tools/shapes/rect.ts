// SPDX-License-Identifier: Apache-2.0
import { between, type Point, type ShapeTools } from "./tools";

/** Rows row0 <= row < row1, columns col0 <= col < col1: its edges are between pixels, half a pixel off their centres. */
export interface Rect {
  kind: "rect";
  row0: number;
  col0: number;
  row1: number;
  col1: number;
}

/** The last row and column are row1 - 1 and col1 - 1. */
const middle = ({ row0, col0, row1, col1 }: Rect): Point => [(row0 + row1 - 1) / 2, (col0 + col1 - 1) / 2];

function about(row: number, col: number, height: number, width: number): Rect {
  const [row0, col0] = [row - (height - 1) / 2, col - (width - 1) / 2];
  return { kind: "rect", row0, col0, row1: row0 + height, col1: col0 + width };
}

/** The one that has these pixels as opposite corners. */
export function rectBetween(from: Point, to: Point): Rect {
  const [rows, cols] = [0, 1].map((axis) => [Math.round(from[axis]), Math.round(to[axis])]);
  return { kind: "rect", row0: Math.min(...rows), col0: Math.min(...cols), row1: Math.max(...rows) + 1, col1: Math.max(...cols) + 1 };
}

export const rect: ShapeTools<Rect> = {
  kind: "rect",
  name: "rectangle",
  label: "Rectangle",
  icon: "M2 3.5h12v9H2z",
  region: true,
  arguments: [
    { name: "row0", role: "first_row", field: "row0" },
    { name: "col0", role: "first_col", field: "col0" },
    { name: "row1", role: "end_row", field: "row1" },
    { name: "col1", role: "end_col", field: "col1" },
  ],
  // An odd number of pixels, so that one is in the middle and the edges are between pixels.
  drawn({ row, col, outer }) {
    const side = 2 * Math.floor(outer) + 1;
    return about(Math.round(row), Math.round(col), side, side);
  },
  contains: ({ row0, col0, row1, col1 }, row, col) => between(row, row0, row1) && between(col, col0, col1),
  handles: ({ row0, col0, row1, col1 }) => [
    { id: "00", at: [row0 - 0.5, col0 - 0.5] },
    { id: "01", at: [row0 - 0.5, col1 - 0.5] },
    { id: "10", at: [row1 - 0.5, col0 - 0.5] },
    { id: "11", at: [row1 - 0.5, col1 - 0.5] },
  ],
  dragged(shape, handle, row, col) {
    const [r, c] = [Math.round(row + 0.5), Math.round(col + 0.5)];
    const next = { ...shape };
    if (handle[0] === "0") next.row0 = Math.min(r, shape.row1 - 1);
    else next.row1 = Math.max(r, shape.row0 + 1);
    if (handle[1] === "0") next.col0 = Math.min(c, shape.col1 - 1);
    else next.col1 = Math.max(c, shape.col0 + 1);
    return next;
  },
  grown(shape, by) {
    const height = Math.max(1, shape.row1 - shape.row0 + 2 * by);
    const width = Math.max(1, shape.col1 - shape.col0 + 2 * by);
    return about(...middle(shape), height, width);
  },
  reach: ({ row0, col0, row1, col1 }) => Math.min(row1 - row0, col1 - col0) / 2,
  middle,
  snapped({ row0, col0, row1, col1 }) {
    const [row, col] = [Math.round(row0), Math.round(col0)];
    return { kind: "rect", row0: row, col0: col, row1: row + Math.round(row1 - row0), col1: col + Math.round(col1 - col0) };
  },
  outline({ row0, col0, row1, col1 }, pen) {
    const [top, left, bottom, right] = [row0 - 0.5, col0 - 0.5, row1 - 0.5, col1 - 0.5];
    pen.loop([[top, left], [top, right], [bottom, right], [bottom, left]]);
  },
  labelAt: ({ row0, col1 }) => [row0 - 0.5, col1 - 0.5],
};

// SPDX-License-Identifier: Apache-2.0
import { LEAST, type Point, type ShapeTools } from "./tools";

/** Semi-axis a in the direction phi, clockwise on the screen from the columns, and b across it. */
export interface Ellipse {
  kind: "ellipse";
  row: number;
  col: number;
  a: number;
  b: number;
  phi: number;
}

/** A place by its distances from the centre along the two axes. */
function onAxes({ row, col, phi }: Ellipse, r: number, c: number): [along: number, across: number] {
  const [cos, sin] = [Math.cos(phi), Math.sin(phi)];
  return [(c - col) * cos + (r - row) * sin, (r - row) * cos - (c - col) * sin];
}

export const ellipse: ShapeTools<Ellipse> = {
  kind: "ellipse",
  name: "ellipse",
  label: "Ellipse",
  icon: "M1.500 8a6.500 4 0 1 1 13 0a6.500 4 0 1 1-13 0z",
  region: true,
  arguments: [
    { name: "row", role: "centre_row", field: "row" },
    { name: "col", role: "centre_col", field: "col" },
    { name: "a", role: "first_semi_axis", field: "a" },
    { name: "b", role: "second_semi_axis", field: "b" },
    { name: "phi", role: "direction", field: "phi" },
  ],
  drawn: ({ row, col, outer }) => ({ kind: "ellipse", row, col, a: outer, b: (2 * outer) / 3, phi: 0 }),
  contains(shape, row, col) {
    const [along, across] = onAxes(shape, row, col);
    return Math.hypot(along * shape.b, across * shape.a) < shape.a * shape.b;
  },
  handles({ row, col, a, b, phi }) {
    const [cos, sin] = [Math.cos(phi), Math.sin(phi)];
    return [
      { id: "first", at: [row + a * sin, col + a * cos] },
      { id: "second", at: [row + b * cos, col - b * sin] },
    ];
  },
  /** The end of the first semi-axis turns it as well. */
  dragged(shape, handle, row, col) {
    if (handle === "second") return { ...shape, b: Math.max(LEAST, Math.abs(onAxes(shape, row, col)[1])) };
    return { ...shape, a: Math.max(LEAST, Math.hypot(row - shape.row, col - shape.col)), phi: Math.atan2(row - shape.row, col - shape.col) };
  },
  grown: (shape, by) => ({ ...shape, a: Math.max(LEAST, shape.a + by), b: Math.max(LEAST, shape.b + by) }),
  reach: ({ a, b }) => Math.max(a, b),
  outline: ({ row, col, a, b, phi }, pen) => pen.arcs({ row, col, a, b, phi }),
  labelAt({ row, col, a, b, phi }): Point {
    const [height, width] = [Math.hypot(a * Math.sin(phi), b * Math.cos(phi)), Math.hypot(a * Math.cos(phi), b * Math.sin(phi))];
    return [row - height * Math.SQRT1_2, col + width * Math.SQRT1_2];
  },
};

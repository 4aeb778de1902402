// SPDX-License-Identifier: Apache-2.0
import { rings, type Annulus } from "./annulus";
import { besideCircle, type Point, type ShapeTools } from "./tools";

/** Piece k of n of an annulus, counted from the angle phi0. */
export interface Segment extends Omit<Annulus, "kind"> {
  kind: "segment";
  k: number;
  n: number;
  phi0: number;
}

/** The angle at which a piece begins, counted from this one. */
const start = ({ phi0, k, n }: Segment, further = 0) => phi0 + (2 * Math.PI * (k + further)) / n;

export const segment: ShapeTools<Segment> = {
  kind: "segment",
  name: "segment",
  label: "Segment of an annulus",
  icon: "M8 1.5A6.5 6.5 0 0 1 14.5 8H11a3 3 0 0 0-3-3z",
  region: false,
  arguments: [
    { name: "row", role: "centre_row", field: "row" },
    { name: "col", role: "centre_col", field: "col" },
    { name: "r_in", role: "inner_radius", field: "rIn" },
    { name: "r_out", role: "outer_radius", field: "rOut" },
    { name: "k", role: "piece", field: "k" },
    { name: "n", role: "pieces", field: "n" },
    { name: "phi0", role: "start_angle", field: "phi0" },
  ],
  drawn: ({ row, col, inner, outer }) => ({ kind: "segment", row, col, rIn: inner, rOut: outer, k: 0, n: 4, phi0: -Math.PI / 4 }),
  contains(shape, row, col) {
    if (!rings.contains(shape, row, col)) return false;
    const turn = (Math.atan2(row - shape.row, col - shape.col) - shape.phi0) / (2 * Math.PI);
    return Math.floor((turn - Math.floor(turn)) * shape.n) === shape.k;
  },
  held: rings.held,
  handles(shape) {
    const { row, col, rIn, rOut } = shape;
    const on = (radius: number, angle: number): Point => [row + radius * Math.sin(angle), col + radius * Math.cos(angle)];
    return [
      { id: "outer", at: on(rOut, start(shape, 0.5)) },
      { id: "inner", at: on(rIn, start(shape, 0.5)) },
      { id: "turn", at: on((rIn + rOut) / 2, start(shape)) },
    ];
  },
  dragged(shape, handle, row, col) {
    if (handle !== "turn") return rings.resized(shape, handle, row, col);
    const angle = Math.atan2(row - shape.row, col - shape.col);
    return { ...shape, phi0: angle - (2 * Math.PI * shape.k) / shape.n };
  },
  grown: rings.grown,
  hollowed: rings.hollowed,
  reach: ({ rOut }) => rOut,
  outline(shape, pen) {
    const { row, col, rIn, rOut } = shape;
    const [from, to] = [start(shape), start(shape, 1)];
    pen.arcs({ row, col, a: rOut, from, to }, { row, col, a: rIn, from: to, to: from });
  },
  labelAt: ({ row, col, rOut }) => besideCircle(row, col, rOut),
};

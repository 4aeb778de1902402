// SPDX-License-Identifier: Apache-2.0
import { besideCircle, between, LEAST, type ShapeTools } from "./tools";

export interface Annulus {
  kind: "annulus";
  row: number;
  col: number;
  rIn: number;
  rOut: number;
}

/** What every shape between two radii does with them. */
export const rings = {
  contains: (ring: Omit<Annulus, "kind">, row: number, col: number) => between(Math.hypot(row - ring.row, col - ring.col), ring.rIn, ring.rOut),
  /** Its hole is taken too: it is easier than the pixels alone. */
  held: (ring: Omit<Annulus, "kind">, row: number, col: number, reach: number) => Math.hypot(row - ring.row, col - ring.col) < ring.rOut + reach / 4,
  resized<S extends Omit<Annulus, "kind">>(ring: S, handle: string, row: number, col: number): S {
    const radius = Math.hypot(row - ring.row, col - ring.col);
    if (handle === "outer") return { ...ring, rOut: Math.max(ring.rIn + LEAST, radius) };
    return { ...ring, rIn: Math.min(ring.rOut - LEAST, Math.max(0, radius)) };
  },
  grown: <S extends Omit<Annulus, "kind">>(ring: S, by: number): S => ({ ...ring, rOut: Math.max(ring.rIn + LEAST, ring.rOut + by) }),
  hollowed: <S extends Omit<Annulus, "kind">>(ring: S, by: number): S => ({ ...ring, rIn: Math.min(ring.rOut - LEAST, Math.max(0, ring.rIn + by)) }),
};

export const annulus: ShapeTools<Annulus> = {
  kind: "annulus",
  name: "annulus",
  label: "Annulus",
  icon: "M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM8 5a3 3 0 1 1 0 6 3 3 0 0 1 0-6z",
  region: false,
  arguments: [
    { name: "row", role: "centre_row", field: "row" },
    { name: "col", role: "centre_col", field: "col" },
    { name: "r_in", role: "inner_radius", field: "rIn" },
    { name: "r_out", role: "outer_radius", field: "rOut" },
  ],
  drawn: ({ row, col, inner, outer }) => ({ kind: "annulus", row, col, rIn: inner, rOut: outer }),
  contains: rings.contains,
  held: rings.held,
  handles: ({ row, col, rIn, rOut }) => [
    { id: "outer", at: [row, col + rOut] },
    { id: "inner", at: [row, col - rIn] },
  ],
  dragged: rings.resized,
  grown: rings.grown,
  hollowed: rings.hollowed,
  reach: ({ rOut }) => rOut,
  outline({ row, col, rIn, rOut }, pen) {
    pen.arcs({ row, col, a: rOut });
    if (rIn > 0) pen.arcs({ row, col, a: rIn });
  },
  labelAt: ({ row, col, rOut }) => besideCircle(row, col, rOut),
};

// SPDX-License-Identifier: Apache-2.0
import { maskRim, painted, type Run } from "../brush";
import { mean, type ShapeTools } from "./tools";

/** Pixels painted freely: columns col0 <= col < col1 of rows. */
export interface Brush {
  kind: "brush";
  runs: Run[];
}

export const maskOf = (runs: Run[]): Brush => ({ kind: "brush", runs });

export const brush: ShapeTools<Brush> = {
  kind: "brush",
  name: "free mask",
  label: "Free mask, painted",
  icon: "M13.5 2.5 7 9M6 9c-2 0-2.5 1.5-2.5 2.5S2.500 13 2 13.500c2.500.5 5 .3 5.500-2C7.800 10.200 7 9 6 9z",
  region: false,
  arguments: [
    { name: "row", role: "run_row" },
    { name: "col0", role: "run_first" },
    { name: "col1", role: "run_end" },
  ],
  list: { field: "runs", flat: false },
  drawn: () => maskOf([]),
  contains: ({ runs }, row, col) => runs.some(([r, col0, col1]) => r === Math.round(row) && Math.round(col) >= col0 && Math.round(col) < col1),
  held: () => false,
  handles: () => [],
  dragged: (shape) => shape,
  grown: (shape) => shape,
  reach: () => 0,
  middle: ({ runs }) => mean(runs.map(([row, col0, col1]) => [row, (col0 + col1 - 1) / 2])),
  painted: ({ runs }, { size, from, to, radius, erase }) => maskOf(painted(runs, size, from, to, radius, erase)),
  isEmpty: ({ runs }) => runs.length === 0,
  hint: () => "Shift wipes out",
  /** The rim of its pixels: there are no lines inside. */
  outline: ({ runs }, pen) => maskRim(runs).forEach((loop) => pen.loop(loop)),
  labelAt: ({ runs: [first] }) => (first ? [first[0] - 0.5, first[2] - 0.5] : [-0.5, -0.5]),
};

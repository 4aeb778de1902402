// SPDX-License-Identifier: Apache-2.0
import { LEAST, mean, type Point, type ShapeTools } from "./tools";

export interface Polygon {
  kind: "polygon";
  points: Point[];
}

/** The distance of the farthest corner from the middle. */
function reach({ points }: Polygon): number {
  const [row, col] = mean(points);
  return Math.max(0, ...points.map(([r, c]) => Math.hypot(r - row, c - col)));
}

/** With another corner in the middle of the side nearest to a place. */
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

const cornerOf = (handle: string) => Number(handle.slice(1));

export const polygon: ShapeTools<Polygon> = {
  kind: "polygon",
  name: "polygon",
  label: "Polygon",
  icon: "M8 1.5 14.5 6l-2.5 8H4L1.5 6z",
  region: true,
  arguments: [
    { name: "row", role: "vertex_row" },
    { name: "col", role: "vertex_col" },
  ],
  list: { field: "points", flat: true },
  drawn({ row, col, outer }) {
    const corner = (i: number): Point => [row - outer * Math.cos((i * Math.PI) / 3), col + outer * Math.sin((i * Math.PI) / 3)];
    return { kind: "polygon", points: [0, 1, 2, 3, 4, 5].map(corner) };
  },
  /** Even-odd. */
  contains({ points }, row, col) {
    let inside = false;
    for (let i = 0, j = points.length - 1; i < points.length; j = i++) {
      const [ri, ci] = points[i];
      const [rj, cj] = points[j];
      if (ri > row !== rj > row && col < ((cj - ci) * (row - ri)) / (rj - ri) + ci) inside = !inside;
    }
    return inside;
  },
  handles: ({ points }) => points.map((at, i) => ({ id: `v${i}`, at })),
  dragged: ({ points }, handle, row, col) => ({ kind: "polygon", points: points.map((point, i) => (i === cornerOf(handle) ? [row, col] : point)) }),
  grown(shape, by) {
    const [row, col] = mean(shape.points);
    const before = Math.max(LEAST, reach(shape));
    const factor = Math.max(LEAST, before + by) / before;
    return { kind: "polygon", points: shape.points.map(([r, c]) => [row + (r - row) * factor, col + (c - col) * factor]) };
  },
  reach,
  middle: ({ points }) => mean(points),
  /** A corner more, or the one that was clicked less: three stay. */
  clicked(shape, handle, row, col) {
    const points = handle !== null ? shape.points.filter((_, i) => i !== cornerOf(handle)) : withCorner(shape.points, row, col);
    return points.length >= 3 ? { kind: "polygon", points } : shape;
  },
  hint: ({ points }) => `${points.length} corners; Shift and click adds or removes one`,
  outline: ({ points }, pen) => pen.loop(points),
  labelAt: ({ points }) => points[0] ?? [0, 0],
};

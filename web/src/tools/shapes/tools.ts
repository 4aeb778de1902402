// SPDX-License-Identifier: Apache-2.0
import type { Role } from "./roles";

export type Point = [row: number, col: number];

/** A place that can be taken with a pointer to change a shape. */
export interface Handle {
  id: string;
  at: Point;
}

/** Part of an ellipse about a centre: semi-axis `a` in the direction phi (0), `b` (a) across it, from one angle (0) to
 *  another (a whole turn), backwards where that is smaller. Angles are clockwise on the screen, from the columns. */
export interface Arc {
  row: number;
  col: number;
  a: number;
  b?: number;
  phi?: number;
  from?: number;
  to?: number;
}

/** Draws closed lines; places are data pixels with centres at whole numbers. */
export interface Pen {
  loop(corners: readonly Point[]): void;
  /** One line of several parts, joined straight. */
  arcs(...arcs: Arc[]): void;
  /** A single pixel, large enough to be seen. */
  pixel(at: Point): void;
}

/** A movement of a brush from one place to another. */
export interface Stroke {
  size: { rows: number; cols: number };
  from: Point;
  to: Point;
  radius: number;
  erase: boolean;
}

/** An argument of the program's shape; `field` is where the shape keeps it, absent in groups of a list. */
export interface Argument<S> {
  name: string;
  role: Role;
  field?: Exclude<keyof S, "kind"> & string;
}

/** Smallest radius or side that a hand can make. */
export const LEAST = 0.5;

export function between(value: number, low: number, high: number): boolean {
  return value >= low && value < high;
}

export function mean(points: readonly Point[]): Point {
  const count = Math.max(1, points.length);
  return [points.reduce((sum, [row]) => sum + row, 0) / count, points.reduce((sum, [, col]) => sum + col, 0) / count];
}

/** Where a circle's name stands: outside, above and right. */
export function besideCircle(row: number, col: number, radius: number): Point {
  return [row - radius * Math.SQRT1_2, col + radius * Math.SQRT1_2];
}

/** Everything that the page does with one kind of shapes. Places are pixels with centres at whole numbers; names,
 *  arguments and membership are those of the program's table of shapes. `Hollow` is what a hole makes of it. */
export interface ShapeTools<S extends { kind: string }, Hollow extends { kind: string } = S> {
  readonly kind: S["kind"];
  /** In a list of detectors; on the button. */
  readonly name: string;
  readonly label: string;
  /** A path on a grid of 16. */
  readonly icon: string;
  /** Offered for regions of the scan, too. */
  readonly region: boolean;
  /** In the program's order. */
  readonly arguments: readonly Argument<S>[];
  /** The arguments repeat: the field that holds groups of them, which the program takes as they are or in one list. */
  readonly list?: { field: Exclude<keyof S, "kind"> & string; flat: boolean };

  /** A new one at a place; radii are those of the shape that it replaces. */
  drawn(at: { row: number; col: number; outer: number; inner: number }): S;
  /** Whether a place belongs to it, by the program's rules. */
  contains(shape: S, row: number, col: number): boolean;
  handles(shape: S): Handle[];
  /** With this handle at this place. */
  dragged(shape: S, handle: string, row: number, col: number): S;
  /** Larger by `by` pixels of outer radius or half a side. */
  grown(shape: S, by: number): S;
  /** Its outer radius or half a side; 0 where it has no size. */
  reach(shape: S): number;
  outline(shape: S, pen: Pen): void;
  /** Where its name stands. */
  labelAt(shape: S): Point;

  /** What an arrow key or a drag of the body moves; of shapes without a centre among their arguments. */
  middle?(shape: S): Point;
  /** Whether it is taken here, `reach` pixels being near; else where it contains the place. */
  held?(shape: S, row: number, col: number, reach: number): boolean;
  /** The inner radius larger by `by` pixels; other shapes have none. */
  hollowed?(shape: S, by: number): Hollow;
  /** On whole pixels, where its body is let go of. */
  snapped?(shape: S): S;
  /** After a click with Shift, on a handle or elsewhere. */
  clicked?(shape: S, handle: string | null, row: number, col: number): S;
  /** After a stroke: it is painted instead of taken. */
  painted?(shape: S, stroke: Stroke): S;
  /** Nothing is inside whatever the program says. */
  isEmpty?(shape: S): boolean;
  hint?(shape: S): string;
}

// SPDX-License-Identifier: Apache-2.0
/** The table of shapes, for detectors and regions of the scan. Everything else on the page goes through it and knows no
 *  kind by name: a new one is a file beside this one and a member of SHAPES. */
import { annulus } from "./annulus";
import { brush } from "./brush";
import { circle, type Circle } from "./circle";
import { ellipse } from "./ellipse";
import { point } from "./point";
import { polygon } from "./polygon";
import { rect } from "./rect";
import { fits, ROLES, type Role } from "./roles";
import { segment } from "./segment";
import type { Handle, Pen, Point, ShapeTools, Stroke } from "./tools";

export type { Arc, Handle, Pen, Point, Stroke } from "./tools";
export { ROLES } from "./roles";
export { maskOf } from "./brush";
export { rectBetween } from "./rect";

/** In the order of their buttons. */
export const SHAPES = { circle, annulus, segment, ellipse, rect, polygon, point, brush } as const;

export type ShapeKind = keyof typeof SHAPES;
export type Shape = ReturnType<(typeof SHAPES)[ShapeKind]["drawn"]>;

export const SHAPE_KINDS = Object.keys(SHAPES) as ShapeKind[];

export function toolsOf({ kind }: { kind: ShapeKind }): ShapeTools<Shape> {
  return SHAPES[kind] as unknown as ShapeTools<Shape>;
}

export const circleAbout = (row: number, col: number, r: number): Circle => ({ kind: "circle", row, col, r });

/** The pixels from one radius to another. */
export function ringAbout(row: number, col: number, rIn: number, rOut: number): Shape {
  return rIn === 0 ? circleAbout(row, col, rOut) : { kind: "annulus", row, col, rIn, rOut };
}

// Arguments

type Fields = Record<string, unknown>;
const fieldsOf = (shape: Shape) => shape as unknown as Fields;

/** The groups of a shape whose arguments repeat. */
const groupsOf = (shape: Shape) => fieldsOf(shape)[toolsOf(shape).list?.field ?? ""] as number[][];

/** The numbers of a shape that can be typed, in the program's order. */
export function numbersOf(shape: Shape): { field: string; role: Role; value: number }[] {
  return toolsOf(shape).arguments.flatMap(({ field, role }) => (field ? [{ field, role, value: fieldsOf(shape)[field] as number }] : []));
}

/** The number that has this role; undefined where the shape has none. */
const numberOf = (shape: Shape, role: Role) => numbersOf(shape).find((one) => one.role === role)?.value;

/** What the command set_detector wants beside `shape`. */
export function toParams(shape: Shape): unknown[] {
  const { list } = toolsOf(shape);
  if (!list) return numbersOf(shape).map(({ value }) => value);
  return list.flat ? groupsOf(shape).flat() : groupsOf(shape);
}

/** The shape of which these are the parameters. */
export function fromParams(kind: ShapeKind, params: readonly unknown[]): Shape {
  const { list, arguments: all } = toolsOf({ kind });
  const groups = () => Array.from({ length: params.length / all.length }, (_, i) => params.slice(i * all.length, (i + 1) * all.length));
  const fields: Fields = list ? { [list.field]: list.flat ? groups() : params } : Object.fromEntries(all.map(({ field }, i) => [field, params[i]]));
  return { kind, ...fields } as unknown as Shape;
}

/** Whether a value from a file is a shape. */
export function isShape(value: unknown): value is Shape {
  const kind = (value as { kind?: ShapeKind } | null)?.kind;
  if (kind === undefined || !SHAPE_KINDS.includes(kind)) return false;
  const { list, arguments: all } = toolsOf({ kind });
  const fields = value as Fields;
  if (!list) return all.every(({ field, role }) => field !== undefined && fits(role, fields[field]));
  const groups = fields[list.field];
  const isGroup = (group: unknown) => Array.isArray(group) && group.length === all.length && all.every(({ role }, i) => fits(role, group[i]));
  return Array.isArray(groups) && groups.every(isGroup);
}

// Places and sizes

export function contains(shape: Shape, row: number, col: number): boolean {
  return toolsOf(shape).contains(shape, row, col);
}

export function moved(shape: Shape, rows: number, cols: number): Shape {
  const { list, arguments: all } = toolsOf(shape);
  const shifted = (role: Role, value: number) => {
    const { axis, whole } = ROLES[role];
    const by = axis === undefined ? 0 : axis === "row" ? rows : cols;
    return value + (whole ? Math.round(by) : by);
  };
  if (list) return { ...shape, [list.field]: groupsOf(shape).map((group) => group.map((value, i) => shifted(all[i].role, value))) };
  return { ...shape, ...Object.fromEntries(numbersOf(shape).map(({ field, role, value }) => [field, shifted(role, value)])) };
}

function centreOf(shape: Shape): Point | null {
  const [row, col] = [numberOf(shape, "centre_row"), numberOf(shape, "centre_col")];
  return row === undefined || col === undefined ? null : [row, col];
}

/** The middle: what an arrow key or a drag of the body moves. */
export function middle(shape: Shape): Point {
  return centreOf(shape) ?? toolsOf(shape).middle?.(shape) ?? [0, 0];
}

/** Larger by `by` pixels of outer radius (or half a side); shapes without a size stay. */
export function grown(shape: Shape, by: number): Shape {
  return toolsOf(shape).grown(shape, by);
}

/** The inner radius by `by` pixels; shapes without one stay, or become one that has it. */
export function hollowed(shape: Shape, by: number): Shape {
  return toolsOf(shape).hollowed?.(shape, by) ?? shape;
}

/** Another kind of shape at the same place and of about the same size; at a place by itself it has this size. */
export function converted(from: Shape | Point, kind: ShapeKind, size: number): Shape {
  if (Array.isArray(from)) return toolsOf({ kind }).drawn({ row: from[0], col: from[1], outer: size, inner: size / 2 });
  if (from.kind === kind) return from;
  const [row, col] = middle(from);
  const outer = toolsOf(from).reach(from) || size;
  return toolsOf({ kind }).drawn({ row, col, outer, inner: numberOf(from, "inner_radius") ?? outer / 2 });
}

/** On whole pixels where the shape consists of them. */
export function snapped(shape: Shape): Shape {
  return toolsOf(shape).snapped?.(shape) ?? shape;
}

/** Whether nothing is inside whatever the program says: there is nothing to ask it for. */
export function isEmpty(shape: Shape): boolean {
  return toolsOf(shape).isEmpty?.(shape) ?? false;
}

// The hand

export type Grip = { handle: string } | "body" | null;

export function handles(shape: Shape): Handle[] {
  return toolsOf(shape).handles(shape);
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
  return (toolsOf(shape).held?.(shape, row, col, reach) ?? contains(shape, row, col)) ? "body" : null;
}

/** The shape after its handle was dragged to a place. */
export function dragged(shape: Shape, handle: string, row: number, col: number): Shape {
  return toolsOf(shape).dragged(shape, handle, row, col);
}

/** The shape with its middle, as it was when taken, following the hand. */
export function carried(shape: Shape, from: Point, to: Point): Shape {
  return moved(shape, to[0] - from[0], to[1] - from[1]);
}

/** Where a shape jumps under the pointer from: its centre, of one that has it. */
export const jumpsFrom = centreOf;

/** After a click with Shift; null where that means nothing to the shape. */
export function clicked(shape: Shape, taken: Grip, row: number, col: number): Shape | null {
  return toolsOf(shape).clicked?.(shape, taken && taken !== "body" ? taken.handle : null, row, col) ?? null;
}

/** Whether a pointer paints the shape instead of taking it. */
export function isPainted(shape: Shape | null | undefined): boolean {
  return !!shape && toolsOf(shape).painted !== undefined;
}

export function painted(shape: Shape, stroke: Stroke): Shape {
  return toolsOf(shape).painted?.(shape, stroke) ?? shape;
}

// Looks

export function outline(shape: Shape, pen: Pen): void {
  toolsOf(shape).outline(shape, pen);
}

export function labelAt(shape: Shape): Point {
  return toolsOf(shape).labelAt(shape);
}

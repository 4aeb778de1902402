// SPDX-License-Identifier: Apache-2.0
/** What an argument of a shape is, by the program's names (docs/viewer-protocol.md): how it is shown, typed, checked and
 *  moved follows from it. */
interface RoleFacts {
  /** Of its number field. */
  label: string;
  /** The direction in which it goes when the shape is moved. */
  axis?: "row" | "col";
  /** A radius: shown in mrad too where a pixel's angle is known. */
  length?: true;
  /** Kept in radians, shown and typed in degrees. */
  angle?: true;
  whole?: true;
  /** The smallest that can be typed. */
  least?: number;
}

const facts = {
  centre_row: { label: "row", axis: "row" },
  centre_col: { label: "col", axis: "col" },
  radius: { label: "r", length: true, least: 0.5 },
  inner_radius: { label: "r in", length: true, least: 0 },
  outer_radius: { label: "r out", length: true, least: 0.5 },
  first_semi_axis: { label: "a", length: true, least: 0.5 },
  second_semi_axis: { label: "b", length: true, least: 0.5 },
  direction: { label: "turned", angle: true },
  start_angle: { label: "from", angle: true },
  piece: { label: "piece", whole: true, least: 0 },
  pieces: { label: "of", whole: true, least: 1 },
  first_row: { label: "row", axis: "row" },
  first_col: { label: "col", axis: "col" },
  end_row: { label: "to row", axis: "row" },
  end_col: { label: "to col", axis: "col" },
  vertex_row: { label: "row", axis: "row" },
  vertex_col: { label: "col", axis: "col" },
  run_row: { label: "row", axis: "row", whole: true },
  run_first: { label: "col", axis: "col", whole: true },
  run_end: { label: "to col", axis: "col", whole: true },
} satisfies Record<string, RoleFacts>;

export type Role = keyof typeof facts;
export const ROLES: Record<Role, RoleFacts> = facts;

/** Whether a value may be such an argument. */
export function fits(role: Role, value: unknown): boolean {
  const { whole, axis } = ROLES[role];
  if (!whole) return typeof value === "number" && Number.isFinite(value);
  return Number.isSafeInteger(value) && (axis !== undefined || (value as number) >= 0);
}

// SPDX-License-Identifier: Apache-2.0
/** How values become positions in the colour map. With s = (value - low) / (high - low), kept in [0, 1]:
 *  s; log(1 + 1000 s) / log(1001), for patterns that span decades; s^gamma. The same three as in the pictures that the
 *  program writes, so that both look alike. */
export type Stretch = "linear" | "log" | "power";

export const STRETCHES: readonly Stretch[] = ["linear", "log", "power"];
export const LOG_STRENGTH = 1000;
export const GAMMA_RANGE = [0.1, 2] as const;

export interface Range {
  low: number;
  high: number;
}

export interface Mapping extends Range {
  stretch: Stretch;
  gamma: number;
}

/** Position in [0, 1]; not-a-number for a value that is not finite. A flat range is shown in the middle of the map. */
export function position(value: number, mapping: Mapping): number {
  if (!Number.isFinite(value)) return NaN;
  if (!(mapping.high > mapping.low)) return 0.5;
  const s = Math.min(1, Math.max(0, (value - mapping.low) / (mapping.high - mapping.low)));
  return stretched(s, mapping);
}

export function stretched(s: number, { stretch, gamma }: Pick<Mapping, "stretch" | "gamma">): number {
  if (stretch === "log") return Math.log1p(LOG_STRENGTH * s) / Math.log1p(LOG_STRENGTH);
  return stretch === "power" ? s ** gamma : s;
}

/** The value at a position: the inverse of `position` within the range. */
export function valueAt(t: number, mapping: Mapping): number {
  let s = t;
  if (mapping.stretch === "log") s = Math.expm1(t * Math.log1p(LOG_STRENGTH)) / LOG_STRENGTH;
  if (mapping.stretch === "power") s = t ** (1 / mapping.gamma);
  return mapping.low + s * (mapping.high - mapping.low);
}

/** Widened to be symmetric about zero, for signed quantities. */
export function symmetricRange({ low, high }: Range): Range {
  const reach = Math.max(Math.abs(low), Math.abs(high));
  return { low: -reach, high: reach };
}

// SPDX-License-Identifier: Apache-2.0
import { SHAPE_KINDS, SHAPES, type ShapeKind } from "../tools/shapes";

/** Outlines on a grid of 16, drawn with the text's colour. */
const PATHS = {
  move: "M8 1v14M1 8h14M8 1 6 3M8 1l2 2M8 15l-2-2M8 15l2-2M1 8l2-2M1 8l2 2M15 8l-2-2M15 8l-2 2",
  region: "M2.5 4.5h8v8h-8zM13.5 3.5v3M12 5h3",
  centre: "M8 1v4M8 11v4M1 8h4M11 8h4M8 5.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5z",
  line: "M3 13 13 3M1.5 13a1.5 1.5 0 1 0 3 0 1.5 1.5 0 1 0-3 0M11.5 3a1.5 1.5 0 1 0 3 0 1.5 1.5 0 1 0-3 0",
  probe: SHAPES.point.icon,
  pan: "M5 8V3.5a1 1 0 0 1 2 0V7V2.5a1 1 0 0 1 2 0V7V3.5a1 1 0 0 1 2 0V8V5.5a1 1 0 0 1 2 0V10a5 5 0 0 1-9 3L2 9.5a1 1 0 0 1 1.6-1.2L5 9.5z",
  lock: "M4 7.500h8v6H4zM5.500 7.500V5a2.500 2.500 0 0 1 5 0v2.500",
  unlock: "M4 7.500h8v6H4zM5.500 7.500V5a2.500 2.500 0 0 1 4.800-1",
  symmetric: "M8 2v12M2 12c2-8 4-8 6-4s4 4 6-4",
  smooth: "M1.500 12c3 0 3-8 6.500-8s3.500 8 6.500 8",
  reversed: "M3 5h9l-2.500-2.500M13 11H4l2.500 2.500",
  close: "M4 4l8 8M12 4l-8 8",
  plus: "M8 3v10M3 8h10",
  play: "M4.500 2.500v11l9-5.500z",
  pause: "M5 3v10M11 3v10",
  previous: "M10.500 3 5.500 8l5 5",
  next: "M5.500 3l5 5-5 5",
  loop: "M3 8a5 5 0 0 1 8.500-3.500M13 8a5 5 0 0 1-8.500 3.500M11.500 1.500v3h-3M4.500 14.500v-3h3",
  boomerang: "M2 6h11l-2.500-2.500M14 10H3l2.500 2.500",
  star: "M8 1.800l1.900 4 4.400.6-3.200 3 .8 4.400L8 11.700l-3.900 2.100.8-4.400-3.200-3 4.400-.6z",
  hide: "M1.500 8S4 3.500 8 3.500 14.500 8 14.500 8 12 12.500 8 12.500 1.500 8 1.500 8zM3 13 13 3",
  up: "M3 10.500 8 5.500l5 5",
  down: "M3 5.500l5 5 5-5",
  help: "M5.500 6a2.500 2.500 0 1 1 3.500 2.300c-.7.3-1 .8-1 1.700M8 12.500v.5",
  export: "M8 2v8M5 7l3 3 3-3M2.500 11v2.500h11V11",
  reset: "M2.500 6V2.500H6M13.500 6V2.500H10M2.500 10v3.500H6M13.500 10v3.500H10",
} as const;

const SHAPE_PATHS = Object.fromEntries(SHAPE_KINDS.map((kind) => [kind, SHAPES[kind].icon])) as Record<ShapeKind, string>;
const ALL = { ...PATHS, ...SHAPE_PATHS };

export type IconName = keyof typeof ALL;

export function Icon({ name, filled = false }: { name: IconName; filled?: boolean }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path d={ALL[name]} fill={filled ? "currentColor" : "none"} stroke="currentColor" stroke-width="1.4" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
  );
}

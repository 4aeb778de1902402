// SPDX-License-Identifier: Apache-2.0
import type { Centre } from "../protocol/messages";
import type { Shape } from "../tools/shape";
import { MOST_CHANNELS, type Detector } from "./view";

/** Named annuli about the beam, radii in units of the bright-field radius: the program's own. */
export const PRESETS = [
  { name: "bf", label: "BF", help: "bright field", key: "b", rIn: 0, rOut: 1 },
  { name: "abf", label: "ABF", help: "annular bright field", key: "v", rIn: 0.5, rOut: 1 },
  { name: "adf", label: "ADF", help: "annular dark field", key: "n", rIn: 1, rOut: 2 },
  { name: "haadf", label: "HAADF", help: "high-angle annular dark field", key: "h", rIn: 2, rOut: 4 },
] as const;

/** Signed images: first moments of the pattern instead of a sum over a mask. */
export const MOMENTS = ["com-row", "com-col"] as const;

export function isMoment(detector: Detector): boolean {
  return detector.expr === "com-row" || detector.expr === "com-col";
}

/** The shape to draw and to take with the hand: a preset's annulus while the beam's centre and radius are known. */
export function shapeOf(detector: Detector, centre: Centre | undefined): Shape | null {
  if (detector.shape) return detector.shape;
  const preset = PRESETS.find(({ name }) => name === detector.expr);
  if (!preset || !centre?.radius) return null;
  const { row, col, radius } = centre;
  if (preset.rIn === 0) return { kind: "circle", row, col, r: preset.rOut * radius };
  return { kind: "annulus", row, col, rIn: preset.rIn * radius, rOut: preset.rOut * radius };
}

const KIND_NAMES: Record<Shape["kind"], string> = {
  circle: "circle",
  annulus: "annulus",
  rect: "rectangle",
  polygon: "polygon",
  point: "point",
  segment: "segment",
  brush: "free mask",
};

export function nameOf(detector: Detector): string {
  if (detector.shape) return KIND_NAMES[detector.shape.kind];
  const preset = PRESETS.find(({ name }) => name === detector.expr);
  if (preset) return preset.label;
  if (detector.expr === "com-row") return "CoM row";
  if (detector.expr === "com-col") return "CoM column";
  return detector.expr ?? "";
}

export function freeChannel(detectors: Detector[]): number | null {
  for (let channel = 0; channel < MOST_CHANNELS; ++channel)
    if (!detectors.some((detector) => detector.channel === channel)) return channel;
  return null;
}

/** Told apart by number as well as by colour (Okabe and Ito's eight, which also the colour-blind tell apart). */
export const CHANNEL_COLOURS = [
  "#56b4e9",
  "#e69f00",
  "#2fbf8f",
  "#f0e442",
  "#e07b39",
  "#cc79a7",
  "#8fa8ff",
  "#d9dde3",
] as const;

// SPDX-License-Identifier: Apache-2.0
import type { ColourMapName } from "../display/colour_maps";
import type { Stretch } from "../display/stretch";
import { WHOLE, type Place, type Zoom } from "../display/viewport";
import type { Point, Shape } from "../tools/shapes";

export type PanelName = "image" | "pattern" | "spectrum";
export const PANELS: readonly PanelName[] = ["image", "pattern", "spectrum"];

/** What has colours of its own: a panel, or a kind of images in the real-space panel whose numbers are of another sort
 *  and size than sums over a detector. */
export type DisplayName = PanelName | "deflection" | "magnitude" | "angle" | "difference" | "ratio";
export const DISPLAYS: readonly DisplayName[] = [...PANELS, "deflection", "magnitude", "angle", "difference", "ratio"];

export interface DisplaySettings {
  stretch: Stretch;
  gamma: number;
  map: ColourMapName;
  reversed: boolean;
  /** auto: the range follows the percentiles of what is shown; fixed: it stays at low and high. */
  contrast: "auto" | "fixed";
  lowPercent: number;
  highPercent: number;
  low: number;
  high: number;
  symmetric: boolean;
  smooth: boolean;
}

/** One detector: in words (an expression of the program, or com-row, com-col), or as a shape under the hand. */
export interface Detector {
  channel: number;
  expr: string | null;
  shape: Shape | null;
}

export type Tool = "move" | "region" | "centre" | "line" | "pan";

export interface ProfileLine {
  panel: PanelName;
  p0: Point;
  p1: Point;
  width: number;
}

/** Everything a person has set: what a state file holds and what is told again to a server that was gone. */
export interface View {
  dataset: number | null;
  item: number;
  cursor: Place;
  detectors: Detector[];
  active: number;
  /** Where a person put the beam, by data set; elsewhere it is where the program found it. */
  centres: { dataset: number; row: number; col: number; radius: number }[];
  arrangement: "single" | "grid" | "rgb";
  compared: number[];
  comparison: "side" | "difference" | "ratio";
  linked: boolean;
  order: number[];
  hidden: number[];
  starred: number[];
  patternSource: "cursor" | "region";
  reduction: "sum" | "mean" | "max";
  region: Shape | null;
  spectrumOn: boolean;
  spectrumWindow: "none" | "hann";
  /** What the diffraction panel is measured in, where both are known. */
  angleUnit: "mrad" | "1/A";
  profile: ProfileLine | null;
  display: Record<DisplayName, DisplaySettings>;
  zoom: Record<PanelName, Zoom>;
  fps: number;
  loop: boolean;
  boomerang: boolean;
  brushRadius: number;
}

export const MOST_CHANNELS = 8;

/** The whole circle: the range of angles is no matter of contrast. */
export const CIRCLE = { low: -Math.PI, high: Math.PI } as const;

const plain: DisplaySettings = {
  stretch: "linear",
  gamma: 0.5,
  map: "gray",
  reversed: false,
  contrast: "auto",
  lowPercent: 0.5,
  highPercent: 99.5,
  low: 0,
  high: 1,
  symmetric: false,
  smooth: false,
};

/** Positive and negative in two colours that part at zero. */
const signed: DisplaySettings = { ...plain, map: "RdBu", symmetric: true };

export function initialView(): View {
  return {
    dataset: null,
    item: 0,
    cursor: { row: 0, col: 0 },
    detectors: [{ channel: 0, expr: "bf", shape: null }],
    active: 0,
    centres: [],
    arrangement: "single",
    compared: [],
    comparison: "side",
    linked: true,
    order: [],
    hidden: [],
    starred: [],
    patternSource: "cursor",
    reduction: "mean",
    region: null,
    spectrumOn: false,
    spectrumWindow: "hann",
    angleUnit: "mrad",
    profile: null,
    display: {
      image: { ...plain },
      // A pattern spans decades, and its few brightest pixels matter.
      pattern: { ...plain, stretch: "log", map: "inferno", lowPercent: 0, highPercent: 99.9 },
      spectrum: { ...plain, stretch: "log", map: "gray", lowPercent: 5, highPercent: 99.9 },
      deflection: { ...signed },
      magnitude: { ...plain, lowPercent: 0 },
      angle: { ...plain, map: "phase", contrast: "fixed", ...CIRCLE },
      difference: { ...signed },
      ratio: { ...plain },
    },
    zoom: { image: WHOLE, pattern: WHOLE, spectrum: WHOLE },
    fps: 10,
    loop: true,
    boomerang: false,
    brushRadius: 3,
  };
}

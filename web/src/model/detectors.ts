// SPDX-License-Identifier: Apache-2.0
import type { PageMessage } from "../protocol/messages";
import type { Centre, Dataset } from "../protocol/scans";
import { isEmpty, ringAbout, SHAPE_KINDS, toolsOf, type Shape, type ShapeKind } from "../tools/shapes";
import { MOST_CHANNELS, type Detector, type View } from "./view";

/** Named annuli about the beam, radii in units of the bright-field radius: the program's own. */
export const PRESETS = [
  { name: "bf", label: "BF", help: "bright field", key: "b", rIn: 0, rOut: 1 },
  { name: "abf", label: "ABF", help: "annular bright field", key: "v", rIn: 0.5, rOut: 1 },
  { name: "adf", label: "ADF", help: "annular dark field", key: "n", rIn: 1, rOut: 2 },
  { name: "haadf", label: "HAADF", help: "high-angle annular dark field", key: "h", rIn: 2, rOut: 4 },
] as const;

/** First moments of the pattern instead of a sum over a mask, shown as the deflection from the centre of the beam. */
export const MOMENTS = [
  { name: "com-row", label: "CoM row", text: "CoM row", help: "deflection of the centre of mass along the rows" },
  { name: "com-col", label: "CoM column", text: "CoM col", help: "deflection of the centre of mass along the columns" },
  { name: "com-magnitude", label: "|CoM|", text: "|CoM|", help: "length of the deflection of the centre of mass" },
  { name: "com-angle", label: "CoM angle", text: "angle", help: "direction of the deflection of the centre of mass, from the columns towards the rows" },
] as const;
export type MomentName = (typeof MOMENTS)[number]["name"];

/** Which moment a detector is; null for a mask. The program takes the word in any case. */
export function momentOf({ expr }: Detector): MomentName | null {
  const word = expr?.trim().toLowerCase();
  return MOMENTS.find(({ name }) => name === word)?.name ?? null;
}

/** What kind of numbers an image holds, and with it the colours that it is shown in. */
export type Quantity = "image" | "deflection" | "magnitude" | "angle";

export function quantityOf(detector: Detector): Quantity {
  switch (momentOf(detector)) {
    case "com-row":
    case "com-col":
      return "deflection";
    case "com-magnitude":
      return "magnitude";
    case "com-angle":
      return "angle";
    default:
      return "image";
  }
}

/** What the numbers of a detector's image count. */
export function unitOf(detector: Detector, dataset: Dataset | null): string {
  const quantity = quantityOf(detector);
  if (quantity === "angle") return "rad";
  if (quantity !== "image") return dataset?.pixel_mrad ? "mrad" : "px";
  // Values of scans that hold no whole numbers have a unit that the file does not tell.
  return dataset?.dtype?.startsWith("f") ? "" : "counts";
}

/** The shape to draw and to take with the hand: a preset's annulus while the beam's centre and radius are known. */
export function shapeOf(detector: Detector, centre: Centre | undefined): Shape | null {
  if (detector.shape) return detector.shape;
  const preset = PRESETS.find(({ name }) => name === detector.expr);
  if (!preset || !centre?.radius) return null;
  const { row, col, radius } = centre;
  return ringAbout(row, col, preset.rIn * radius, preset.rOut * radius);
}

/** A row of the program's table of shapes, in the options of the panel `pattern`. */
export interface ShapeRow {
  name: string;
  form: string;
  help: string;
  arguments: { name: string; role: string; unit: string }[];
  optional: number;
  groups: number;
}

/** The shapes that the program of this page knows, with its sentence about each. */
export function offeredShapes(page: PageMessage | null): { kind: ShapeKind; help: string }[] {
  const rows = (page?.panels.find(({ id }) => id === "pattern")?.options?.shapes ?? []) as ShapeRow[];
  return SHAPE_KINDS.flatMap((kind) => rows.filter(({ name }) => name === kind).map(({ help }) => ({ kind, help })));
}

export function nameOf(detector: Detector): string {
  if (detector.shape) return toolsOf(detector.shape).name;
  const preset = PRESETS.find(({ name }) => name === detector.expr);
  if (preset) return preset.label;
  const moment = MOMENTS.find(({ name }) => name === momentOf(detector));
  return moment ? moment.label : (detector.expr ?? "");
}

/** Whether only the program knows which pixels the words of a detector mean. */
export function isWorded(detector: Detector): boolean {
  return detector.expr !== null && !momentOf(detector) && !PRESETS.some(({ name }) => name === detector.expr);
}

/** A mask of which nothing is painted yet: there is nothing to ask the program for. */
export function isEmptyMask({ shape }: Detector): boolean {
  return shape !== null && isEmpty(shape);
}

export function freeChannel(detectors: Detector[]): number | null {
  for (let channel = 0; channel < MOST_CHANNELS; ++channel)
    if (!detectors.some((detector) => detector.channel === channel)) return channel;
  return null;
}

/** Of the first three detectors where their images are the red, green and blue of one: light enough for dark figures. */
export const RGB = [
  { name: "red", colour: "#ff6b6b" },
  { name: "green", colour: "#4ade80" },
  { name: "blue", colour: "#7c9cff" },
] as const;
/** Of those that have no part in it. */
const LEFT_OUT = "#b4bcc6";

/** The colour that a detector has in lists and on the pattern: of its part in the picture where it has one. */
export function colourOf(channel: number, { detectors, arrangement }: Pick<View, "detectors" | "arrangement">): string {
  if (arrangement !== "rgb") return CHANNEL_COLOURS[channel];
  return RGB[detectors.findIndex((one) => one.channel === channel)]?.colour ?? LEFT_OUT;
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

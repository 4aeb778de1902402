// SPDX-License-Identifier: Apache-2.0
import { COLOUR_MAPS } from "../display/colour_maps";
import { GAMMA_RANGE, STRETCHES } from "../display/stretch";
import { MOST_ZOOM } from "../display/viewport";
import { isShape } from "../tools/shapes";
import { DISPLAYS, initialView, MOST_CHANNELS, PANELS, type Detector, type DisplaySettings, type View } from "./view";

/** What `save_state` keeps of this page. */
export interface StateFile {
  version: 1;
  view: View;
}

export function toStateFile(view: View): StateFile {
  return { version: 1, view };
}

/** The view with the numbers that its data sets have now; `numbers` holds them by the numbers of before. */
export function renumbered(view: View, numbers: readonly number[]): View {
  const now = (id: number) => numbers[id] ?? id;
  return {
    ...view,
    dataset: view.dataset === null ? null : now(view.dataset),
    centres: view.centres.map((one) => ({ ...one, dataset: now(one.dataset) })),
    compared: view.compared.map(now),
    order: view.order.map(now),
    hidden: view.hidden.map(now),
    starred: view.starred.map(now),
  };
}

type Test = (value: unknown) => boolean;

const isNumber: Test = (value) => typeof value === "number" && Number.isFinite(value);
const isIndex: Test = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isFlag: Test = (value) => typeof value === "boolean";
const within = (low: number, high: number): Test => (value) => isNumber(value) && (value as number) >= low && (value as number) <= high;
const oneOf = (...names: readonly string[]): Test => (value) => names.includes(value as string);
const listOf = (test: Test): Test => (value) => Array.isArray(value) && value.every(test);
const orNull = (test: Test): Test => (value) => value === null || test(value);
const object = (tests: Record<string, Test>): Test => (value) =>
  typeof value === "object" && value !== null && Object.entries(tests).every(([name, test]) => test((value as Record<string, unknown>)[name]));
const isPoint: Test = (value) => Array.isArray(value) && value.length === 2 && value.every(isNumber);
const isDetector: Test = (value) => {
  if (!object({ channel: within(0, MOST_CHANNELS - 1), expr: orNull((text) => typeof text === "string"), shape: orNull(isShape) })(value)) return false;
  const { expr, shape } = value as Detector;
  return (expr === null) !== (shape === null);
};

const display: Record<keyof DisplaySettings, Test> = {
  stretch: oneOf(...STRETCHES),
  gamma: within(...GAMMA_RANGE),
  map: oneOf(...COLOUR_MAPS),
  reversed: isFlag,
  contrast: oneOf("auto", "fixed"),
  lowPercent: within(0, 100),
  highPercent: within(0, 100),
  low: isNumber,
  high: isNumber,
  symmetric: isFlag,
  smooth: isFlag,
};
const zoom = object({ zoom: within(1, MOST_ZOOM), row: within(0, 1), col: within(0, 1) });
const perPanel = (test: Test): Test => object(Object.fromEntries(PANELS.map((panel) => [panel, test])));

const fields: Record<keyof View, Test> = {
  dataset: orNull(isIndex),
  item: isIndex,
  cursor: object({ row: isIndex, col: isIndex }),
  detectors: listOf(isDetector),
  active: within(0, MOST_CHANNELS - 1),
  centres: listOf(object({ dataset: isIndex, row: isNumber, col: isNumber, radius: isNumber })),
  arrangement: oneOf("single", "grid", "rgb"),
  compared: listOf(isIndex),
  comparison: oneOf("side", "difference", "ratio"),
  linked: isFlag,
  order: listOf(isIndex),
  hidden: listOf(isIndex),
  starred: listOf(isIndex),
  patternSource: oneOf("cursor", "region"),
  reduction: oneOf("sum", "mean", "max"),
  region: orNull(isShape),
  spectrumOn: isFlag,
  spectrumWindow: oneOf("none", "hann"),
  angleUnit: oneOf("mrad", "1/A"),
  profile: orNull(object({ panel: oneOf(...PANELS), p0: isPoint, p1: isPoint, width: within(1, 1e6) })),
  display: object(Object.fromEntries(DISPLAYS.map((name) => [name, object(display)]))),
  zoom: perPanel(zoom),
  fps: within(0.1, 120),
  loop: isFlag,
  boomerang: isFlag,
  brushRadius: within(0.5, 1000),
};

/** The view of a state file. A field that is missing keeps its initial value; one that makes no sense is an Error that
 *  names it, so that nothing is restored by halves. */
export function fromStateFile(value: unknown): View {
  const file = value as Partial<StateFile> | null;
  if (typeof file !== "object" || file === null || typeof file.view !== "object" || file.view === null)
    throw new Error("this is no state of the viewer: it has no view");
  if (file.version !== 1) throw new Error(`a state of version ${String(file.version)}, expected 1`);
  const view = initialView();
  const given = file.view as unknown as Record<string, unknown>;
  for (const [name, test] of Object.entries(fields)) {
    if (!(name in given)) continue;
    // States from before there were several kinds of images hold the settings of the panels only.
    if (name === "display" && typeof given.display === "object") given.display = { ...view.display, ...given.display };
    if (!test(given[name])) throw new Error(`the state's "${name}" makes no sense: ${JSON.stringify(given[name]).slice(0, 80)}`);
    (view as unknown as Record<string, unknown>)[name] = structuredClone(given[name]);
  }
  return view;
}

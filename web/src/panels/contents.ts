// SPDX-License-Identifier: Apache-2.0
import { colourTable, type ColourTable } from "../display/colour_maps";
import { percentileRange } from "../display/histogram";
import { combinedPicture, pictureOf, type Picture } from "../display/picture";
import type { Layer } from "../display/renderer";
import type { Calibration } from "../display/scale_bar";
import { symmetricRange, type Range, type Stretch } from "../display/stretch";
import { isEmptyMask, nameOf, quantityOf, RGB, unitOf } from "../model/detectors";
import type { ScanStore } from "../model/scan_store";
import { CIRCLE, type Detector, type DisplayName, type DisplaySettings, type PanelName, type View } from "../model/view";
import { FrameKind, type Frame } from "../protocol/frame";
import type { Dataset } from "../protocol/scans";

/** One cell of a panel: a picture, or up to three that are its red, green and blue. */
export interface Content {
  label: string;
  pictures: Picture[];
  /** Cells with the same group share a range when contrast is linked. */
  group: string;
  /** Whose colours and contrast it has. */
  display: DisplayName;
  /** Of the values. */
  unit: string;
  /** The detector that made it, where it is one. */
  channel?: number;
  preview: boolean;
  /** What it shows, and why not what was asked for: it is an earlier picture. */
  stale?: string[];
}

type Read = (kind: number, dataset: number, channel?: number) => Frame | null;

/** What a panel shows now. Reads signals, so that an effect around it runs again when any of it changes. */
export function contentsOf(store: ScanStore, panel: PanelName): Content[] {
  const read: Read = (kind, dataset, channel) => store.frame(kind, dataset, channel).value;
  const shown = shownDatasets(store);
  if (panel === "image") return imageContents(store, shown, read);
  if (panel === "spectrum")
    return shown.slice(0, 1).flatMap((dataset) => {
      const channel = store.view.active.value;
      return single(read(FrameKind.spectrum, dataset.id, channel), `FFT of ${channel + 1}`, "spectrum", "");
    });
  const region = store.view.patternSource.value === "region";
  const kind = region ? FrameKind.reducedPattern : FrameKind.pattern;
  // The probe stands in one data set at a time, also when images of several are compared.
  const dataset = store.dataset.value;
  if (!dataset) return [];
  const label = region ? `${store.view.reduction.value} of the ${store.view.region.value ? "region" : "scan"}` : "";
  return single(read(kind, dataset.id), label, "pattern", unitOf(PLAIN, dataset), dataset.bad_pixels);
}

/** A sum over pixels, whatever they are. */
const PLAIN: Detector = { channel: 0, expr: "all", shape: null };

/** Whose colours and contrast the panel's controls are about: those of the picture that its histogram counts. */
export function displayName(store: ScanStore, panel: PanelName): DisplayName {
  if (panel !== "image") return panel;
  const { arrangement, comparison } = store.view;
  if (arrangement.value === "rgb") return "image";
  const quantity = store.quantity.value;
  return comparison.value !== "side" && quantity !== "angle" && shownDatasets(store).length > 1 ? comparison.value : quantity;
}

/** Images of one detector lie beside each other: a line of the panel holds that many images, or a multiple of it. */
export function besideEachOther(store: ScanStore, panel: PanelName): number {
  if (panel !== "image" || store.view.comparison.value !== "side") return 1;
  const count = shownDatasets(store).length;
  return count > 3 ? 2 : count;
}

export function shownDatasets(store: ScanStore): Dataset[] {
  const compared = store.view.compared.value;
  const several = compared.length > 1 ? store.listed.value.filter(({ id }) => compared.includes(id)) : [];
  if (several.length > 1) return several;
  return store.dataset.value ? [store.dataset.value] : [];
}

function single(frame: Frame | null, label: string, group: PanelName, unit: string, badPixels?: [number, number][]): Content[] {
  if (!frame) return [];
  return [{ label, pictures: [pictureOf(frame, badPixels)], group, display: group, unit, preview: frame.preview }];
}

function imageContents(store: ScanStore, shown: Dataset[], read: Read): Content[] {
  const { detectors, active, arrangement, comparison } = store.view;
  const all = detectors.value;
  const chosen = all.filter(({ channel }) => channel === active.value);
  const several = shown.length > 1;
  const label = (dataset: Dataset, detector: Detector) =>
    [all.length > 1 || several ? `${detector.channel + 1} ${nameOf(detector)}` : "", several ? dataset.label : ""].filter(Boolean).join(", ");
  const of = (dataset: Dataset, detector: Detector): Content[] => {
    const { channel } = detector;
    const frame = read(FrameKind.image, dataset.id, channel);
    const stale = frame ? staleWords(store, detector, frame) : undefined;
    // What an earlier detector measured has its colours and unit, until there is an image of this one.
    const measured = store.good.value[channel] ?? detector;
    const display = quantityOf(measured);
    const unit = unitOf(measured, dataset);
    const group = display === "image" ? `image/${channel}` : `${display}/${unit}`;
    return single(frame, label(dataset, detector), "image", unit).map((content) => ({ ...content, group, display, channel, stale }));
  };

  if (arrangement.value === "rgb") return shown.flatMap((dataset) => overlay(all.slice(0, 3).flatMap((one) => of(dataset, one))));
  const rows = arrangement.value === "grid" ? all : chosen;
  return rows.flatMap((detector) => {
    const cells = shown.flatMap((dataset) => of(dataset, detector));
    // A direction minus a direction is no direction.
    if (comparison.value === "side" || cells.length < 2 || cells[0].display === "angle") return cells;
    const picture = combinedPicture(cells[0].pictures[0], cells[1].pictures[0], comparison.value);
    if (!picture) return cells;
    const sign = comparison.value === "difference" ? "\u2212" : "/";
    const names = `${shown[0].label} ${sign} ${shown[1].label}`;
    const [{ channel, unit }] = cells;
    const difference = comparison.value === "difference";
    return [...cells, { label: names, pictures: [picture], group: comparison.value, display: comparison.value, unit: difference ? unit : "", channel, preview: false }];
  });
}

/** An image that is not of what was asked for: what it shows, and what is in the way. */
function staleWords(store: ScanStore, detector: Detector, frame: Frame): string[] | undefined {
  const failed = store.failed.value[detector.channel];
  const empty = isEmptyMask(detector);
  if (failed || empty) {
    const good = store.good.value[detector.channel];
    const shows = good ? `still ${nameOf(good)}` : "an earlier detector";
    return [shows, failed ? failed.message : "the mask is empty: paint on the pattern"];
  }
  const { failedItem, view } = store;
  if (failedItem.value === null || frame.dataset !== view.dataset.value || frame.item === view.item.value) return undefined;
  return [`still item ${frame.item + 1}`, failedItem.value];
}

function overlay(cells: Content[]): Content[] {
  const [first] = cells;
  if (!first) return [];
  const same = cells.filter(({ pictures: [{ rows, cols }] }) => rows === first.pictures[0].rows && cols === first.pictures[0].cols);
  const label = same.map((cell, i) => `${RGB[i].name} ${cell.label || "1"}`).join(", ");
  const stale = same.find((cell) => cell.stale)?.stale;
  return [{ label, pictures: same.map(({ pictures }) => pictures[0]), group: "rgb", display: "image", unit: first.unit, preview: false, stale }];
}

/** The range of each picture of each cell under these settings. */
export function rangesOf(contents: Content[], all: Record<DisplayName, DisplaySettings>, linked: boolean): Range[][] {
  const own = contents.map(({ pictures, display }) =>
    pictures.map((picture, k) => {
      if (display === "angle") return CIRCLE;
      const settings = all[display];
      // Of red, green and blue the range that can be set is that of the histogram: the first.
      const range =
        settings.contrast === "fixed" && k === 0 ? settings : percentileRange(picture.histogram.value, settings.lowPercent, settings.highPercent);
      return settings.symmetric ? symmetricRange(range) : range;
    }),
  );
  if (!linked) return own;
  return own.map((ranges, i) => {
    if (contents[i].group === "rgb" || all[contents[i].display].contrast === "fixed") return ranges;
    const group = own.filter((_, j) => contents[j].group === contents[i].group);
    return ranges.map((_, k) => ({
      low: Math.min(...group.map((other) => other[k].low)),
      high: Math.max(...group.map((other) => other[k].high)),
    }));
  });
}

const channelTables = new Map<number, ColourTable>();

/** Black to pure red, green or blue. */
function channelTable(index: number): ColourTable {
  let table = channelTables.get(index);
  if (!table) {
    table = Uint8Array.from({ length: 1024 }, (_, i) => (i % 4 === index ? i >> 2 : i % 4 === 3 ? 255 : 0));
    channelTables.set(index, table);
  }
  return table;
}

export function layersOf(content: Content, ranges: Range[], settings: DisplaySettings): Layer[] {
  const { gamma } = settings;
  const colours = tablesOf(content, settings);
  return content.pictures.map(({ values, rows, cols }, i) => ({
    values,
    rows,
    cols,
    mapping: { low: ranges[i].low, high: ranges[i].high, stretch: stretchOf(content.display, settings), gamma },
    colours: colours[i],
    cyclic: content.display === "angle",
  }));
}

/** A logarithm has no place for what is below zero, nor has a circle. */
export function isStretched(display: DisplayName): boolean {
  return display !== "deflection" && display !== "difference" && display !== "angle";
}

export function stretchOf(display: DisplayName, settings: DisplaySettings): Stretch {
  return isStretched(display) ? settings.stretch : "linear";
}

/** Angles always go round a circle. */
export function coloursOf(display: DisplayName, { map, reversed }: DisplaySettings): ColourTable {
  return colourTable(display === "angle" ? "phase" : map, reversed);
}

/** The colours of the pictures of a content, from low to high. */
export function tablesOf(content: Content, settings: DisplaySettings): ColourTable[] {
  return content.pictures.map((_, i) => (content.pictures.length > 1 ? channelTable(i) : coloursOf(content.display, settings)));
}

/** What the width of a panel's pixel is worth. */
export function calibrationOf(store: ScanStore, panel: PanelName): Calibration | null {
  const dataset = store.dataset.value;
  if (panel === "image") return dataset?.scan_step_nm ? { perPixel: dataset.scan_step_nm[1], unit: "nm" } : null;
  if (panel === "pattern") return angleOf(dataset, store.view.angleUnit.value);
  const step = spectrumStep(store);
  return step ? { perPixel: step[1], unit: "1/nm" } : null;
}

/** A pixel of the pattern as an angle, or as the spatial frequency that belongs to it; in the other unit where the file
 *  tells only that. */
function angleOf(dataset: Dataset | null, unit: View["angleUnit"]): Calibration | null {
  const known: Calibration[] = [];
  if (dataset?.pixel_mrad) known.push({ perPixel: dataset.pixel_mrad, unit: "mrad" });
  if (dataset?.pixel_per_angstrom) known.push({ perPixel: dataset.pixel_per_angstrom, unit: "1/\u00c5" });
  return (unit === "1/A" ? known.at(-1) : known[0]) ?? null;
}

/** Height of a panel's pixel divided by its width, in space or in spatial frequency. A scan without a step is taken to
 *  have square pixels. */
export function pixelAspectOf(store: ScanStore, panel: PanelName, content: Content | undefined): number {
  if (panel === "pattern" || !content) return 1;
  const [{ rows, cols }] = content.pictures;
  const [height, width] = panel === "image" ? (store.dataset.value?.scan_step_nm ?? [1, 1]) : (spectrumStep(store) ?? [1 / rows, 1 / cols]);
  const aspect = height / width;
  return Number.isFinite(aspect) && aspect > 0 ? aspect : 1;
}

export function spectrumStep(store: ScanStore): [number, number] | undefined {
  const step = store.spectrumReply.value?.step_per_nm;
  if (step === undefined || step === null) return undefined;
  return Array.isArray(step) ? step : [step, step];
}

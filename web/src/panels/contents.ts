// SPDX-License-Identifier: Apache-2.0
import { colourTable, type ColourTable } from "../display/colour_maps";
import { percentileRange } from "../display/histogram";
import { combinedPicture, pictureOf, type Picture } from "../display/picture";
import type { Layer } from "../display/renderer";
import type { Calibration } from "../display/scale_bar";
import { symmetricRange, type Range } from "../display/stretch";
import { isMoment, nameOf } from "../model/detectors";
import type { Store } from "../model/store";
import type { Detector, DisplaySettings, PanelName, View } from "../model/view";
import { FrameKind, type Frame } from "../protocol/frame";
import type { Dataset } from "../protocol/messages";

/** One cell of a panel: a picture, or up to three that are its red, green and blue. */
export interface Content {
  label: string;
  pictures: Picture[];
  /** Cells with the same group share a range when contrast is linked. */
  group: string;
  signed: boolean;
  preview: boolean;
}

type Read = (kind: number, dataset: number, channel?: number) => Frame | null;

/** What a panel shows now. Reads signals, so that an effect around it runs again when any of it changes. */
export function contentsOf(store: Store, panel: PanelName): Content[] {
  const read: Read = (kind, dataset, channel) => store.frame(kind, dataset, channel).value;
  const shown = shownDatasets(store);
  if (panel === "image") return imageContents(store, shown, read);
  if (panel === "spectrum")
    return shown.slice(0, 1).flatMap((dataset) => {
      const channel = store.view.active.value;
      return single(read(FrameKind.spectrum, dataset.id, channel), `FFT of ${channel + 1}`, "spectrum");
    });
  const region = store.view.patternSource.value === "region";
  const kind = region ? FrameKind.reducedPattern : FrameKind.pattern;
  // The probe stands in one data set at a time, also when images of several are compared.
  const dataset = store.dataset.value;
  if (!dataset) return [];
  const label = region ? `${store.view.reduction.value} of the ${store.view.region.value ? "region" : "scan"}` : "";
  return single(read(kind, dataset.id), label, "pattern", dataset.bad_pixels);
}

export function shownDatasets(store: Store): Dataset[] {
  const compared = store.view.compared.value;
  const several = compared.length > 1 ? store.listed.value.filter(({ id }) => compared.includes(id)) : [];
  if (several.length > 1) return several;
  return store.dataset.value ? [store.dataset.value] : [];
}

function single(frame: Frame | null, label: string, group: string, badPixels?: [number, number][]): Content[] {
  if (!frame) return [];
  return [{ label, pictures: [pictureOf(frame, badPixels)], group, signed: false, preview: frame.preview }];
}

function imageContents(store: Store, shown: Dataset[], read: Read): Content[] {
  const { detectors, active, arrangement, comparison } = store.view;
  const all = detectors.value;
  const chosen = all.filter(({ channel }) => channel === active.value);
  const several = shown.length > 1;
  const label = (dataset: Dataset, detector: Detector) =>
    [several ? dataset.label : "", all.length > 1 || several ? `${detector.channel + 1} ${nameOf(detector)}` : ""].filter(Boolean).join(", ");
  const of = (dataset: Dataset, detector: Detector): Content[] =>
    single(read(FrameKind.image, dataset.id, detector.channel), label(dataset, detector), `image/${detector.channel}`).map((content) => ({
      ...content,
      signed: isMoment(detector),
    }));

  if (arrangement.value === "rgb") return shown.flatMap((dataset) => overlay(all.slice(0, 3).flatMap((one) => of(dataset, one))));
  const rows = arrangement.value === "grid" ? all : chosen;
  return rows.flatMap((detector) => {
    const cells = shown.flatMap((dataset) => of(dataset, detector));
    if (comparison.value === "side" || cells.length < 2) return cells;
    const picture = combinedPicture(cells[0].pictures[0], cells[1].pictures[0], comparison.value);
    if (!picture) return cells;
    const sign = comparison.value === "difference" ? "\u2212" : "/";
    const names = `${shown[0].label} ${sign} ${shown[1].label}`;
    return [...cells, { label: names, pictures: [picture], group: comparison.value, signed: comparison.value === "difference", preview: false }];
  });
}

function overlay(cells: Content[]): Content[] {
  const [first] = cells;
  if (!first) return [];
  const same = cells.filter(({ pictures: [{ rows, cols }] }) => rows === first.pictures[0].rows && cols === first.pictures[0].cols);
  const letters = ["red", "green", "blue"];
  const label = same.map((cell, i) => `${letters[i]} ${cell.label || "1"}`).join(", ");
  return [{ label, pictures: same.map(({ pictures }) => pictures[0]), group: "rgb", signed: false, preview: false }];
}

/** The range of each picture of each cell under these settings. */
export function rangesOf(contents: Content[], settings: DisplaySettings, linked: boolean): Range[][] {
  const own = contents.map(({ pictures, signed }) =>
    pictures.map((picture) => {
      const range =
        settings.contrast === "fixed" ? settings : percentileRange(picture.histogram.value, settings.lowPercent, settings.highPercent);
      return settings.symmetric || (signed && settings.contrast === "auto") ? symmetricRange(range) : range;
    }),
  );
  if (!linked || settings.contrast === "fixed") return own;
  return own.map((ranges, i) => {
    const group = own.filter((_, j) => contents[j].group === contents[i].group);
    if (contents[i].group === "rgb") return ranges;
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
  const { stretch, gamma, map, reversed } = settings;
  return content.pictures.map(({ values, rows, cols }, i) => ({
    values,
    rows,
    cols,
    mapping: { low: ranges[i].low, high: ranges[i].high, stretch, gamma },
    colours: content.pictures.length > 1 ? channelTable(i) : colourTable(map, reversed),
  }));
}

/** What the width of a panel's pixel is worth. */
export function calibrationOf(store: Store, panel: PanelName): Calibration | null {
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
export function pixelAspectOf(store: Store, panel: PanelName, content: Content | undefined): number {
  if (panel === "pattern" || !content) return 1;
  const [{ rows, cols }] = content.pictures;
  const [height, width] = panel === "image" ? (store.dataset.value?.scan_step_nm ?? [1, 1]) : (spectrumStep(store) ?? [1 / rows, 1 / cols]);
  const aspect = height / width;
  return Number.isFinite(aspect) && aspect > 0 ? aspect : 1;
}

export function spectrumStep(store: Store): [number, number] | undefined {
  const step = store.spectrumReply.value?.step_per_nm;
  if (step === undefined || step === null) return undefined;
  return Array.isArray(step) ? step : [step, step];
}

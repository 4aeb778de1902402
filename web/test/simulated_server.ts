// SPDX-License-Identifier: Apache-2.0
import { FrameKind, type Values } from "../src/protocol/frame";
import type { PanelDescription, PanelPlace } from "../src/protocol/messages";
import type { Dataset, Memory } from "../src/protocol/scans";
import { contains, fromParams, ringAbout, SHAPE_KINDS, SHAPES, type Shape, type ShapeKind } from "../src/tools/shapes";
import { encodeFrame } from "./encode_frame";

type Send = (message: string | ArrayBuffer) => void;
type Args = Record<string, unknown>;

export interface Simulation {
  scan: [number, number];
  detector: [number, number];
  items: number;
  /** Items whose files are damaged. */
  broken: number[];
  /** Items that are there, but whose images cannot be made. */
  beamless: number[];
  datasets: number;
  /** Height and width of a scan pixel in nm. */
  step: [number, number];
  /** Whether the scan is still being loaded; SimulatedServer.loaded() ends it. */
  loading: boolean;
  memory: Memory;
  /** Command names in the order in which they came, and their arguments. */
  seen: string[];
  received: Args[];
  /** What answers the page that was opened last. */
  server: SimulatedServer | null;
}

export function simulation(change: Partial<Simulation> = {}): Simulation {
  return {
    scan: [128, 128],
    detector: [96, 96],
    items: 1,
    broken: [],
    beamless: [],
    datasets: 1,
    step: [0.05, 0.05],
    loading: false,
    memory: { resident: 3.1e8, budget: 8e9, peak: 4e8, process: 5e8 },
    seen: [],
    received: [],
    server: null,
    ...change,
  };
}

/** The layout that the program sends (server.test.ts compares). */
export const PANELS: PanelDescription[] = [
  panel("datasets", "Data set", "title"),
  panel("memory", "Memory", "top"),
  panel("image", "Real space"),
  panel("pattern", "Diffraction"),
  panel("spectrum", "FFT"),
  panel("profile", "Line profile"),
  panel("compare", "Data sets", "side"),
  panel("detectors", "Detectors", "side"),
  panel("centre", "Beam", "side"),
  panel("region", "Region of the scan", "side"),
  panel("arrangement", "Images and contrast", "side"),
  panel("data", "Data", "side"),
  panel("series", "Series", "bottom"),
  panel("export", "Export", "dialog"),
  panel("keys", "Help", "dialog"),
];

function panel(type: string, title: string, place?: PanelPlace): PanelDescription {
  return { id: type, type, title, ...(place && { place }) };
}

const RADIUS = 14;
export const DAMAGED = "/data/tilts/tilt_1_data_000001.h5: no such file; /entry/data/data_000001 of /data/tilts/tilt_1_master.h5 names it";

/** Enough of a server for looking at the page without one: patterns are a disk, a halo and a ring, each times a map of
 *  the scan, so that the image of any mask is three sums. */
export class SimulatedServer {
  private readonly maps: Float64Array[];
  private readonly parts: Float64Array[];
  private dataset = 0;
  private item = 0;
  private region: Shape | null = null;
  private reduction = "mean";
  private detectors = new Map<number, Args>();
  private spectrum: { channel: number; on: boolean } = { channel: 0, on: false };
  private cursor = { row: 0, col: 0 };
  private compared: number[] = [];
  private made = new Set<string>();

  constructor(
    private readonly what: Simulation,
    private readonly send: Send,
  ) {
    what.server = this;
    const [rows, cols] = what.scan;
    const lattice = (row: number, col: number) => {
      const [a, b] = [(2 * Math.PI * (col + 0.3 * row)) / 9.3, (2 * Math.PI * (row - 0.2 * col)) / 8.4];
      return Math.max(0, Math.cos(a) * Math.cos(b)) ** 3;
    };
    const thickness = (row: number, col: number) => 1 / (1 + Math.exp((Math.hypot(row - rows * 0.55, col - cols * 0.45) - rows * 0.36) / 3));
    const noise = (i: number, k: number) => ((Math.sin(i * 12.9898 + k * 78.233) * 43758.5453) % 1) * 0.05;
    const at = (of: (row: number, col: number) => number, k: number) =>
      Float64Array.from({ length: rows * cols }, (_, i) => Math.max(0, of(Math.floor(i / cols), i % cols) + noise(i, k)));
    this.maps = [
      at((row, col) => 1 - 0.35 * thickness(row, col) - 0.3 * thickness(row, col) * lattice(row, col), 1),
      at((row, col) => 0.15 + thickness(row, col) * (0.5 + lattice(row, col)), 2),
      at((row, col) => 0.05 + thickness(row, col), 3),
    ];
    const [height, width] = what.detector;
    const of = (value: (r: number) => number) =>
      Float64Array.from({ length: height * width }, (_, i) => value(Math.hypot(Math.floor(i / width) - height / 2, (i % width) - width / 2)));
    this.parts = [
      of((r) => 400 / (1 + Math.exp((r - RADIUS) / 0.8))),
      of((r) => 12 * Math.exp(-r / 22)),
      of((r) => 9 * Math.exp(-(((r - 34) / 2.5) ** 2)) + 4 * Math.exp(-(((r - 26) / 1.5) ** 2))),
    ];
  }

  start(): void {
    const shapes = SHAPE_KINDS.map((kind) => ({ name: kind, help: `What a ${SHAPES[kind].name} counts.` }));
    const panels = PANELS.map((panel) => (panel.id === "pattern" ? { ...panel, options: { shapes } } : panel));
    const state = { datasets: this.datasets(), memory: this.what.memory };
    this.send(JSON.stringify({ type: "page", protocol: "sonde.view.v1", client: 1, title: "scan_master.h5", view: "stem", panels, actions: [], state }));
  }

  receive(text: string): void {
    const { id, command, ...args } = JSON.parse(text) as Args & { id: number; command: string };
    this.what.seen.push(command);
    this.what.received.push(args);
    const reply = this.carryOut(id, command, args);
    if (reply) this.send(JSON.stringify({ type: "reply", id, command, ...reply }));
  }

  /** Something that happens by itself. */
  say(event: string, what: object): void {
    this.send(JSON.stringify({ type: "event", event, ...what }));
  }

  loaded(): void {
    this.what.loading = false;
    this.say("datasets", { datasets: this.datasets() });
  }

  private carryOut(id: number, command: string, args: Args): Args | null {
    // Before all of it is there single patterns can be looked at, and nothing else.
    if (this.what.loading && ["set_item", "set_detector", "set_scan_roi", "set_reduction"].includes(command)) return { waiting: true };
    if (command === "set_item") this.item = Number(args.item);
    const failed = this.what.broken.includes(this.item);
    if (failed && ["set_item", "set_detector", "set_position", "set_scan_roi", "set_reduction"].includes(command)) return { waiting: true, failed: DAMAGED };
    switch (command) {
      case "set_dataset":
        this.dataset = Number(args.dataset);
        this.sendAll(id);
        return {};
      case "set_item":
        this.sendPattern(id);
        if (this.what.beamless.includes(this.item)) {
          this.send(JSON.stringify({ type: "error", id, command, kind: "bad_input", message: "no disk was found in the mean pattern", hint: "give the centre" }));
          return null;
        }
        this.sendAll(id, args.reduced !== false);
        return {};
      case "set_position":
        this.cursor = { row: Number(args.row), col: Number(args.col) };
        this.sendPattern(id);
        return {};
      case "set_detector":
        return this.setDetector(id, args);
      case "set_scan_roi":
        this.region = args.shape ? fromParams(args.shape as ShapeKind, args.params as unknown[]) : null;
        this.sendReduced(id);
        return { positions: this.positions().length };
      case "set_reduction":
        this.reduction = String(args.reduction);
        this.sendReduced(id);
        return {};
      case "request_fft":
        this.spectrum = { channel: Number(args.channel), on: args.on === true };
        if (this.spectrum.on) this.sendSpectrum(id);
        return { step_per_nm: this.what.step.map((step, i) => 1 / (this.what.scan[i] * step)), peak: { row: this.what.scan[0] / 2, col: this.what.scan[1] / 2 + 14, frequency_per_nm: 2.19 } };
      case "line_profile":
        return this.sendProfile(id, args);
      case "find_centre":
        return { row: this.what.detector[0] / 2, col: this.what.detector[1] / 2, radius: RADIUS, rms: 0.1 };
      case "set_centre":
        this.sendAll(id);
        return {};
      case "save_state":
        return { state: { view: args.view } };
      case "load_state":
        return { view: (args.state as { view: unknown }).view };
      case "compare":
        this.compared = args.datasets as number[];
        this.each(() => {
          for (const channel of this.detectors.keys()) this.sendImage(id, channel);
        });
        return {};
      case "play":
      case "release":
      case "stats":
        return { freed: 1024 };
      default:
        this.send(JSON.stringify({ type: "error", id, command, kind: "bad_input", message: `no command is called "${command}"`, hint: "" }));
        return null;
    }
  }

  /** The frames of a command for each of the compared data sets, or for the current one. */
  private each(send: () => void): void {
    const current = this.dataset;
    for (const id of this.compared.length > 1 ? this.compared : [current]) {
      this.dataset = id;
      send();
    }
    this.dataset = current;
  }

  private setDetector(id: number, args: Args): Args | null {
    const channel = Number(args.channel);
    if (!args.shape && !args.expr) {
      this.detectors.delete(channel);
      return { channel, expr: null };
    }
    if (args.expr === "nonsense") {
      this.send(JSON.stringify({ type: "error", id, command: "set_detector", kind: "usage", message: 'nonsense: unknown name "nonsense"', hint: "known names are circle, annulus, bf" }));
      return null;
    }
    if (!isMoment(args) && this.area(args) === 0) {
      this.send(JSON.stringify({ type: "error", id, command: "set_detector", kind: "bad_input", message: `the detector ${String(args.shape)}(...) covers no good pixel`, hint: "coordinates are pixels after binning" }));
      return null;
    }
    this.detectors.set(channel, args);
    const key = JSON.stringify([this.dataset, this.item, args]);
    const cached = this.made.has(key);
    this.made.add(key);
    let area = 0;
    this.each(() => (area = this.sendImage(id, channel)));
    if (this.spectrum.on && this.spectrum.channel === channel) this.sendSpectrum(id);
    if (args.mask) {
      // The words are those of one half of the detector, whatever they are.
      const [rows, cols] = this.what.detector;
      this.sendFrame(FrameKind.mask, id, rows, cols, Float32Array.from({ length: rows * cols }, (_, q) => Number(q % cols < cols / 2)), channel);
    }
    const expr = args.expr ?? `${String(args.shape)}(${(args.params as number[]).flat().join()})`;
    return { channel, expr, area, path: "incremental", because: "few pixels changed", mask_hash: "0", compute_us: cached ? 0 : 310, cached };
  }

  /** Deflection of the beam at a scan position, in pixels: rows wave along rows, columns along columns. */
  deflection(i: number): [row: number, col: number] {
    const cols = this.what.scan[1];
    return [2 * Math.sin((2 * Math.PI * Math.floor(i / cols)) / 32), 1.5 * Math.cos((2 * Math.PI * (i % cols)) / 40)];
  }

  private moment(word: string): Float32Array {
    const mrad = 1.5;
    return Float32Array.from(this.maps[0], (_, i) => {
      const [row, col] = this.deflection(i);
      if (word === "com-angle") return Math.atan2(row, col);
      return mrad * (word === "com-row" ? row : word === "com-col" ? col : Math.hypot(row, col));
    });
  }

  private area(args: Args): number {
    const shape = args.shape ? fromParams(args.shape as ShapeKind, args.params as unknown[]) : this.preset(String(args.expr));
    const cols = this.what.detector[1];
    return this.parts[0].reduce((sum, _, q) => sum + Number(contains(shape, Math.floor(q / cols), q % cols)), 0);
  }

  private datasets(): Dataset[] {
    const { scan, detector, items } = this.what;
    return Array.from({ length: this.what.datasets }, (_, id) => ({
      id,
      label: id === 0 ? "scan_master.h5" : `scan_${id + 1}_master.h5`,
      source: `/data/scan_${id}`,
      error: null,
      loading: this.what.loading ? { stage: "opening", fraction: 0 } : null,
      items: Array.from({ length: items }, (_, i) => ({
        label: `tilt ${i * 2} deg`,
        path: `tilt_${i}_master.h5`,
        held: !this.what.broken.includes(i),
        error: this.what.broken.includes(i) ? DAMAGED : undefined,
      })),
      scan,
      detector,
      dtype: "u8",
      layout: "pixel-major",
      det_bin: 2,
      scan_bin: 1,
      scan_step_nm: this.what.step,
      pixel_mrad: 1.5,
      pixel_per_angstrom: 0.06,
      centre: { row: detector[0] / 2, col: detector[1] / 2, radius: RADIUS },
      bad_pixels: [[3, 16]],
      largest: 400,
      choices: [{ what: "layout", value: "pixel-major", because: "virtual images touch 7 % of the pixels" }],
    }));
  }

  private sendAll(id: number, withReduced = true): void {
    this.sendPattern(id);
    if (withReduced) this.sendReduced(id);
    for (const channel of this.detectors.keys()) this.sendImage(id, channel);
  }

  /** How the maps differ from item to item and from data set to data set. */
  private weights(): number[] {
    return [1 - 0.05 * this.item, 1 + 0.3 * this.item + 0.2 * this.dataset, 1 + 0.1 * this.dataset];
  }

  private sendFrame(kind: number, id: number, rows: number, cols: number, values: Values, channel = 0): void {
    let sum = 0;
    for (const value of values) sum += Number(value);
    this.send(encodeFrame({ kind, id, rows, cols, values, channel, dataset: this.dataset, item: this.item, preview: this.what.loading, final: !this.what.loading, sum }));
  }

  private pattern(positions: number[]): Float64Array {
    const weights = this.weights().map((weight, k) => weight * positions.reduce((sum, i) => sum + this.maps[k][i], 0));
    return this.parts[0].map((_, q) => weights.reduce((sum, weight, k) => sum + weight * this.parts[k][q], 0));
  }

  private sendPattern(id: number): void {
    const [rows, cols] = this.what.detector;
    const values = this.pattern([this.cursor.row * this.what.scan[1] + this.cursor.col]);
    this.sendFrame(FrameKind.pattern, id, rows, cols, Uint16Array.from(values, (value, i) => value * (1 + 0.25 * Math.sin(i * 99.1))));
  }

  private positions(): number[] {
    const [rows, cols] = this.what.scan;
    const all = Array.from({ length: rows * cols }, (_, i) => i);
    const { region } = this;
    return region ? all.filter((i) => contains(region, Math.floor(i / cols), i % cols)) : all;
  }

  private sendReduced(id: number): void {
    const [rows, cols] = this.what.detector;
    const positions = this.positions();
    const scale = this.reduction === "sum" ? 1 : 1 / Math.max(1, positions.length);
    this.sendFrame(FrameKind.reducedPattern, id, rows, cols, Float32Array.from(this.pattern(positions), (value) => value * scale));
  }

  private image(channel: number): { values: Float64Array; area: number } {
    const args = this.detectors.get(channel) ?? { expr: "bf" };
    const shape = args.shape ? fromParams(args.shape as ShapeKind, args.params as unknown[]) : this.preset(String(args.expr));
    const cols = this.what.detector[1];
    const sums = [0, 0, 0];
    let area = 0;
    for (let q = 0; q < this.parts[0].length; ++q) {
      if (!contains(shape, Math.floor(q / cols), q % cols)) continue;
      ++area;
      for (let k = 0; k < 3; ++k) sums[k] += this.parts[k][q];
    }
    const weights = this.weights();
    const values = this.maps[0].map((_, i) => sums.reduce((sum, part, k) => sum + part * weights[k] * this.maps[k][i], 0));
    return { values, area };
  }

  private sendImage(id: number, channel: number): number {
    const [rows, cols] = this.what.scan;
    const args = this.detectors.get(channel);
    if (args && isMoment(args)) {
      this.sendFrame(FrameKind.image, id, rows, cols, this.moment(String(args.expr)), channel);
      return this.parts[0].length;
    }
    const { values, area } = this.image(channel);
    this.sendFrame(FrameKind.image, id, rows, cols, Uint32Array.from(values), channel);
    return area;
  }

  private sendSpectrum(id: number): void {
    const [rows, cols] = this.what.scan;
    const peak = (row: number, col: number, u: number, v: number) => Math.exp(-((row - rows / 2 - v) ** 2 + (col - cols / 2 - u) ** 2) / 2);
    const values = Float32Array.from({ length: rows * cols }, (_, i) => {
      const [row, col] = [Math.floor(i / cols), i % cols];
      const spots = [[0, 0], [14, 4], [-14, -4], [-3, 15], [3, -15], [11, 19], [-11, -19]].reduce((sum, [u, v]) => sum + peak(row, col, u, v), 0);
      return 1e4 * spots + 50 * (1 + Math.sin(i * 12.9898) * 0.9);
    });
    this.sendFrame(FrameKind.spectrum, id, rows, cols, values, this.spectrum.channel);
  }

  private sendProfile(id: number, args: Args): Args {
    const [p0, p1] = [args.p0 as number[], args.p1 as number[]];
    const length = Math.hypot(p1[0] - p0[0], p1[1] - p0[1]);
    const { values } = this.image(Number(args.channel));
    const count = Math.max(2, Math.ceil(length) + 1);
    const [rows, cols] = this.what.scan;
    const along = Float32Array.from({ length: count }, (_, i) => {
      const row = Math.min(rows - 1, Math.max(0, Math.round(p0[0] + ((p1[0] - p0[0]) * i) / (count - 1))));
      const col = Math.min(cols - 1, Math.max(0, Math.round(p0[1] + ((p1[1] - p0[1]) * i) / (count - 1))));
      return values[row * cols + col];
    });
    this.sendFrame(FrameKind.profile, id, 1, count, along, Number(args.channel));
    return { length: length * 0.05, unit: "nm", step: 0.05, fwhm: 0.21 };
  }

  private preset(name: string): Shape {
    const [row, col] = this.what.detector.map((size) => size / 2);
    const ring = (rIn: number, rOut: number): Shape => ringAbout(row, col, rIn * RADIUS, rOut * RADIUS);
    return { abf: ring(0.5, 1), adf: ring(1, 2), haadf: ring(2, 4) }[name] ?? ring(0, 1);
  }
}

const isMoment = ({ expr }: Args) => String(expr).startsWith("com-");

// SPDX-License-Identifier: Apache-2.0
import { batch } from "@preact/signals";

import { formatBytes } from "../display/readout";
import { WHOLE } from "../display/viewport";
import { freeChannel, MOMENTS, momentOf, shapeOf } from "../model/detectors";
import type { ScanSession } from "../model/scan_session";
import type { Detector, DisplayName, DisplaySettings, PanelName, ProfileLine } from "../model/view";
import type { Dataset } from "../protocol/scans";
import { converted, grown, hollowed, middle, moved, type Point, type Shape, type ShapeKind } from "../tools/shapes";

/** What a hand, a key or a button can do. Each changes the state and tells the server. */
export class Actions {
  constructor(readonly scan: ScanSession) {}

  get store() {
    return this.scan.store;
  }
  get session() {
    return this.scan.session;
  }
  private get view() {
    return this.scan.store.view;
  }

  // Real space

  moveCursor(row: number, col: number): void {
    const scan = this.store.dataset.peek()?.scan;
    if (!scan) return;
    const within = (value: number, count: number) => Math.min(count - 1, Math.max(0, Math.round(value)));
    const next = { row: within(row, scan[0]), col: within(col, scan[1]) };
    const now = this.view.cursor.peek();
    batch(() => {
      this.view.patternSource.value = "cursor";
      this.view.cursor.value = next;
    });
    if (next.row !== now.row || next.col !== now.col || !this.hasPattern()) this.scan.sendPosition();
    this.afterPattern();
  }

  stepCursor(rows: number, cols: number): void {
    const { row, col } = this.view.cursor.peek();
    this.moveCursor(row + rows, col + cols);
  }

  setRegion(region: Shape | null): void {
    batch(() => {
      this.view.region.value = region;
      this.view.patternSource.value = "region";
    });
    this.scan.sendRegion();
    this.afterPattern();
  }

  /** A region of this kind in the middle of the scan, or the one there is as another kind. */
  chooseRegion(kind: ShapeKind | null): void {
    const scan = this.store.dataset.peek()?.scan;
    if (!scan) return;
    if (!kind) return this.setRegion(null);
    const size = Math.max(1, Math.round(Math.min(...scan) / 6));
    const start: Point = [(scan[0] - 1) / 2, (scan[1] - 1) / 2];
    this.setRegion(converted(this.view.region.peek() ?? start, kind, size));
    this.setTool("image", "region");
  }

  setReduction(reduction: "sum" | "mean" | "max"): void {
    batch(() => {
      this.view.reduction.value = reduction;
      this.view.patternSource.value = "region";
    });
    this.scan.sendReduction();
    this.afterPattern();
  }

  // Detectors

  setDetector(change: { expr: string } | { shape: Shape }): void {
    const channel = this.view.active.peek();
    this.view.detectors.value = this.view.detectors
      .peek()
      .map((one) => (one.channel === channel ? { channel, expr: null, shape: null, ...change } : one));
    this.scan.sendDetector(channel);
    this.afterImage();
  }

  /** The active detector's shape, with this change. */
  reshape(change: (shape: Shape) => Shape): void {
    const shape = this.activeShape();
    if (shape) this.setDetector({ shape: change(shape) });
  }

  activeShape(): Shape | null {
    const detector = this.store.activeDetector.peek();
    return detector && shapeOf(detector, this.store.centre.peek());
  }

  chooseShape(kind: ShapeKind): void {
    const detector = this.store.dataset.peek()?.detector;
    if (!detector) return;
    const centre = this.store.centre.peek();
    const size = centre?.radius ?? Math.min(...detector) / 8;
    const start: Point = [centre?.row ?? (detector[0] - 1) / 2, centre?.col ?? (detector[1] - 1) / 2];
    this.setTool("pattern", "move");
    this.setDetector({ shape: converted(this.activeShape() ?? start, kind, size) });
  }

  moveDetector(rows: number, cols: number): void {
    this.reshape((shape) => moved(shape, rows, cols));
  }
  growDetector(by: number): void {
    this.reshape((shape) => grown(shape, by));
  }
  hollowDetector(by: number): void {
    this.reshape((shape) => hollowed(shape, by));
  }

  addDetector(): void {
    const channel = freeChannel(this.view.detectors.peek());
    if (channel === null) return;
    batch(() => {
      this.view.detectors.value = [...this.view.detectors.peek(), { channel, expr: channel === 1 ? "adf" : "haadf", shape: null }];
      this.view.active.value = channel;
      if (this.view.arrangement.peek() === "single") this.view.arrangement.value = "grid";
    });
    this.scan.sendDetector(channel);
    this.afterActivation();
  }

  /** The deflection of the beam as row, column, magnitude and angle beside each other: what is missing of them is added
   *  while there are channels. */
  showMoments(): void {
    const added: Detector[] = [];
    const all = () => [...this.view.detectors.peek(), ...added];
    for (const { name } of MOMENTS) {
      const channel = all().some((one) => momentOf(one) === name) ? null : freeChannel(all());
      if (channel !== null) added.push({ channel, expr: name, shape: null });
    }
    batch(() => {
      this.view.detectors.value = all();
      this.view.arrangement.value = "grid";
    });
    for (const { channel } of added) this.scan.sendDetector(channel);
  }

  /** What was refused is let go of: the detector before it, which is shown, is what was wanted. */
  dismissFailure(channel: number): void {
    const { [channel]: _, ...rest } = this.store.failed.peek();
    this.store.failed.value = rest;
  }

  removeDetector(channel: number): void {
    const rest = this.view.detectors.peek().filter((one) => one.channel !== channel);
    if (rest.length === 0) return;
    const wasActive = this.view.active.peek() === channel;
    batch(() => {
      this.view.detectors.value = rest;
      if (wasActive) this.view.active.value = rest[0].channel;
    });
    this.dismissFailure(channel);
    this.scan.sendDetector(channel);
    if (wasActive) this.afterActivation();
  }

  activate(channel: number): void {
    if (this.view.active.peek() === channel) return;
    this.view.active.value = channel;
    this.afterActivation();
  }

  // Beam centre

  async findCentre(): Promise<void> {
    try {
      const reply = await this.session.request("find_centre");
      const [row, col, radius] = [reply.row, reply.col, reply.radius].map(Number);
      const id = this.view.dataset.peek();
      batch(() => {
        this.view.centres.value = this.view.centres.peek().filter(({ dataset }) => dataset !== id);
        this.store.datasets.value = this.store.datasets.peek().map((one) => (one.id === id ? { ...one, centre: { row, col, radius } } : one));
      });
      this.afterImage();
      this.store.shared.spoken.value = `centre at row ${row.toFixed(2)}, column ${col.toFixed(2)}, radius ${radius.toFixed(2)}`;
    } catch (problem) {
      this.session.confusion(problem);
    }
  }

  setCentre(row: number, col: number, radius: number): void {
    const dataset = this.view.dataset.peek();
    if (dataset === null) return;
    this.view.centres.value = [...this.view.centres.peek().filter((one) => one.dataset !== dataset), { dataset, row, col, radius }];
    this.scan.sendCentre(row, col, radius);
    this.afterImage();
  }

  // Display

  display(name: DisplayName, change: Partial<DisplaySettings>): void {
    const all = this.view.display.peek();
    this.view.display.value = { ...all, [name]: { ...all[name], ...change } };
  }

  resetZoom(panel: PanelName): void {
    this.view.zoom.value = { ...this.view.zoom.peek(), [panel]: WHOLE };
  }

  setTool(panel: PanelName, tool: "move" | "region" | "centre" | "line" | "pan"): void {
    this.store.tool.value = { ...this.store.tool.peek(), [panel]: tool };
    this.store.focus.value = panel;
  }

  setProfile(profile: ProfileLine | null): void {
    this.view.profile.value = profile;
    if (profile) this.scan.sendProfile();
    else this.store.profileReply.value = null;
  }

  setSpectrum(on: boolean, spectrumWindow = this.view.spectrumWindow.peek()): void {
    batch(() => {
      this.view.spectrumOn.value = on;
      this.view.spectrumWindow.value = spectrumWindow;
    });
    this.scan.sendSpectrum();
  }

  // Data sets and series

  chooseDataset(id: number): void {
    const next = this.store.datasets.peek().find((one) => one.id === id);
    if (!next || id === this.view.dataset.peek()) return;
    this.setPlaying(false);
    batch(() => {
      this.view.dataset.value = id;
      this.view.item.value = 0;
      if (next.scan) {
        const { row, col } = this.view.cursor.peek();
        this.view.cursor.value = { row: Math.min(row, next.scan[0] - 1), col: Math.min(col, next.scan[1] - 1) };
      }
    });
    this.scan.sendAll();
  }

  async open(path: string): Promise<void> {
    try {
      const { dataset } = await this.session.request("open", { path });
      this.chooseDataset(Number(dataset));
    } catch (problem) {
      this.session.confusion(problem);
    }
  }

  setCompared(ids: number[]): void {
    this.view.compared.value = ids;
    this.session.send("compare", { datasets: ids });
  }

  /** Places a data set before or after its neighbour in the list. */
  reorder(id: number, by: -1 | 1): void {
    const ids = this.store.listed.peek().map((one) => one.id);
    const from = ids.indexOf(id);
    const to = from + by;
    if (to < 0 || to >= ids.length) return;
    [ids[from], ids[to]] = [ids[to], ids[from]];
    this.view.order.value = ids;
  }

  toggle(list: "hidden" | "starred", id: number): void {
    const now = this.view[list].peek();
    this.view[list].value = now.includes(id) ? now.filter((one) => one !== id) : [...now, id];
  }

  /** Looks at an item by hand, which ends playing: else it would go on from there at once. */
  chooseItem(item: number): void {
    this.setPlaying(false);
    this.setItem(item);
  }

  setPlaying(on: boolean): void {
    const { store } = this;
    if (on === store.playing.peek() || (store.dataset.peek()?.items?.length ?? 0) < 2) return;
    store.playing.value = on;
    const { fps, loop, boomerang } = store.view;
    this.session.send("play", { playing: on, fps: fps.peek(), loop: loop.peek(), boomerang: boomerang.peek() });
  }

  setItem(item: number): void {
    const count = this.store.dataset.peek()?.items?.length ?? 1;
    const next = Math.min(count - 1, Math.max(0, item));
    if (next === this.view.item.peek()) return;
    this.view.item.value = next;
    this.scan.sendItem();
    this.afterImage();
    this.afterPattern();
  }

  async release(dataset: Dataset, item?: number): Promise<void> {
    try {
      const { freed } = await this.session.request("release", { dataset: dataset.id, item });
      const label = item === undefined ? dataset.label : (dataset.items?.[item]?.label ?? dataset.label);
      this.store.shared.note.value = { text: `released ${formatBytes(Number(freed))} of ${label}`, serious: false };
    } catch (problem) {
      this.session.confusion(problem);
    }
  }

  /** What is made of the active detector's image. */
  private afterActivation(): void {
    if (this.view.spectrumOn.peek()) this.scan.sendSpectrum();
    this.afterImage();
  }

  /** What lies on an image that changes: a profile across it. */
  private afterImage(): void {
    const profile = this.view.profile.peek();
    if (profile && profile.panel !== "pattern") this.scan.sendProfile();
  }

  private afterPattern(): void {
    if (this.view.profile.peek()?.panel === "pattern") this.scan.sendProfile();
  }

  private hasPattern(): boolean {
    const id = this.view.dataset.peek();
    return id !== null && this.store.frame(1, id).peek() !== null;
  }
}

export function describePlace(shape: Shape): string {
  const [row, col] = middle(shape);
  return `row ${row.toFixed(1)}, column ${col.toFixed(1)}`;
}

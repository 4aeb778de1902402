// SPDX-License-Identifier: Apache-2.0
import { effect, signal, type Signal } from "@preact/signals";

import { CpuRenderer } from "../display/cpu_renderer";
import { GlRenderer } from "../display/gl_renderer";
import { fitted } from "../display/reduce";
import type { Cell, Drawing, Renderer } from "../display/renderer";
import type { Range } from "../display/stretch";
import { contains, grid, place, toData, type Place, type Placement } from "../display/viewport";
import { isWorded } from "../model/detectors";
import type { ScanStore } from "../model/scan_store";
import type { PanelName } from "../model/view";
import { besideEachOther, contentsOf, displayName, layersOf, pixelAspectOf, rangesOf, type Content } from "./contents";
import { FrameKind } from "../protocol/frame";
import { drawAnnotations } from "./annotations";
import { Overlay } from "./overlay";
import { requestPaint } from "./painter";

const GAP = 4;

/** One panel's images: the canvas with colours, the canvas with lines above it, and where everything lies. */
export class Stage {
  contents: Content[] = [];
  ranges: Range[][] = [];
  placements: Placement[] = [];
  readonly hover: Signal<(Place & { cell: number }) | null> = signal(null);
  /** The cell that the histogram is about: the comparison, else that of the active detector, else the first. */
  shown: Content | undefined;
  /** Its range. */
  readonly range: Signal<Range> = signal({ low: 0, high: 1 });
  /** What earlier pictures show and why they are there, for those who do not see the words on them. */
  readonly earlier: Signal<string> = signal("");
  renderer: Renderer;
  private overlay: Overlay;
  private ratio = 1;
  private pixelAspect = 1;
  private together = 1;
  /** What collect() reads has changed. */
  private changed = false;
  /** What collect() last found, part by part. */
  private found: unknown[] = [];
  private stale = true;
  private linesStale = true;
  /** Where the images lie and what is written on them, as the lines were drawn for. */
  private layout = "";
  private unwatch: (() => void) | null = null;
  private readonly stop: () => void;
  private readonly observer: ResizeObserver;
  private readonly draw = () => this.paint();
  private readonly lightScheme = matchMedia("(prefers-color-scheme: light)");

  constructor(
    readonly store: ScanStore,
    readonly panel: PanelName,
    readonly base: HTMLCanvasElement,
    readonly lines: HTMLCanvasElement,
    private readonly drawing: Drawing,
  ) {
    this.renderer = this.createGl() ?? new CpuRenderer(base);
    const context = lines.getContext("2d");
    if (!context) throw new Error("this browser has no Canvas2D");
    this.overlay = new Overlay(context, 1);
    this.observer = new ResizeObserver(() => this.resize(context));
    this.observer.observe(lines);
    this.resize(context);
    base.addEventListener("webglcontextlost", (event) => event.preventDefault());
    base.addEventListener("webglcontextrestored", () => {
      this.renderer = this.createGl() ?? this.renderer;
      this.repaint();
    });
    this.watch();
    const stopLines = effect(() => {
      this.watchLines();
      this.linesStale = true;
      requestPaint(this.draw);
    });
    this.stop = () => {
      this.unwatch?.();
      stopLines();
    };
  }

  dispose(): void {
    this.stop();
    this.observer.disconnect();
  }

  /** The cell and the place in it under a point of the panel, in CSS pixels from its corner. */
  at(x: number, y: number): (Place & { cell: number; placement: Placement }) | null {
    const [px, py] = [x * this.ratio, y * this.ratio];
    const cell = this.placements.findIndex(({ box }) => contains(box, px, py));
    if (cell < 0) return null;
    return { ...toData(this.placements[cell], px, py), cell, placement: this.placements[cell] };
  }

  /** Size of a CSS pixel in data pixels, the larger of both where these are not square. */
  reach(placement: Placement): number {
    return this.ratio / Math.min(placement.scale, placement.rowScale);
  }

  get pixelRatio(): number {
    return this.ratio;
  }

  private resize(context: CanvasRenderingContext2D): void {
    this.ratio = window.devicePixelRatio || 1;
    const width = Math.max(1, Math.round(this.lines.clientWidth * this.ratio));
    const height = Math.max(1, Math.round(this.lines.clientHeight * this.ratio));
    for (const canvas of [this.base, this.lines]) {
      if (canvas.width !== width) canvas.width = width;
      if (canvas.height !== height) canvas.height = height;
    }
    this.overlay = new Overlay(context, this.ratio);
    this.linesStale = true;
    this.repaint();
  }

  private createGl(): Renderer | null {
    return this.drawing === "canvas" ? null : GlRenderer.create(this.base, this.drawing === "webgl");
  }

  private repaint(): void {
    this.stale = true;
    requestPaint(this.draw);
  }

  /** Collects now, and in the next frame to be drawn when anything has changed that was read: images may come faster than
   *  frames, and those that none shows cost nothing. */
  private watch(): void {
    this.unwatch?.();
    let collected = false;
    this.unwatch = effect(() => {
      // Called again it reads nothing, and so is not called any more until it is made anew.
      if (collected) {
        this.changed = true;
        requestPaint(this.draw);
      } else {
        collected = true;
        this.collect();
      }
    });
  }

  private collect(): void {
    const { store, panel } = this;
    const name = displayName(store, panel);
    const contents = contentsOf(store, panel);
    const pixelAspect = pixelAspectOf(store, panel, contents[0]);
    const together = besideEachOther(store, panel);
    const settings = store.view.display.value;
    const ranges = rangesOf(contents, settings, store.view.linked.value);
    const active = store.view.active.value;
    const cells = contents.flatMap(({ pictures, label, display, channel, preview, stale }) => [...pictures, label, display, channel, preview, stale?.join()]);
    const found = [name, active, settings, store.view.zoom.value, pixelAspect, together, ...cells, ...ranges.flat().flatMap(({ low, high }) => [low, high])];
    // A detector that moves changes the image only when there is one of its new place.
    if (found.length === this.found.length && found.every((part, i) => part === this.found[i])) return;
    this.found = found;
    this.contents = contents;
    this.pixelAspect = pixelAspect;
    this.together = together;
    this.ranges = ranges;
    this.stale = true;
    const ofActive = (kind: boolean) => contents.findIndex(({ display, channel }) => (!kind || display === name) && channel === active);
    const index = Math.max(0, ofActive(true) >= 0 ? ofActive(true) : ofActive(false));
    this.shown = contents[index];
    const range = ranges[index]?.[0];
    // Also without an image: read-out and histogram follow the range, and what they told of the last one must go.
    const { low, high } = range ?? this.range.peek();
    this.range.value = { low, high };
    this.earlier.value = contents.flatMap(({ label, stale }) => (stale ? [[label, ...stale].filter(Boolean).join(", ")] : [])).join("; ");
  }

  /** Reads everything that the lines show. */
  private watchLines(): void {
    const { store } = this;
    void [store.view.cursor.value, store.view.region.value, store.view.profile.value, store.tool.value];
    void [store.view.detectors.value, store.view.active.value, store.view.arrangement.value, store.centre.value, store.spectrumReply.value];
    void store.view.brushRadius.value;
    const dataset = store.dataset.value;
    if (this.panel === "pattern" && dataset)
      for (const one of store.view.detectors.value) if (isWorded(one)) void store.frame(FrameKind.mask, dataset.id, one.channel).value;
    void [this.hover.value, store.dataset.value, store.view.angleUnit.value];
  }

  private paint(): void {
    if (this.changed) this.watch();
    this.changed = false;
    if (this.stale) this.paintImages();
    this.stale = false;
    if (!this.linesStale) return;
    this.linesStale = false;
    this.overlay.clear();
    drawAnnotations(this.overlay, this, { tools: true });
  }

  private paintImages(): void {
    const { store, panel, base } = this;
    const settings = store.view.display.peek();
    const first = this.contents[0]?.pictures[0];
    const whole = { x: 0, y: 0, width: base.width, height: base.height };
    const boxes = first ? grid(whole, this.contents.length, first.cols / (first.rows * this.pixelAspect), GAP * this.ratio, this.together) : [];
    const zoom = store.view.zoom.peek()[panel];
    this.placements = this.contents.map(({ pictures: [{ rows, cols }] }, i) => place(rows, cols, boxes[i], zoom, this.pixelAspect));
    const cells: Cell[] = this.contents.map((content, i) => fitted({
      layers: layersOf(content, this.ranges[i], settings[content.display]),
      at: this.placements[i],
      // Between -pi and pi lies pi, not 0.
      smooth: settings[content.display].smooth && content.display !== "angle",
    }));
    this.renderer.draw(cells, this.lightScheme.matches ? [226, 230, 235] : [9, 11, 14]);
    // While a detector is dragged the image changes, but nothing above it.
    const layout = JSON.stringify([this.placements, this.contents.map(({ label, preview, stale }) => [label, preview, stale])]);
    this.linesStale ||= layout !== this.layout;
    this.layout = layout;
  }
}

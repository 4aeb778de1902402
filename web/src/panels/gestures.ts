// SPDX-License-Identifier: Apache-2.0
import { panBy, toData, zoomAbout, type Place, type Placement } from "../display/viewport";
import { shapeOf } from "../model/detectors";
import type { PanelName } from "../model/view";
import { delays } from "../measure/delays";
import { carried, clicked, dragged, grip, isPainted, jumpsFrom, painted, rectBetween, snapped, type Point, type Shape } from "../tools/shapes";
import type { Actions } from "./actions";
import type { Stage } from "./stage";

/** Of events that are not held back for an animation frame, one is followed in so many milliseconds: a mouse of 125 Hz with
 *  each, one of 1000 Hz with every sixth. */
const SHORTEST_STEP = 6;

/** How far from a handle a finger or a mouse may be, in CSS pixels: targets are 24 pixels wide. */
const REACH = 12;

type Drag = (place: Place, event: PointerEvent) => void;

/** Pointer, wheel and touch on a panel's images. */
export class Gestures {
  private drag: Drag | null = null;
  private pointers = new Map<number, { x: number; y: number }>();
  private placement: Placement | null = null;
  /** A finger that may be about to scroll the page: what it does once it is seen not to. */
  private undecided: { x: number; y: number; begin(): Drag } | null = null;
  /** The last place of the pointer that a drag followed, and when. */
  private followed = { x: NaN, y: NaN, at: 0 };
  /** Where the panel was on the screen at the last event that comes with a frame. Asking at every one (offsetX does) would
   *  lay out the words that have changed before the hand is followed. */
  private corner = { left: 0, top: 0 };

  constructor(
    private readonly stage: Stage,
    private readonly actions: Actions,
  ) {
    const { lines } = stage;
    lines.addEventListener("touchstart", (event) => this.claim(event), { passive: false });
    lines.addEventListener("pointerdown", (event) => delays.during(event, () => this.down(event)));
    lines.addEventListener("pointermove", (event) => delays.during(event, () => this.move(event)));
    // Where the browser has it (not over plain HTTP from another machine), it comes before the animation frame that
    // pointermove waits for. A page whose types are older does not know its name.
    lines.addEventListener("pointerrawupdate" as "pointermove", (event) => {
      if (this.drag && event.pointerType !== "touch" && this.pointers.size === 1 && event.timeStamp - this.followed.at >= SHORTEST_STEP) delays.during(event, () => this.follow(event));
    });
    lines.addEventListener("pointerup", (event) => this.up(event));
    lines.addEventListener("pointercancel", (event) => {
      this.undecided = null;
      this.up(event);
    });
    lines.addEventListener("pointerleave", () => (stage.hover.value = null));
    lines.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    lines.addEventListener("dblclick", () => actions.resetZoom(stage.panel));
    lines.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  private get store() {
    return this.stage.store;
  }
  private get panel(): PanelName {
    return this.stage.panel;
  }

  /** Of an event in CSS pixels from the panel's corner. */
  private at({ clientX, clientY }: PointerEvent): { x: number; y: number } {
    return { x: clientX - this.corner.left, y: clientY - this.corner.top };
  }

  private down(event: PointerEvent): void {
    this.corner = this.stage.lines.getBoundingClientRect();
    const { x, y } = this.at(event);
    const found = this.stage.at(x, y);
    this.pointers.set(event.pointerId, { x, y });
    this.stage.lines.setPointerCapture(event.pointerId);
    this.store.focus.value = this.panel;
    this.store.held.value = true;
    this.followed = { x: NaN, y: NaN, at: 0 };
    if (!found) return;
    this.placement = found.placement;
    this.undecided = null;
    if (this.pointers.size > 1) this.drag = null;
    else if (event.button !== 0 || this.store.tool.peek()[this.panel] === "pan") this.drag = this.panning(x, y);
    else if (event.pointerType === "touch" && this.scrolls() && !this.takes(found)) this.undecided = { x, y, begin: () => this.begin(found, event) };
    else this.drag = this.begin(found, event);
  }

  /** Whether fingers scroll the page from here, where nothing under them is taken. */
  private scrolls(): boolean {
    return getComputedStyle(this.stage.lines).touchAction !== "none";
  }

  /** Keeps the page from scrolling under a finger that takes something, and under two that zoom. */
  private claim(event: TouchEvent): void {
    if (!event.cancelable || !this.scrolls()) return;
    const { left, top } = this.stage.lines.getBoundingClientRect();
    const [{ clientX, clientY }] = event.targetTouches;
    const found = this.stage.at(clientX - left, clientY - top);
    if (event.targetTouches.length > 1 || (found && this.takes(found))) event.preventDefault();
  }

  /** Whether there is something at this place that a hand would move. Tools that draw take everything. */
  private takes(place: Place & { placement: Placement }): boolean {
    const tool = this.store.tool.peek()[this.panel];
    if (tool !== "move") return true;
    // A finger is wider than a pointer.
    const reach = 2 * REACH * this.stage.reach(place.placement);
    if (this.panel === "image") {
      const { row, col } = this.store.view.cursor.peek();
      return Math.hypot(row - place.row, col - place.col) <= reach;
    }
    if (this.panel !== "pattern") return false;
    const shapes = this.store.view.detectors.peek().map((detector) => shapeOf(detector, this.store.centre.peek()));
    return shapes.some((shape) => shape && (isPainted(shape) || grip(shape, place.row, place.col, reach) !== null));
  }

  private move(event: PointerEvent): void {
    this.corner = this.stage.lines.getBoundingClientRect();
    const { x, y } = this.at(event);
    if (this.pointers.size === 2 && this.pointers.has(event.pointerId)) return this.pinch(event.pointerId, x, y);
    const found = this.stage.at(x, y);
    this.stage.hover.value = found ? { cell: found.cell, row: found.row, col: found.col } : null;
    // Up and down is the browser's, which ends the pointer when it scrolls; what moves across is a drag.
    if (this.undecided && Math.abs(x - this.undecided.x) > Math.max(REACH, Math.abs(y - this.undecided.y))) this.decide();
    if (x !== this.followed.x || y !== this.followed.y) this.follow(event);
    if (this.pointers.has(event.pointerId)) this.pointers.set(event.pointerId, { x, y });
  }

  private decide(): void {
    this.drag = this.undecided?.begin() ?? null;
    this.undecided = null;
  }

  private follow(event: PointerEvent): void {
    if (!this.drag || !this.placement) return;
    const { x, y } = this.at(event);
    this.followed = { x, y, at: event.timeStamp };
    const ratio = this.stage.pixelRatio;
    this.drag(toData(this.placement, x * ratio, y * ratio), event);
  }

  private up(event: PointerEvent): void {
    const { x, y } = this.at(event);
    // It was lifted where it came down: a tap.
    if (this.undecided && Math.hypot(x - this.undecided.x, y - this.undecided.y) <= REACH) this.decide();
    this.undecided = null;
    // Where it was lifted: the last moves may have come closer together than they are followed.
    if (event.type === "pointerup") this.follow(event);
    this.pointers.delete(event.pointerId);
    this.drag = null;
    if (this.pointers.size > 0) return;
    this.store.held.value = false;
    this.actions.scan.settleFailed();
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const found = this.stage.at(event.offsetX, event.offsetY);
    if (!found) return;
    const ratio = this.stage.pixelRatio;
    const lines = event.deltaMode === 1 ? 30 : 1;
    this.zoom((now) => zoomAbout(now, found.placement, event.offsetX * ratio, event.offsetY * ratio, Math.exp(-event.deltaY * lines * 0.0015)));
  }

  private zoom(change: (now: { zoom: number; row: number; col: number }) => { zoom: number; row: number; col: number }): void {
    const { view } = this.store;
    const all = view.zoom.peek();
    view.zoom.value = { ...all, [this.panel]: change(all[this.panel]) };
  }

  private pinch(id: number, x: number, y: number): void {
    const [other] = [...this.pointers].filter(([key]) => key !== id).map(([, place]) => place);
    const before = this.pointers.get(id);
    this.pointers.set(id, { x, y });
    const found = this.stage.at((x + other.x) / 2, (y + other.y) / 2);
    if (!before || !found) return;
    const ratio = this.stage.pixelRatio;
    const factor = Math.hypot(x - other.x, y - other.y) / Math.max(1, Math.hypot(before.x - other.x, before.y - other.y));
    this.zoom((now) => {
      const moved = panBy(now, found.placement, ((x - before.x) / 2) * ratio, ((y - before.y) / 2) * ratio);
      return zoomAbout(moved, found.placement, ((x + other.x) / 2) * ratio, ((y + other.y) / 2) * ratio, factor);
    });
  }

  private panning(x: number, y: number): Drag {
    let last = { x, y };
    return (_, event) => {
      const ratio = this.stage.pixelRatio;
      const at = this.placement;
      const now = this.at(event);
      if (at) this.zoom((before) => panBy(before, at, (now.x - last.x) * ratio, (now.y - last.y) * ratio));
      last = now;
    };
  }

  private begin(place: Place & { placement: Placement }, event: PointerEvent): Drag {
    const tool = this.store.tool.peek()[this.panel];
    const reach = REACH * this.stage.reach(place.placement);
    if (tool === "line") return this.line(place, reach);
    if (this.panel === "image") return tool === "region" ? this.region(place, reach, event) : this.cursor(place);
    if (this.panel === "pattern") return tool === "centre" ? this.centre(place, reach) : this.detector(place, reach, event);
    return () => {};
  }

  private cursor(place: Place): Drag {
    const follow = ({ row, col }: Place) => this.actions.moveCursor(row, col);
    follow(place);
    return follow;
  }

  private region(place: Place, reach: number, event: PointerEvent): Drag {
    const region = this.store.view.region.peek();
    if (!region) {
      // The first drag opens a rectangle.
      return ({ row, col }) => this.actions.setRegion(rectBetween([place.row, place.col], [row, col]));
    }
    return this.reshaping(region, place, reach, event, (shape) => this.actions.setRegion(shape));
  }

  private detector(place: Place, reach: number, event: PointerEvent): Drag {
    const { view } = this.store;
    const centre = this.store.centre.peek();
    let shape = this.actions.activeShape();
    const onActive = shape && grip(shape, place.row, place.col, reach);
    // A detector that lies elsewhere is taken by touching it.
    if (!onActive && !isPainted(shape))
      for (const other of view.detectors.peek()) {
        const outline = shapeOf(other, centre);
        const touched = outline && grip(outline, place.row, place.col, reach / 2);
        if (other.channel === view.active.peek() || !touched) continue;
        this.actions.activate(other.channel);
        shape = outline;
        break;
      }
    if (!shape) return () => {};
    if (isPainted(shape)) return this.brushing(shape, place, event);
    return this.reshaping(shape, place, reach, event, (changed) => this.actions.setDetector({ shape: changed }));
  }

  /** Drags a handle or the body; from anywhere else the shape jumps under the pointer. */
  private reshaping(start: Shape, place: Place, reach: number, event: PointerEvent, set: (shape: Shape) => void): Drag {
    let shape = start;
    let from: Point = [place.row, place.col];
    const taken = grip(shape, place.row, place.col, reach);
    const changed = event.shiftKey && clicked(shape, taken, place.row, place.col);
    if (changed) {
      if (changed !== shape) set(changed);
      return () => {};
    }
    if (taken && taken !== "body") return ({ row, col }) => set((shape = dragged(shape, taken.handle, row, col)));
    const centre = jumpsFrom(shape);
    if (!taken && centre) {
      from = centre;
      set(carried(shape, from, [place.row, place.col]));
    }
    return ({ row, col }) => set(snapped(carried(shape, from, [row, col])));
  }

  private brushing(shape: Shape, place: Place, event: PointerEvent): Drag {
    const size = this.store.dataset.peek()?.detector;
    if (!size) return () => {};
    const erase = event.shiftKey || event.altKey;
    let last: Point = [place.row, place.col];
    const paint = ({ row, col }: Place) => {
      const to: Point = [row, col];
      shape = painted(shape, { size: { rows: size[0], cols: size[1] }, from: last, to, radius: this.store.view.brushRadius.peek(), erase });
      last = to;
      this.actions.setDetector({ shape });
    };
    paint(place);
    return paint;
  }

  private centre(place: Place, reach: number): Drag {
    const centre = this.store.centre.peek();
    const radius = centre?.radius ?? 10;
    if (centre) {
      const rim = Math.abs(Math.hypot(place.row - centre.row, place.col - centre.col) - radius) < reach;
      if (rim) return ({ row, col }) => this.actions.setCentre(centre.row, centre.col, Math.hypot(row - centre.row, col - centre.col));
    }
    const follow = ({ row, col }: Place) => this.actions.setCentre(row, col, radius);
    follow(place);
    return follow;
  }

  private line(place: Place, reach: number): Drag {
    const { panel } = this;
    const profile = this.store.view.profile.peek();
    const { rows, cols } = this.placement ?? { rows: 1, cols: 1 };
    const onImage = ({ row, col }: Place): Point => [clamped(row, rows - 1), clamped(col, cols - 1)];
    if (profile?.panel === panel) {
      for (const end of ["p0", "p1"] as const)
        if (Math.hypot(profile[end][0] - place.row, profile[end][1] - place.col) < reach)
          return (to) => this.actions.setProfile({ ...profile, [end]: onImage(to) });
    }
    const p0 = onImage(place);
    return (to) => {
      const p1 = onImage(to);
      if (Math.hypot(p1[0] - p0[0], p1[1] - p0[1]) >= 1) this.actions.setProfile({ panel, p0, p1, width: profile?.width ?? 1 });
    };
  }
}

function clamped(value: number, most: number): number {
  return Math.min(most, Math.max(0, value));
}

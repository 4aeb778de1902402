// SPDX-License-Identifier: Apache-2.0
import { colourOf, isWorded, shapeOf } from "../model/detectors";
import { FrameKind, type Frame } from "../protocol/frame";
import { runsOf, type Run } from "../tools/brush";
import { circleAbout, isPainted, maskOf } from "../tools/shapes";
import { calibrationOf } from "./contents";
import type { Overlay } from "./overlay";
import type { Stage } from "./stage";

/** Lines, names and the scale bar over a panel's images; without `tools` as in a picture that is taken away. */
export function drawAnnotations(overlay: Overlay, stage: Stage, options: { tools: boolean; scaleBar?: boolean; lines?: boolean }): void {
  const calibration = calibrationOf(stage.store, stage.panel);
  stage.placements.forEach((at, cell) => {
    overlay.within(at, () => {
      if (options.lines ?? true) drawLines(overlay, stage, cell, options.tools);
      if (calibration && (options.scaleBar ?? true)) overlay.scaleBar(at, calibration);
      const { label, preview, stale } = stage.contents[cell];
      const text = [label, preview ? "preview, still loading" : ""].filter(Boolean).join(", ");
      if (stale) overlay.veil(at, stale);
      if (text && (options.lines ?? true)) overlay.label(at, text);
    });
  });
}

const runsOfMasks = new WeakMap<Frame, Run[]>();

/** The pixels of a mask that count at all. */
function runsOfMask(frame: Frame): Run[] {
  let runs = runsOfMasks.get(frame);
  if (!runs) runsOfMasks.set(frame, (runs = runsOf(frame.values as Float32Array, frame.rows, frame.cols)));
  return runs;
}

function drawLines(overlay: Overlay, { store, panel, placements, hover }: Stage, cell: number, tools: boolean): void {
  const at = placements[cell];
  const { view } = store;
  const tool = store.tool.peek()[panel];
  const centre = store.centre.peek();
  if (panel === "image") {
    const region = view.region.peek();
    if (region) overlay.shape(at, region, "#7ee0c0", { name: "region", handles: tools && tool === "region", thick: true });
    overlay.crosshair(at, view.cursor.peek());
  }
  if (panel === "pattern") {
    const active = view.active.peek();
    const shown = { detectors: view.detectors.peek(), arrangement: view.arrangement.peek() };
    for (const detector of shown.detectors) {
      const shape = shapeOf(detector, centre);
      const chosen = detector.channel === active;
      if (shape)
        overlay.shape(at, shape, colourOf(detector.channel, shown), {
          name: String(detector.channel + 1),
          handles: tools && chosen && tool === "move",
          thick: chosen,
        });
      else if (isWorded(detector)) {
        const mask = store.dataset.peek() && store.frame(FrameKind.mask, store.dataset.peek()?.id ?? 0, detector.channel).peek();
        if (mask) overlay.shape(at, maskOf(runsOfMask(mask)), colourOf(detector.channel, shown), { name: String(detector.channel + 1), thick: chosen });
      }
    }
    if (centre && tool === "centre") {
      overlay.crosshair(at, centre, "#ffd866");
      if (centre.radius) overlay.shape(at, circleAbout(centre.row, centre.col, centre.radius), "#ffd866", { handles: tools });
    }
  }
  const peak = store.spectrumReply.peek()?.peak;
  if (panel === "spectrum" && peak) overlay.ring(at, peak, 9, "#ffd866");
  const over = hover.peek();
  const brush = tools && panel === "pattern" && tool === "move" && isPainted(store.activeDetector.peek()?.shape);
  if (brush && over?.cell === cell) overlay.brush(at, over, view.brushRadius.peek());
  const profile = view.profile.peek();
  if (profile?.panel === panel) overlay.line(at, profile.p0, profile.p1, profile.width);
  if (tools && over && over.cell !== cell) overlay.hair(at, over);
}

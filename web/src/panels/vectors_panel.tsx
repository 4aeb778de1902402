// SPDX-License-Identifier: Apache-2.0
import { useLayoutEffect, useRef } from "preact/hooks";

import { colourTable } from "../display/colour_maps";
import { paint } from "../display/paint";
import { formatNumber } from "../display/readout";
import { FrameKind } from "../protocol/frame";
import type { PanelDescription } from "../protocol/messages";
import { useViewer } from "./context";
import { shownRange } from "./frame_view";
import { AxesPicture, ROOM, SlicedPictures, type PictureOptions } from "./picture_panel";

/** Two arrays as a picture of vectors: their direction is a colour, their length its brightness. */
export function VectorsPanel({ panel }: { panel: PanelDescription }) {
  const { parts } = panel.options as unknown as PictureOptions;
  const { store } = useViewer();
  const wheel = useRef<HTMLCanvasElement>(null);
  const [x, y] = parts.map(({ channel }) => store.frame(FrameKind.image, 0, channel).value);
  // The second comes after the first: together they are of one answer.
  const both = x && y && x.values.length === y.values.length && x.id === y.id ? { x: x.values as Float32Array, y: y.values as Float32Array } : null;
  const lengths = both && both.x.map((value, i) => Math.hypot(value, both.y[i]));
  const longest = lengths ? shownRange(lengths)[1] : 0;
  useLayoutEffect(() => {
    if (!wheel.current) return;
    const side = 61;
    const middle = (side - 1) / 2;
    paint(wheel.current, side, side, (i) => {
      const [across, down] = [(i % side) - middle, Math.floor(i / side) - middle];
      return Math.hypot(across, down) <= middle ? colourOfVector(across, down, Math.hypot(across, down) / middle) : 0;
    });
  }, []);
  return (
    <SlicedPictures panel={panel}>
      {(axes) => (
        <AxesPicture
          title={panel.title}
          name=""
          unit={parts[0].unit}
          {...axes}
          picture={
            both &&
            y && {
              frame: y,
              range: [0, longest],
              colour: (i) => colourOfVector(both.x[i], both.y[i], longest > 0 ? lengths![i] / longest : 0),
              text: (i) => `(${formatNumber(both.x[i])}, ${formatNumber(both.y[i])})`,
            }
          }
          legend={({ width }) => (
            <text class="mark" x={ROOM.left + width + 12} y={ROOM.top + 100}>
              {longest > 0 ? `to ${formatNumber(longest)}` : ""}
            </text>
          )}
          beside={({ left, top, width }) => <canvas ref={wheel} class="wheel" aria-hidden="true" style={{ left, top, width: `${5.4 * parseFloat(width)}%`, height: "auto" }} />}
        />
      )}
    </SlicedPictures>
  );
}

/** As in memory, of a length between 0 and 1; what is not a number has none. */
export function colourOfVector(x: number, y: number, length: number): number {
  if (!Number.isFinite(x) || !Number.isFinite(y)) return 0;
  const table = colourTable("phase");
  const at = 4 * Math.round((255 * (Math.atan2(y, x) + Math.PI)) / (2 * Math.PI));
  const dimmed = (part: number) => Math.round(Math.min(1, length) * table[at + part]);
  return ((255 << 24) | (dimmed(2) << 16) | (dimmed(1) << 8) | dimmed(0)) >>> 0;
}

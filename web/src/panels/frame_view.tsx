// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

import { colourTable, type ColourMapName } from "../display/colour_maps";
import { paint } from "../display/paint";
import { scaleBar, type Calibration } from "../display/scale_bar";
import type { Frame } from "../protocol/frame";

/** The values between which a picture of them has its colours: those at half a percent from either end, of at most 4096
 *  that stand evenly apart. */
export function shownRange(values: ArrayLike<number>): [number, number] {
  const step = Math.max(1, Math.floor(values.length / 4096));
  const some: number[] = [];
  for (let i = 0; i < values.length; i += step) if (Number.isFinite(values[i])) some.push(values[i]);
  if (some.length === 0) return [0, 1];
  some.sort((a, b) => a - b);
  const at = (part: number) => some[Math.round(part * (some.length - 1))];
  return [at(0.005), at(0.995)];
}

interface Props {
  label: string;
  frame: Frame | null;
  colours: ColourMapName;
  calibration?: Calibration;
  unit?: string;
  /** What lies over the picture, and fills it. */
  children?: ComponentChildren;
}

/** A picture that follows its frame: contrast by itself, with a scale bar and the ends of the range in words. */
export function FrameView({ label, frame, colours, calibration, unit = "", children }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const range = frame ? shownRange(frame.values as Float32Array) : null;
  useLayoutEffect(() => {
    if (!canvas.current || !frame || !range) return;
    const values = frame.values as Float32Array;
    const table = new Uint32Array(colourTable(colours).buffer);
    const scale = 255 / (range[1] - range[0] || 1);
    paint(canvas.current, frame.rows, frame.cols, (i) => table[Math.min(255, Math.max(0, Math.round((values[i] - range[0]) * scale))) || 0]);
  }, [frame, colours]);
  const bar = frame && calibration ? scaleBar(calibration, 1, 0.3 * frame.cols) : null;
  const text = (value: number) => String(Number(value.toPrecision(3)));
  return (
    <figure class="live-image">
      <div class="ground">
        <div class="fit" style={{ "--ratio": frame ? frame.cols / frame.rows : 1 }}>
          <canvas ref={canvas} role="img" aria-label={label} />
          {children}
          {bar && frame && (
            <span class="scale" style={{ width: `${(100 * bar.pixels) / frame.cols}%` }}>
              {bar.label}
            </span>
          )}
        </div>
      </div>
      <figcaption>
        <span>{label}</span>
        {range && <span class="hint">{`${text(range[0])} to ${text(range[1])}${unit ? ` ${unit}` : ""}`}</span>}
      </figcaption>
    </figure>
  );
}

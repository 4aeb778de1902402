// SPDX-License-Identifier: Apache-2.0
import { useLayoutEffect, useRef } from "preact/hooks";

import { paint } from "../display/paint";
import { formatNumber } from "../display/readout";
import { FrameKind } from "../protocol/frame";
import type { PanelDescription } from "../protocol/messages";
import { useViewer } from "./context";
import { AxesPicture, SlicedPictures, type PictureOptions } from "./picture_panel";

/** A map whose values are colours, with the picture that explains them beside it. */
export function ColoursPanel({ panel }: { panel: PanelDescription }) {
  const { parts } = panel.options as unknown as PictureOptions;
  const { store } = useViewer();
  const legend = useRef<HTMLCanvasElement>(null);
  const frameOf = (name: string) => {
    const part = parts.find((one) => one.name === name);
    return part ? store.frame(FrameKind.image, 0, part.channel).value : null;
  };
  const [map, key, ...direction] = ["colours", "legend", "x", "y", "z"].map(frameOf);
  useLayoutEffect(() => {
    if (legend.current && key) paint(legend.current, key.rows, key.cols, (i) => colourOfNumber(key.values[i] as number, true));
  }, [key]);
  return (
    <SlicedPictures panel={panel}>
      {(axes) => (
        <AxesPicture
          title={panel.title}
          name=""
          unit=""
          {...axes}
          picture={map ? { frame: map, range: [0, 0], colour: (i) => colourOfNumber(map.values[i] as number), text: (i) => direction.map((one) => formatNumber(one?.values[i] ?? NaN)).join(" ") } : null}
          legend={() => null}
          beside={({ left, top, width }) => key && <canvas ref={legend} class="wheel" aria-hidden="true" style={{ left, top, width: `${5.4 * parseFloat(width)}%`, height: "auto" }} />}
        />
      )}
    </SlicedPictures>
  );
}

/** A map of whole numbers that are names: every one has a colour of its own, 0 none. */
export function LabelsPanel({ panel }: { panel: PanelDescription }) {
  const { parts } = panel.options as unknown as PictureOptions;
  const { store } = useViewer();
  const map = store.frame(FrameKind.image, 0, parts[0].channel).value;
  return (
    <SlicedPictures panel={panel}>
      {(axes) => (
        <AxesPicture
          title={panel.title}
          name=""
          unit=""
          {...axes}
          picture={map && { frame: map, range: [0, 0], colour: (i) => colourOfLabel(map.values[i] as number), text: (i) => (map.values[i] ? `${map.values[i]}` : "none") }}
          legend={() => null}
          beside={() => null}
        />
      )}
    </SlicedPictures>
  );
}

const opaque = (red: number, green: number, blue: number) => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;

/** As in memory, of red 65536 + green 256 + blue; white is seen through in a legend. */
export function colourOfNumber(number: number, legend = false): number {
  if (!Number.isFinite(number) || (legend && number === 0xffffff)) return 0;
  return opaque(number >> 16, (number >> 8) & 255, number & 255);
}

/** Names that follow each other are far apart on the circle of hues, and those of one hue differ in lightness. */
export function colourOfLabel(label: number): number {
  if (!(label > 0)) return 0;
  const hue = (label * 0.618034) % 1;
  const light = [0.55, 0.72, 0.4][label % 3] as number;
  const part = (shift: number) => {
    const at = (hue * 12 + shift) % 12;
    return Math.round(255 * (light - 0.75 * Math.min(light, 1 - light) * Math.max(-1, Math.min(at - 3, 9 - at, 1))));
  };
  return opaque(part(0), part(8), part(4));
}

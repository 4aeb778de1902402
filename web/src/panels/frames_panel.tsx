// SPDX-License-Identifier: Apache-2.0
import type { ColourMapName } from "../display/colour_maps";
import type { PanelDescription } from "../protocol/messages";
import { useViewer } from "./context";
import { FrameView } from "./frame_view";
import { MoveArrows, movesInWords, type Moves } from "./move_arrows";

interface PictureOptions {
  label: string;
  /** Of the frame that it shows. */
  kind: number;
  channel: number;
  colours: ColourMapName;
  unit: string;
  pixel?: number;
  pixel_unit?: string;
}

interface FramesOptions {
  frames?: PictureOptions[];
  /** Over the first picture. */
  moves?: Moves | null;
}

/** Pictures that follow their frames, side by side. */
export function FramesPanel({ panel }: { panel: PanelDescription }) {
  const { store } = useViewer();
  const { frames = [], moves } = (panel.options ?? {}) as FramesOptions;
  return (
    <>
      <div class="live-images">
        {frames.map(({ label, kind, channel, colours, unit, pixel, pixel_unit: of }, i) => {
          const frame = store.frame(kind, 0, channel).value;
          return (
            <FrameView key={channel} label={label} frame={frame} colours={colours} unit={unit} calibration={pixel ? { perPixel: pixel, unit: of ?? "" } : undefined}>
              {i === 0 && moves && frame && <MoveArrows moves={moves} rows={frame.rows} cols={frame.cols} />}
            </FrameView>
          );
        })}
      </div>
      {moves && <p class="hint moves">{movesInWords(moves)}</p>}
    </>
  );
}

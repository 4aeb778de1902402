// SPDX-License-Identifier: Apache-2.0
import { formatNumber, frequencyText, radiusText, scanCoordinates } from "../display/readout";
import type { ScanStore } from "../model/scan_store";
import { useScan } from "./scan";
import { calibrationOf, spectrumStep } from "./contents";
import { useLegible } from "./legible";
import type { Stage } from "./stage";

/** Place, exact value, and what the calibration makes of the place: under the pointer, else at the cursor. */
export function ReadoutLine({ stage }: { stage: Stage }) {
  const { store } = useScan();
  const text = useLegible(() => readout(store, stage), [stage]);
  // Lines break between the parts, not between a number and its unit.
  return (
    <p class="readout">
      {text.split(BETWEEN).map((part, i) => (
        <span key={i}>
          {i > 0 && BETWEEN}
          <span class="part">{part}</span>
        </span>
      ))}
    </p>
  );
}

const BETWEEN = "   ";

export function readout(store: ScanStore, stage: Stage): string {
  // The range changes with every frame; reading it makes this line follow.
  void stage.range.value;
  const over = stage.hover.value;
  const cursor = store.view.cursor.value;
  const place = over ?? (stage.panel === "image" ? { ...cursor, cell: Math.max(0, stage.contents.findIndex((one) => one === stage.shown)) } : null);
  const content = stage.contents[place?.cell ?? 0];
  if (!content) return "";
  if (!place) return total(stage);
  const row = Math.round(place.row);
  const col = Math.round(place.col);
  const values = content.pictures.map((picture) => picture.read(row, col));
  if (values[0] === undefined) return total(stage);
  const unit = content.unit === "counts" ? "" : content.unit;
  const read = values.map((value) => (value === undefined ? "outside" : formatNumber(value))).join(" / ");
  const parts = [`row ${row}`, `col ${col}`, [read, unit].filter(Boolean).join("\u2009")];
  parts.push(calibrated(store, stage, row, col));
  return parts.filter(Boolean).join(BETWEEN);
}

function calibrated(store: ScanStore, stage: Stage, row: number, col: number): string {
  const dataset = store.dataset.value;
  if (stage.panel === "image") return scanCoordinates(row, col, dataset?.scan_step_nm);
  if (stage.panel === "pattern") return radiusText(row, col, store.centre.value, calibrationOf(store, "pattern"));
  const frame = stage.contents[0]?.pictures[0].frame;
  return frame ? frequencyText(row, col, frame.rows, frame.cols, spectrumStep(store)) : "";
}

function total({ contents, panel }: Stage): string {
  const frame = contents[0]?.pictures[0].frame;
  // The sum of deflections or angles is no number of interest.
  if (!frame || panel === "spectrum" || contents[0].unit !== "counts") return "";
  return `${frame.rows} \u00d7 ${frame.cols}   sum ${formatNumber(frame.sum)}`;
}

// SPDX-License-Identifier: Apache-2.0
import type { Shape } from "../tools/shape";
import { NumberField } from "./controls";
import { useViewer } from "./context";

interface Props {
  shape: Shape;
  /** Milliradians of a pixel, for radii on the detector. */
  perPixel?: number;
  onChange(change: Partial<Shape>): void;
}

/** A shape's measures to read and to type. */
export function ShapeNumbers({ shape, perPixel: mrad, onChange: set }: Props) {
  const { store } = useViewer();
  const field = (label: string, value: number, name: string, least?: number) => (
    <NumberField key={name} label={label} value={value} least={least} step={1} onChange={(number) => set({ [name]: number })} />
  );
  const radii = (...values: number[]) => (mrad ? <p class="hint">{values.map((value) => `${(value * mrad).toFixed(1)} mrad`).join(" to ")}</p> : null);
  switch (shape.kind) {
    case "circle":
      return (
        <div class="numbers">
          {[field("row", shape.row, "row"), field("col", shape.col, "col"), field("r", shape.r, "r", 0.5)]}
          {radii(shape.r)}
        </div>
      );
    case "annulus":
      return (
        <div class="numbers">
          {[field("row", shape.row, "row"), field("col", shape.col, "col"), field("r in", shape.rIn, "rIn", 0), field("r out", shape.rOut, "rOut", 0.5)]}
          {radii(shape.rIn, shape.rOut)}
        </div>
      );
    case "segment":
      return (
        <div class="numbers">
          {[field("row", shape.row, "row"), field("col", shape.col, "col"), field("r in", shape.rIn, "rIn", 0), field("r out", shape.rOut, "rOut", 0.5)]}
          {[field("piece", shape.k, "k", 0), field("of", shape.n, "n", 1)]}
          <NumberField label="from" unit="deg" value={(shape.phi0 * 180) / Math.PI} step={5} onChange={(degrees) => set({ phi0: (degrees * Math.PI) / 180 })} />
        </div>
      );
    case "rect":
      return (
        <div class="numbers">
          {[field("row", shape.row0, "row0"), field("col", shape.col0, "col0"), field("to row", shape.row1, "row1"), field("to col", shape.col1, "col1")]}
        </div>
      );
    case "point":
      return <div class="numbers">{[field("row", shape.row, "row"), field("col", shape.col, "col")]}</div>;
    case "polygon":
      return <p class="hint">{`${shape.points.length} corners; Shift and click adds or removes one`}</p>;
    case "brush":
      return (
        <div class="numbers">
          <NumberField label="brush" unit="px" value={store.view.brushRadius.value} least={0.5} step={1} onChange={(radius) => (store.view.brushRadius.value = radius)} />
          <p class="hint">Shift wipes out</p>
        </div>
      );
  }
}

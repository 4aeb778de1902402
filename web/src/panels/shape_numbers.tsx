// SPDX-License-Identifier: Apache-2.0
import { isPainted, numbersOf, ROLES, toolsOf, type Shape } from "../tools/shapes";
import { NumberField } from "./controls";
import { useScan } from "./scan";

interface Props {
  shape: Shape;
  /** Milliradians of a pixel, for radii on the detector. */
  perPixel?: number;
  onChange(change: Partial<Shape>): void;
}

/** A shape's measures to read and to type, by the roles of its arguments. */
export function ShapeNumbers({ shape, perPixel: mrad, onChange: set }: Props) {
  const { store } = useScan();
  const numbers = numbersOf(shape);
  const lengths = numbers.filter(({ role }) => ROLES[role].length);
  const hint = toolsOf(shape).hint?.(shape);
  return (
    <div class="numbers">
      {numbers.map(({ field, role, value }) => {
        const { label, angle, least } = ROLES[role];
        return angle ? (
          <NumberField key={field} label={label} unit="deg" value={(value * 180) / Math.PI} step={5} onChange={(degrees) => set({ [field]: (degrees * Math.PI) / 180 })} />
        ) : (
          <NumberField key={field} label={label} value={value} least={least} step={1} onChange={(number) => set({ [field]: number })} />
        );
      })}
      {isPainted(shape) && <NumberField label="brush" unit="px" value={store.view.brushRadius.value} least={0.5} step={1} onChange={(radius) => (store.view.brushRadius.value = radius)} />}
      {mrad && lengths.length > 0 && <p class="hint">{lengths.map(({ role, value }) => `${ROLES[role].label} ${(value * mrad).toFixed(1)} mrad`).join(", ")}</p>}
      {hint && <p class="hint">{hint}</p>}
    </div>
  );
}

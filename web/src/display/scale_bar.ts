// SPDX-License-Identifier: Apache-2.0
/** A length in data units: what one pixel is worth. */
export interface Calibration {
  perPixel: number;
  unit: string;
}

/** Largest length 1, 2 or 5 times a power of ten that is at most `most`, which is positive. */
export function scaleBarLength(most: number): number {
  const decade = 10 ** Math.floor(Math.log10(most));
  // 1e-12: a length that is a step exactly stays that step in spite of rounding.
  for (const step of [10, 5, 2]) if (step * decade <= most * (1 + 1e-12)) return step * decade;
  return decade;
}

export interface ScaleBar {
  /** In pixels of the screen. */
  pixels: number;
  label: string;
}

/** Units that read better for a length: 0.5 nm as 5 A, 2000 nm as 2 um, 2000 mrad as 2 rad. */
function readable(length: number, unit: string): string {
  const text = (value: number) => String(Number(value.toPrecision(3)));
  if (unit === "nm" && length < 0.95) return `${text(length * 10)} \u00c5`;
  if (unit === "nm" && length >= 1000) return `${text(length / 1000)} \u00b5m`;
  if (unit === "mrad" && length >= 1000) return `${text(length / 1000)} rad`;
  return `${text(length)} ${unit}`;
}

/** The bar for a picture that shows a data pixel as `zoom` screen pixels and may take `most` of them. */
export function scaleBar({ perPixel, unit }: Calibration, zoom: number, most: number): ScaleBar | null {
  if (!(perPixel > 0) || !(zoom > 0) || !(most > 0)) return null;
  const length = scaleBarLength((most / zoom) * perPixel);
  return { pixels: (length / perPixel) * zoom, label: readable(length, unit) };
}

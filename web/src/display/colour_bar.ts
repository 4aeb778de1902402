// SPDX-License-Identifier: Apache-2.0
import type { ColourTable } from "./colour_maps";
import { axisNumber } from "./readout";
import { scaleBarLength } from "./scale_bar";
import { LOG_STRENGTH, position, type Mapping } from "./stretch";

/** Colours from low to high with numbers beside them, for pictures that are taken away. */
export interface ColourBar {
  mapping: Mapping;
  colours: ColourTable;
  unit: string;
}

export interface BarTick {
  /** From the low end (0) to the high end (1). */
  at: number;
  label: string;
}

/** Both ends, and round values between them that are not too near to an end or to each other. */
export function barTicks(mapping: Mapping): BarTick[] {
  const { low, high } = mapping;
  if (!(high > low)) return [{ at: 0.5, label: axisNumber(low, Math.abs(low)) }];
  const span = high - low;
  const ends: BarTick[] = [low, high].map((value, i) => ({ at: i, label: axisNumber(value, span) }));
  const between: BarTick[] = [];
  for (const value of roundValues(mapping)) {
    const at = position(value, mapping);
    const last = between[between.length - 1]?.at ?? 0;
    if (at - last >= 0.12 && 1 - at >= 0.12) between.push({ at, label: axisNumber(value, mapping.stretch === "log" ? value : span) });
  }
  return [ends[0], ...between, ends[1]];
}

/** Powers of ten where the low ones have room, else even steps; ascending. */
function roundValues({ low, high, stretch }: Mapping): number[] {
  if (stretch === "log" && low >= 0) {
    const least = Math.ceil(Math.log10(Math.max(low, (high - low) / LOG_STRENGTH)));
    return Array.from({ length: Math.max(0, Math.ceil(Math.log10(high)) - least) }, (_, i) => 10 ** (least + i));
  }
  const step = scaleBarLength((high - low) / 3);
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.max(0, Math.ceil(high / step) - first) }, (_, i) => (first + i) * step);
}

const INK = "#1b222a";

/** The widths that `drawColourBar` takes with letters of this height: of the gap before it, of the colours, and of all. */
export function barWidths(context: CanvasRenderingContext2D, bar: ColourBar, unit: number): { gap: number; colours: number; all: number } {
  context.font = font(unit);
  const [gap, colours] = [10 * unit, 14 * unit];
  const labels = [...barTicks(bar.mapping).map(({ label }) => label), bar.unit];
  const text = Math.max(...labels.map((label) => context.measureText(label).width));
  return { gap, colours, all: gap + colours + 7 * unit + text + 6 * unit };
}

function font(unit: number): string {
  return `${11 * unit}px system-ui, sans-serif`;
}

/** To the right of x, from `top` downwards, on light ground; the unit stands above the numbers. */
export function drawColourBar(context: CanvasRenderingContext2D, bar: ColourBar, x: number, top: number, height: number, unit: number): void {
  const { gap, colours } = barWidths(context, bar, unit);
  const left = x + gap;
  // The unit takes the first line, beside the bar's upper end.
  const from = top + (bar.unit ? 16 * unit : 0);
  const tall = top + height - from;
  for (let y = 0; y < tall; ++y) {
    const value = 1 - (y + 0.5) / tall;
    const at = 4 * Math.round(255 * value);
    context.fillStyle = `rgb(${bar.colours[at]}, ${bar.colours[at + 1]}, ${bar.colours[at + 2]})`;
    context.fillRect(left, from + y, colours, 1);
  }
  context.strokeStyle = INK;
  context.lineWidth = unit;
  context.strokeRect(left, from, colours, tall);
  context.fillStyle = INK;
  context.textAlign = "start";
  if (bar.unit) context.fillText(bar.unit, left, top + 11 * unit);
  for (const { at, label } of barTicks(bar.mapping)) {
    const y = from + (1 - at) * tall;
    context.beginPath();
    context.moveTo(left + colours, y);
    context.lineTo(left + colours + 4 * unit, y);
    context.stroke();
    // The outermost numbers stay within the picture.
    const baseline = Math.min(top + height - unit, Math.max(from + 8 * unit, y + 4 * unit));
    context.fillText(label, left + colours + 7 * unit, baseline);
  }
}

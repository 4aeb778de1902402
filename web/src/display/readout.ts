// SPDX-License-Identifier: Apache-2.0
import type { Frame } from "../protocol/frame";
import type { Centre } from "../protocol/scans";
import type { Calibration } from "./scale_bar";

const THIN_SPACE = "\u2009";
const MINUS = "\u2212";

function grouped(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+(?!\d))/g, THIN_SPACE);
}

/** With the sign that is as wide as a plus; the other one, in an exponent, is left. */
function signed(digits: string): string {
  return digits.replace(/^-/, MINUS);
}

/** Whole numbers with every digit, others with at most six. */
export function formatNumber(value: number | bigint): string {
  if (typeof value === "bigint") return grouped(value.toString());
  if (Number.isNaN(value)) return "no value";
  if (Number.isSafeInteger(value)) return (value < 0 ? MINUS : "") + grouped(String(Math.abs(value)));
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e6 || size < 1e-3)) return signed(value.toExponential(4));
  return signed(String(Number(value.toPrecision(6))));
}

/** A number beside an axis that covers `span`: as many digits as separate hundredths of it. */
export function axisNumber(value: number, span: number): string {
  const size = Math.abs(value);
  const place = span > 0 ? Math.floor(Math.log10(span)) : 0;
  if (size !== 0 && (size >= 1e7 || span < 1e-3)) {
    const digits = Math.min(15, Math.max(1, Math.floor(Math.log10(size)) - place + 2));
    return signed(value.toExponential(digits).replace(/\.?0+e/, "e"));
  }
  const digits = span > 0 ? Math.min(6, Math.max(0, 2 - place)) : 3;
  return signed(String(Number(value.toFixed(digits))));
}

/** The received number at a place, exact: beyond 2^53 as a BigInt. Undefined outside. */
export function valueOf(frame: Frame, row: number, col: number): number | bigint | undefined {
  if (row < 0 || col < 0 || row >= frame.rows || col >= frame.cols) return undefined;
  const value = frame.values[row * frame.cols + col];
  return typeof value === "bigint" && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
}

function length(value: number, unit: string): string {
  const size = Math.abs(value);
  return `${value.toFixed(size < 1 ? 3 : size < 10 ? 2 : 1)}${THIN_SPACE}${unit}`;
}

/** "x 1.20 nm, y 3.40 nm" of a scan pixel, when the step is known. */
export function scanCoordinates(row: number, col: number, step: [number, number] | undefined): string {
  if (!step) return "";
  return `x ${length(col * step[1], "nm")}, y ${length(row * step[0], "nm")}`;
}

/** Distance from the centre of the beam, as an angle or a frequency when that of a pixel is known, else in pixels. */
export function radiusText(row: number, col: number, centre: Centre | undefined, calibration: Calibration | null): string {
  if (!centre) return "";
  const pixels = Math.hypot(row - centre.row, col - centre.col);
  return `r ${calibration ? length(pixels * calibration.perPixel, calibration.unit) : length(pixels, "px")}`;
}

/** Frequency of a pixel of a Fourier transform whose zero is in the middle, at (rows >> 1, cols >> 1). */
export function frequencyText(row: number, col: number, rows: number, cols: number, step?: [number, number]): string {
  const v = (row - (rows >> 1)) * (step?.[0] ?? 1 / rows);
  const u = (col - (cols >> 1)) * (step?.[1] ?? 1 / cols);
  const size = Math.hypot(u, v);
  const unit = step ? "1/nm" : "1/px";
  const period = size > 0 ? `, d ${(1 / size).toPrecision(4)}${THIN_SPACE}${step ? "nm" : "px"}` : "";
  return `q ${size.toPrecision(4)}${THIN_SPACE}${unit}${period}`;
}

export function formatBytes(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    ++unit;
  }
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 2 : 1)}${THIN_SPACE}${units[unit]}`;
}

export function formatDuration(seconds: number): string {
  if (seconds < 1) return "less than 1 s";
  if (seconds < 60) return `${Math.round(seconds)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

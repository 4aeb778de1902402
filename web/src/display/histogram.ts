// SPDX-License-Identifier: Apache-2.0
import type { Range } from "./stretch";

export const BINS = 4096;

/** How often which values occur. Bin i stands for the value low + i (high - low) / 4095, so that counts up to 4095 have
 *  a bin each. */
export interface Histogram extends Range {
  counts: Uint32Array;
  /** Finite values; others are in no bin. */
  finite: number;
}

/** O(n), two passes. */
export function histogram(values: Float32Array): Histogram {
  let low = Infinity;
  let high = -Infinity;
  let finite = 0;
  for (let i = 0; i < values.length; ++i) {
    const value = values[i];
    // Not-a-number fails both comparisons, infinity is left out by the subtraction.
    if (value - value !== 0) continue;
    ++finite;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  const counts = new Uint32Array(BINS);
  if (finite === 0) return { low: 0, high: 1, counts, finite };
  const scale = high > low ? (BINS - 1) / (high - low) : 0;
  for (let i = 0; i < values.length; ++i) {
    const value = values[i];
    if (value - value === 0) ++counts[((value - low) * scale + 0.5) | 0];
  }
  return { low, high, counts, finite };
}

/** The value of which `percent` of the finite values are at most: that of rank round(percent (n - 1)), as exact as a
 *  bin is wide. */
export function percentile(of: Histogram, percent: number): number {
  const rank = Math.round((Math.min(100, Math.max(0, percent)) / 100) * (of.finite - 1));
  let below = 0;
  for (let i = 0; i < BINS; ++i) {
    below += of.counts[i];
    if (below > rank) return of.low + (i * (of.high - of.low)) / (BINS - 1);
  }
  return of.high;
}

/** Both ends at once; 0 and 1 for no values at all. Where nearly all values are the same, as in a pattern of a few
 *  counts, those that differ are seen: the ends are then the smallest and the largest. */
export function percentileRange(of: Histogram, lowPercent: number, highPercent: number): Range {
  if (of.finite === 0) return { low: 0, high: 1 };
  const [low, high] = [percentile(of, lowPercent), percentile(of, highPercent)];
  return high > low ? { low, high } : { low: of.low, high: of.high };
}

/** Heights in [0, 1] of `columns` bars over the values [from, to], logarithmic so that rare values are seen. */
export function bars(of: Histogram, columns: number, from = of.low, to = of.high): Float32Array {
  const sums = new Float64Array(columns);
  const step = (of.high - of.low) / (BINS - 1);
  for (let i = 0; i < BINS; ++i) {
    if (of.counts[i] === 0) continue;
    const value = of.low + i * step;
    const column = to > from ? Math.floor(((value - from) / (to - from)) * (columns - 1) + 0.5) : columns >> 1;
    if (column >= 0 && column < columns) sums[column] += of.counts[i];
  }
  const most = sums.reduce((a, b) => Math.max(a, b), 0);
  return Float32Array.from(sums, (sum) => (most > 0 ? Math.log1p(sum) / Math.log1p(most) : 0));
}

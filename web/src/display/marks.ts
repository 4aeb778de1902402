// SPDX-License-Identifier: Apache-2.0
import { scaleBarLength } from "./scale_bar";

/** Round values of a linear axis from low to high, about `count` of them or fewer; none of a flat range. */
export function linearMarks(low: number, high: number, count: number): number[] {
  if (!(high > low)) return [];
  const step = scaleBarLength(((high - low) / count) * 2);
  const marks: number[] = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; ++k) marks.push(Number((k * step).toPrecision(12)));
  return marks;
}

/** Marks of a logarithmic axis from low to high: 1, 2 and 5 times powers of ten; where these are fewer than three, every
 *  figure, and of a small range even steps. */
export function logMarks(low: number, high: number): number[] {
  const rounded = (mark: number) => Number(mark.toPrecision(6));
  for (const factors of [
    [1, 2, 5],
    [1, 2, 3, 4, 5, 6, 7, 8, 9],
  ]) {
    const marks: number[] = [];
    for (let decade = Math.floor(Math.log10(low)); decade <= Math.log10(high); ++decade)
      for (const factor of factors) {
        const mark = factor * 10 ** decade;
        if (mark >= low * (1 - 1e-9) && mark <= high * (1 + 1e-9)) marks.push(rounded(mark));
      }
    if (marks.length >= 3) return marks;
  }
  const decade = 10 ** Math.floor(Math.log10((high - low) / 2));
  const step = decade * ([5, 2].find((factor) => factor * decade <= (high - low) / 2) ?? 1);
  const marks: number[] = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high; ++k) marks.push(rounded(k * step));
  return marks;
}

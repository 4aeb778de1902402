// SPDX-License-Identifier: Apache-2.0
import { signal, type Signal } from "@preact/signals";

import { toFloat, type Frame } from "../protocol/frame";
import { measureLater } from "../worker/measure_later";
import { histogram, type Histogram } from "./histogram";
import { valueOf } from "./readout";

/** What can be shown: numbers for display, their histogram, and the exact value at a place. */
export interface Picture {
  rows: number;
  cols: number;
  values: Float32Array;
  histogram: Signal<Histogram>;
  read(row: number, col: number): number | bigint | undefined;
  frame: Frame;
}

// A histogram of this many values takes about 2 ms; larger images are measured by a worker, and until it has answered
// by every n-th of their values.
const AT_ONCE = 1 << 18;

function measured(values: Float32Array): Signal<Histogram> {
  if (values.length <= AT_ONCE) return signal(histogram(values));
  const step = Math.ceil(values.length / AT_ONCE);
  const some = new Float32Array(Math.floor(values.length / step));
  for (let i = 0; i < some.length; ++i) some[i] = values[i * step];
  const result = signal(histogram(some));
  void measureLater(values).then((exact) => (result.value = exact));
  return result;
}

const made = new WeakMap<Frame, Picture>();

/** The picture of a frame; made once. Bad pixels are shown as invalid, but still read as received. */
export function pictureOf(frame: Frame, badPixels: readonly [number, number][] = []): Picture {
  const known = made.get(frame);
  if (known) return known;
  let values = toFloat(frame.values);
  if (badPixels.length > 0) {
    if (values === frame.values) values = values.slice();
    for (const [row, col] of badPixels) values[row * frame.cols + col] = NaN;
  }
  const { rows, cols } = frame;
  const picture = { rows, cols, values, histogram: measured(values), read: (r: number, c: number) => valueOf(frame, r, c), frame };
  made.set(frame, picture);
  return picture;
}

type Combination = "difference" | "ratio";
const combined = new WeakMap<Frame, { other: Frame; how: Combination; picture: Picture }>();

function combine(a: number | bigint, b: number | bigint, how: Combination): number | bigint {
  if (how === "ratio") return Number(b) === 0 ? NaN : Number(a) / Number(b);
  return typeof a === "bigint" || typeof b === "bigint" ? BigInt(a) - BigInt(b) : a - b;
}

/** First minus second, or first by second (no value where the second is zero). Null for images of different sizes. */
export function combinedPicture(first: Picture, second: Picture, how: Combination): Picture | null {
  if (first.rows !== second.rows || first.cols !== second.cols) return null;
  const known = combined.get(first.frame);
  if (known && known.other === second.frame && known.how === how) return known.picture;
  const values = new Float32Array(first.values.length);
  for (let i = 0; i < values.length; ++i) {
    const [a, b] = [first.values[i], second.values[i]];
    values[i] = how === "difference" ? a - b : b === 0 ? NaN : a / b;
  }
  const read = (row: number, col: number) => {
    const [a, b] = [first.read(row, col), second.read(row, col)];
    return a === undefined || b === undefined ? undefined : combine(a, b, how);
  };
  const picture = { rows: first.rows, cols: first.cols, values, histogram: measured(values), read, frame: first.frame };
  combined.set(first.frame, { other: second.frame, how, picture });
  return picture;
}

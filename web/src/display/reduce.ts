// SPDX-License-Identifier: Apache-2.0
import type { Cell } from "./renderer";

/** Each of `outRows` x `outCols` pixels is the mean over the area that it covers, parts of pixels counted by their part.
 *  Values that are no numbers are left out; where there is nothing else there is no number. At most as many pixels as
 *  there are values. O(rows cols). */
export function areaMean(values: Float32Array, rows: number, cols: number, outRows: number, outCols: number): Float32Array {
  const out = new Float32Array(outRows * outCols);
  const [tall, wide] = [rows / outRows, cols / outCols];
  // A column lies in one column of the result, or partly in the next one.
  const into = new Int32Array(cols);
  const part = new Float64Array(cols);
  for (let c = 0; c < cols; ++c) {
    into[c] = Math.min(outCols - 1, Math.floor((c + 1e-9) / wide));
    part[c] = Math.min(1, Math.max(0, (into[c] + 1) * wide - c));
  }
  // One more for the part beyond the last column, which is nothing but rounding.
  const sums = new Float64Array(outCols + 1);
  const weights = new Float64Array(outCols + 1);
  for (let i = 0; i < outRows; ++i) {
    sums.fill(0);
    weights.fill(0);
    const [from, to] = [i * tall, (i + 1) * tall];
    for (let r = Math.floor(from + 1e-9); r < Math.min(rows, to - 1e-9); ++r) {
      const share = Math.min(r + 1, to) - Math.max(r, from);
      const line = r * cols;
      for (let c = 0; c < cols; ++c) {
        const value = values[line + c];
        if (value - value !== 0) continue;
        const at = into[c];
        const near = share * part[c];
        const far = share - near;
        sums[at] += near * value;
        weights[at] += near;
        sums[at + 1] += far * value;
        weights[at + 1] += far;
      }
    }
    for (let j = 0; j < outCols; ++j) out[i * outCols + j] = weights[j] > 1e-6 ? sums[j] / weights[j] : NaN;
  }
  return out;
}

/** The same for angles: the direction of the mean of their unit vectors. */
export function areaMeanAngle(angles: Float32Array, rows: number, cols: number, outRows: number, outCols: number): Float32Array {
  const across = areaMean(angles.map(Math.cos), rows, cols, outRows, outCols);
  const down = areaMean(angles.map(Math.sin), rows, cols, outRows, outCols);
  return down.map((y, i) => Math.atan2(y, across[i]));
}

const made = new WeakMap<Float32Array, { rows: number; cols: number; values: Float32Array }>();

/** The cell with at least a screen pixel for every pixel that is drawn: where the screen is coarser than the data, the
 *  means of what its pixels cover, so that no pattern appears that the data do not have. Read-out keeps the data. */
export function fitted(cell: Cell): Cell {
  const { at, layers } = cell;
  const cols = Math.min(at.cols, Math.max(1, Math.round(at.cols * at.scale)));
  const rows = Math.min(at.rows, Math.max(1, Math.round(at.rows * at.rowScale)));
  if (rows === at.rows && cols === at.cols) return cell;
  const reduced = layers.map((layer) => {
    let known = made.get(layer.values);
    if (known?.rows !== rows || known.cols !== cols) {
      known = { rows, cols, values: (layer.cyclic ? areaMeanAngle : areaMean)(layer.values, layer.rows, layer.cols, rows, cols) };
      made.set(layer.values, known);
    }
    return { ...layer, ...known };
  });
  const scales = { scale: (at.scale * at.cols) / cols, rowScale: (at.rowScale * at.rows) / rows };
  return { ...cell, layers: reduced, at: { ...at, rows, cols, ...scales } };
}

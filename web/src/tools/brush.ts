// SPDX-License-Identifier: Apache-2.0
export type Run = [row: number, col0: number, col1: number];

/** A free mask: runs of pixels col0 <= col < col1, with a round brush painted in or wiped out along a line. */
export function painted(
  runs: readonly Run[],
  size: { rows: number; cols: number },
  from: [number, number],
  to: [number, number],
  radius: number,
  erase: boolean,
): Run[] {
  const mask = new Uint8Array(size.rows * size.cols);
  for (const [row, col0, col1] of runs)
    if (row >= 0 && row < size.rows) mask.fill(1, row * size.cols + Math.max(0, col0), row * size.cols + Math.min(size.cols, col1));
  const steps = Math.max(1, Math.ceil(Math.hypot(to[0] - from[0], to[1] - from[1])));
  for (let i = 0; i <= steps; ++i) {
    const row = from[0] + ((to[0] - from[0]) * i) / steps;
    const col = from[1] + ((to[1] - from[1]) * i) / steps;
    for (let r = Math.max(0, Math.ceil(row - radius)); r <= Math.min(size.rows - 1, row + radius); ++r)
      for (let c = Math.max(0, Math.ceil(col - radius)); c <= Math.min(size.cols - 1, col + radius); ++c)
        if (Math.hypot(r - row, c - col) <= radius) mask[r * size.cols + c] = erase ? 0 : 1;
  }
  return runsOf(mask, size.rows, size.cols);
}

export function runsOf(mask: ArrayLike<number>, rows: number, cols: number): Run[] {
  const runs: Run[] = [];
  for (let row = 0; row < rows; ++row)
    for (let col = 0; col < cols; ++col) {
      if (!mask[row * cols + col]) continue;
      const start = col;
      while (col < cols && mask[row * cols + col]) ++col;
      runs.push([row, start, col]);
    }
  return runs;
}

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

/** The rim of a mask as closed loops of corners, along the edges of its pixels: holes have loops of their own. Runs may
 *  overlap. O(n log n) of the runs. */
export function maskRim(runs: readonly Run[]): [row: number, col: number][][] {
  // Level edges lie where a row holds a column and its neighbour row does not; they are directed so that the mask is on
  // their right, and each is followed by the upright edge at its end.
  const rows = new Map<number, [number, number][]>();
  for (const [row, col0, col1] of runs) if (col1 > col0) rows.set(row, [...(rows.get(row) ?? []), [col0, col1]]);
  for (const [row, spans] of rows) rows.set(row, united(spans));

  const starts = new Map<string, { from: [number, number]; to: [number, number] }[]>();
  const add = (from: [number, number], to: [number, number]) => {
    const key = from.join();
    starts.set(key, [...(starts.get(key) ?? []), { from, to }]);
  };
  for (const [row, spans] of rows) {
    for (const [col0, col1] of without(spans, rows.get(row - 1) ?? [])) add([row, col0], [row, col1]);
    for (const [col0, col1] of without(spans, rows.get(row + 1) ?? [])) add([row + 1, col1], [row + 1, col0]);
    for (const [col0, col1] of spans) {
      add([row, col1], [row + 1, col1]);
      add([row + 1, col0], [row, col0]);
    }
  }
  const loops: [number, number][][] = [];
  const take = (key: string) => {
    const edges = starts.get(key);
    const edge = edges?.pop();
    if (edges?.length === 0) starts.delete(key);
    return edge;
  };
  for (const key of [...starts.keys()])
    for (let edge = take(key); edge; edge = take(key)) {
      const loop: [number, number][] = [];
      for (let next: typeof edge | undefined = edge; next; next = take(next.to.join())) loop.push([next.from[0] - 0.5, next.from[1] - 0.5]);
      loops.push(withoutStraight(loop));
    }
  return loops;
}

/** Spans in order, those that touch joined. */
function united(spans: [number, number][]): [number, number][] {
  const all: [number, number][] = [];
  for (const [from, to] of [...spans].sort((a, b) => a[0] - b[0])) {
    const last = all[all.length - 1];
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else all.push([from, to]);
  }
  return all;
}

/** The parts of these spans that none of the others covers; both in order. */
function without(spans: [number, number][], others: [number, number][]): [number, number][] {
  return spans.flatMap(([from, to]) => {
    const left: [number, number][] = [];
    let at = from;
    for (const [a, b] of others) {
      if (b <= at || a >= to) continue;
      if (a > at) left.push([at, a]);
      at = Math.max(at, b);
    }
    if (at < to) left.push([at, to]);
    return left;
  });
}

/** Without the corners that lie on a straight line between their neighbours. */
function withoutStraight(loop: [number, number][]): [number, number][] {
  return loop.filter(([row, col], i) => {
    const [before, after] = [loop[(i + loop.length - 1) % loop.length], loop[(i + 1) % loop.length]];
    return !((before[0] === row && after[0] === row) || (before[1] === col && after[1] === col));
  });
}

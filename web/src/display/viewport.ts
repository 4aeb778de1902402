// SPDX-License-Identifier: Apache-2.0
/** Which part of an image is seen: `zoom` times larger than when it just fits, with this place (fractions of its
 *  height and width) in the middle. The same for images of any size, so that panels can be linked. */
export interface Zoom {
  zoom: number;
  row: number;
  col: number;
}

export const WHOLE: Zoom = { zoom: 1, row: 0.5, col: 0.5 };
export const MOST_ZOOM = 64;

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Where data pixels lie on the screen. Pixel (r, c) covers [r - 1/2, r + 1/2): its centre is a whole number. */
export interface Placement {
  /** Screen pixels of one column; of one row, which differs where data pixels are not square. */
  scale: number;
  rowScale: number;
  /** Screen place of the data's corner (-1/2, -1/2). */
  x: number;
  y: number;
  rows: number;
  cols: number;
  box: Box;
}

export interface Place {
  row: number;
  col: number;
}

/** `pixelAspect` is the height of a data pixel divided by its width. */
export function place(rows: number, cols: number, box: Box, view: Zoom, pixelAspect = 1): Placement {
  const scale = Math.min(box.width / cols, box.height / (rows * pixelAspect)) * view.zoom;
  const rowScale = scale * pixelAspect;
  return {
    scale,
    rowScale,
    x: box.x + box.width / 2 - view.col * cols * scale,
    y: box.y + box.height / 2 - view.row * rows * rowScale,
    rows,
    cols,
    box,
  };
}

export function toScreen(at: Placement, row: number, col: number): { x: number; y: number } {
  return { x: at.x + (col + 0.5) * at.scale, y: at.y + (row + 0.5) * at.rowScale };
}

export function toData(at: Placement, x: number, y: number): Place {
  return { row: (y - at.y) / at.rowScale - 0.5, col: (x - at.x) / at.scale - 0.5 };
}

export function contains(box: Box, x: number, y: number): boolean {
  return x >= box.x && y >= box.y && x < box.x + box.width && y < box.y + box.height;
}

function limited(view: Zoom): Zoom {
  const zoom = Math.min(MOST_ZOOM, Math.max(1, view.zoom));
  // Half of what is seen, so that no empty ground is shown beside the image.
  const margin = 0.5 / zoom;
  const within = (at: number) => Math.min(1 - margin, Math.max(margin, at));
  return { zoom, row: within(view.row), col: within(view.col) };
}

/** Zoomed by a factor so that the place under (x, y) stays there. */
export function zoomAbout(view: Zoom, at: Placement, x: number, y: number, factor: number): Zoom {
  const zoom = Math.min(MOST_ZOOM, Math.max(1, view.zoom * factor));
  const by = zoom / view.zoom;
  const under = toData(at, x, y);
  return limited({
    zoom,
    row: (under.row + 0.5 - (y - at.box.y - at.box.height / 2) / (at.rowScale * by)) / at.rows,
    col: (under.col + 0.5 - (x - at.box.x - at.box.width / 2) / (at.scale * by)) / at.cols,
  });
}

export function panBy(view: Zoom, at: Placement, dx: number, dy: number): Zoom {
  return limited({
    zoom: view.zoom,
    row: view.row - dy / (at.rowScale * at.rows),
    col: view.col - dx / (at.scale * at.cols),
  });
}

/** `count` boxes in a grid inside `box`, as large as images of this aspect (width / height) can be, `gap` apart. A line
 *  holds a multiple of `together`. */
export function grid(box: Box, count: number, aspect: number, gap: number, together = 1): Box[] {
  const step = Math.max(1, Math.min(together, count));
  let best = { columns: step, size: 0 };
  for (let columns = step; columns <= count; columns += step) {
    const lines = Math.ceil(count / columns);
    const width = (box.width - gap * (columns - 1)) / columns;
    const height = (box.height - gap * (lines - 1)) / lines;
    const size = Math.min(width, height * aspect);
    if (size > best.size) best = { columns, size };
  }
  const lines = Math.ceil(count / best.columns);
  const width = (box.width - gap * (best.columns - 1)) / best.columns;
  const height = (box.height - gap * (lines - 1)) / lines;
  return Array.from({ length: count }, (_, i) => ({
    x: box.x + (i % best.columns) * (width + gap),
    y: box.y + Math.floor(i / best.columns) * (height + gap),
    width,
    height,
  }));
}

// SPDX-License-Identifier: Apache-2.0
/** Where positions were and by how much they moved, in pixels of the image; [0, 0] is its upper left corner. */
export interface Moves {
  /** row, column, rows, columns of each. */
  arrows: number[];
  /** By what they are to be drawn longer. */
  longer: number;
  one_of: number;
  rms_px: number;
  largest_px: number;
}

/** A head of this many arrow widths, and never longer than the arrow. */
const HEAD = 4;

/** One path of arrows: a line, and two strokes at its end. */
export function arrowPath({ arrows, longer }: Moves, head: number): string {
  const at = (value: number) => value.toFixed(2);
  let path = "";
  for (let i = 0; i + 3 < arrows.length; i += 4) {
    const [row, col, rows, cols] = arrows.slice(i, i + 4);
    const [dy, dx] = [longer * rows, longer * cols];
    const length = Math.hypot(dx, dy);
    if (length === 0) continue;
    const [y, x] = [row + dy, col + dx];
    // Back along the arrow, turned by 25 degrees to either side.
    const back = (Math.min(head, length) / length) * Math.cos(Math.PI / 7.2);
    const aside = (Math.min(head, length) / length) * Math.sin(Math.PI / 7.2);
    path += `M${at(col)} ${at(row)}L${at(x)} ${at(y)}`;
    path += `M${at(x - back * dx - aside * dy)} ${at(y - back * dy + aside * dx)}L${at(x)} ${at(y)}L${at(x - back * dx + aside * dy)} ${at(y - back * dy - aside * dx)}`;
  }
  return path;
}

/** What the picture means, and how much larger it is than the truth. */
export function movesInWords({ longer, one_of, rms_px, largest_px }: Moves): string {
  const longWords = longer > 1 ? `, ${longer} times as long` : "";
  const number = (value: number) => String(Number(value.toPrecision(3)));
  const some = one_of > 1 ? `; one of ${one_of} is shown` : "";
  return `arrows: how positions were moved${longWords}${some}; rms ${number(rms_px)} px, largest ${number(largest_px)} px`;
}

/** The arrows over an image of so many pixels. */
export function MoveArrows({ moves, rows, cols }: { moves: Moves; rows: number; cols: number }) {
  const path = arrowPath(moves, (HEAD * Math.max(rows, cols)) / 250);
  return (
    <svg class="arrows" viewBox={`0 0 ${cols} ${rows}`} role="img" aria-label="Movement of the positions">
      <path class="rim" d={path} />
      <path d={path} />
    </svg>
  );
}

// SPDX-License-Identifier: Apache-2.0
/** The item after this one, and the direction in which to go on; null when playing has come to its end. */
export function nextItem(
  item: number,
  count: number,
  direction: 1 | -1,
  loop: boolean,
  boomerang: boolean,
): { item: number; direction: 1 | -1 } | null {
  if (count < 2) return null;
  const next = item + direction;
  if (next >= 0 && next < count) return { item: next, direction };
  if (boomerang) {
    // To and fro once, unless it loops: the end is where it began.
    if (direction === -1 && !loop) return null;
    return { item: item - direction, direction: direction === 1 ? -1 : 1 };
  }
  return loop ? { item: direction === 1 ? 0 : count - 1, direction } : null;
}

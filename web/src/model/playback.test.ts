// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";

import { nextItem } from "./playback";

function played(steps: number, loop: boolean, boomerang: boolean): number[] {
  const seen = [0];
  let now: { item: number; direction: 1 | -1 } | null = { item: 0, direction: 1 };
  for (let i = 0; i < steps; ++i) {
    now = nextItem(now.item, 4, now.direction, loop, boomerang);
    if (!now) break;
    seen.push(now.item);
  }
  return seen;
}

it("plays once and stops at the end", () => expect(played(9, false, false)).toEqual([0, 1, 2, 3]));
it("begins again in a loop", () => expect(played(6, true, false)).toEqual([0, 1, 2, 3, 0, 1, 2]));
it("goes to and fro once", () => expect(played(9, false, true)).toEqual([0, 1, 2, 3, 2, 1, 0]));
it("goes to and fro without end", () => expect(played(8, true, true)).toEqual([0, 1, 2, 3, 2, 1, 0, 1, 2]));
it("does not play a single item", () => expect(nextItem(0, 1, 1, true, true)).toBeNull());

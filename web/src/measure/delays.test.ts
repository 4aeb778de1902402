// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";

import { Delays } from "./delays";

it("measures from the first movement that a command stands for to the paint of its frame", () => {
  let now = 0;
  const delays = new Delays(() => now);
  delays.input("a");
  now = 5;
  delays.input("a");
  delays.sent("a", 1);
  now = 12;
  delays.received(1);
  now = 16;
  delays.painted();
  now = 32;
  delays.painted();
  expect(delays.summary()).toEqual({ paints: 2, paintsPerSecond: 62.5, delays: 1, p50: 16, p95: 16, longest: 16 });
});

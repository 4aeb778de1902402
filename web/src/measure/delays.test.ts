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
  delays.presented(12);
  now = 16;
  delays.painted();
  now = 32;
  delays.painted();
  expect(delays.summary()).toMatchObject({ paints: 2, paintsPerSecond: 62.5, delays: 1, p50: 16, p95: 16, longest: 16 });
});

it("begins with the arrival of the event, and counts an image in the frame that shows it", () => {
  let now = 10;
  const delays = new Delays(() => now);
  delays.during({ timeStamp: 4 }, () => delays.input("a"));
  delays.sent("a", 1);
  delays.presented(10);
  // Too late for the frame that is being handed on.
  now = 12;
  delays.received(1);
  delays.painted();
  expect(delays.summary().delays).toBe(0);
  now = 29;
  delays.presented(28);
  now = 30;
  delays.painted();
  expect(delays.summary()).toMatchObject({ delays: 1, p50: 26 });
});

it("ends with the last of several images", () => {
  let now = 0;
  const delays = new Delays(() => now);
  delays.input("a");
  delays.sent("a", 1);
  for (const frame of [10, 30]) {
    now = frame;
    delays.received(1);
    delays.presented(frame);
    delays.painted();
  }
  expect(delays.summary()).toMatchObject({ delays: 1, p50: 30 });
});

it("says where the time goes: the parts are the whole", () => {
  let now = 3;
  const delays = new Delays(() => now);
  const at = (time: number, act: () => void) => {
    now = time;
    act();
  };
  delays.during({ timeStamp: 1 }, () => delays.input("a"));
  at(7, () => delays.sent("a", 1));
  at(12, () => delays.received(1));
  at(22, () => delays.presented(20));
  at(26, () => delays.painted());
  const { p50, stages } = delays.summary();
  expect(Object.entries(stages).map(([name, part]) => [name, part.p50])).toEqual([["reach", 2], ["wait", 4], ["answer", 5], ["frame", 8], ["draw", 2], ["hand on", 4]]);
  expect(p50).toBe(25);
});

// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";

import { agreementOutline, eventsInWords, timeText } from "./mixer_panel";

describe("times", () => {
  it("are minutes, seconds and tenths", () => {
    expect(timeText(0)).toBe("0:00.0");
    expect(timeText(83.44)).toBe("1:23.4");
    expect(timeText(3600)).toBe("60:00.0");
  });
  it("round up to the next minute", () => {
    expect(timeText(59.96)).toBe("1:00.0");
  });
});

describe("events in words", () => {
  const events = (hits: string[]) => eventsInWords({ hits, times: hits.map(() => 0), velocities: hits.map(() => 64) });
  it("of one kind are counted", () => {
    expect(events(["snare"])).toBe("1 event");
    expect(events([])).toBe("0 events");
  });
  it("of several kinds are counted by kind", () => {
    expect(events(["hihat_open", "hihat_closed", "hihat_open"])).toBe("3 events: 2 hihat open, 1 hihat closed");
  });
});

describe("the strip of agreement", () => {
  const agreement = { seconds: 1, passes: 4, all: 10, db: [20, null, 80] };
  it("has a bar for each value, as high as it is of 40 dB, and none in silence", () => {
    expect(agreementOutline(agreement, 100, { first: 0, count: 400 })).toBe("M0.0 1H250.0V0.500H0.0ZM500.0 1H750.0V0.000H500.0Z");
  });
  it("has those that are in sight", () => {
    expect(agreementOutline(agreement, 100, { first: 250, count: 100 })).toBe("M0.0 1H500.0V0.000H0.0Z");
  });
});

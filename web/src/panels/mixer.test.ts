// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";

import { eventsInWords, timeText } from "./mixer_panel";

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

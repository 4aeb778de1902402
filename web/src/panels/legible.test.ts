// SPDX-License-Identifier: Apache-2.0
import { signal } from "@preact/signals";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { legible } from "./legible";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("shows a single change at once", () => {
  const source = signal(1);
  const { shown, stop } = legible(() => source.value);
  vi.advanceTimersByTime(1000);
  source.value = 2;
  expect(shown.value).toBe(2);
  stop();
});

it("shows a quick row of changes ten times a second, and always the last one", () => {
  const source = signal(0);
  const { shown, stop } = legible(() => source.value);
  const seen: number[] = [];
  const unsubscribe = shown.subscribe((value) => seen.push(value));
  // 60 changes, 16 ms apart: 0.96 s.
  for (let frame = 1; frame <= 60; ++frame) {
    vi.advanceTimersByTime(16);
    source.value = frame;
  }
  // The first at once, then one per tenth of a second.
  expect(seen.length).toBe(10);
  vi.advanceTimersByTime(100);
  expect(seen.at(-1)).toBe(60);
  unsubscribe();
  stop();
});

it("shows what keeps changing at the same moment, so that the page is laid out once for all of it", () => {
  const [first, second] = [signal(0), signal(0)];
  const sources = [first, second].map((source) => legible(() => source.value));
  vi.advanceTimersByTime(1000);
  const times: number[][] = [[], []];
  const unsubscribe = sources.map(({ shown }, i) => shown.subscribe(() => times[i].push(Date.now())));
  // The second begins to change when the first is between two moments.
  for (let ms = 1; ms <= 500; ++ms) {
    vi.advanceTimersByTime(1);
    first.value = ms;
    if (ms > 50) second.value = ms;
  }
  const [ofFirst, ofSecond] = times.map((all) => all.slice(2));
  expect(ofSecond.length).toBeGreaterThan(2);
  expect(ofFirst).toEqual(expect.arrayContaining(ofSecond));
  unsubscribe.forEach((end) => end());
  sources.forEach(({ stop }) => stop());
});

it("says nothing more once it is stopped", () => {
  const source = signal(0);
  const { shown, stop } = legible(() => source.value);
  source.value = 1;
  stop();
  vi.advanceTimersByTime(1000);
  expect(shown.value).toBe(0);
});

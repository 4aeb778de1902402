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

it("says nothing more once it is stopped", () => {
  const source = signal(0);
  const { shown, stop } = legible(() => source.value);
  source.value = 1;
  stop();
  vi.advanceTimersByTime(1000);
  expect(shown.value).toBe(0);
});

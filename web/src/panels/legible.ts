// SPDX-License-Identifier: Apache-2.0
import { batch, effect, signal, type ReadonlySignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";

/** Words that change faster than this cannot be read, and laying them out anew would take the images' time. */
const HELD_MS = 100;

/** What has changed within the last tenth of a second, to be looked at when it is over: one clock for all, so that the page
 *  is laid out anew ten times a second and not ten times for each of them. */
const held = new Set<() => void>();
let clock: ReturnType<typeof setTimeout> | undefined;

function hold(until: () => void): void {
  held.add(until);
  clock ??= setTimeout(() => {
    clock = undefined;
    const over = [...held];
    held.clear();
    batch(() => over.forEach((one) => one()));
  }, HELD_MS);
}

/** What `read` makes of the signals it reads: at once after a rest, then every tenth of a second at most; the last one
 *  always comes. */
export function legible<T>(read: () => T): { shown: ReadonlySignal<T>; stop(): void } {
  const shown = signal<T | undefined>(undefined);
  let resting = true;
  let waiting: { value: T } | null = null;
  const show = (value: T) => {
    waiting = null;
    resting = false;
    shown.value = value;
    hold(rest);
  };
  const rest = () => {
    resting = true;
    if (waiting) show(waiting.value);
  };
  const stop = effect(() => {
    const value = read();
    if (resting) show(value);
    else waiting = { value };
  });
  return {
    shown: shown as ReadonlySignal<T>,
    stop: () => {
      stop();
      held.delete(rest);
      if (held.size > 0) return;
      clearTimeout(clock);
      clock = undefined;
    },
  };
}

/** Whether something has changed within the last tenth of a second. */
export function holds(): boolean {
  return held.size > 0;
}

/** `legible` for a component, which is rendered anew when it changes. */
export function useLegible<T>(read: () => T, inputs: unknown[] = []): T {
  const made = useMemo(() => legible(read), inputs);
  useEffect(() => made.stop, [made]);
  return made.shown.value;
}

// SPDX-License-Identifier: Apache-2.0
import { effect, signal, type ReadonlySignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";

/** Words that change faster than this cannot be read, and laying them out anew would take the images' time. */
const HELD_MS = 100;

/** What `read` makes of the signals it reads: at once after a rest, then every tenth of a second at most; the last one
 *  always comes. */
export function legible<T>(read: () => T): { shown: ReadonlySignal<T>; stop(): void } {
  const shown = signal<T | undefined>(undefined);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let waiting: { value: T } | null = null;
  const show = (value: T) => {
    waiting = null;
    shown.value = value;
    timer = setTimeout(() => {
      timer = undefined;
      if (waiting) show(waiting.value);
    }, HELD_MS);
  };
  const stop = effect(() => {
    const value = read();
    if (timer === undefined) show(value);
    else waiting = { value };
  });
  return {
    shown: shown as ReadonlySignal<T>,
    stop: () => {
      stop();
      clearTimeout(timer);
    },
  };
}

/** `legible` for a component, which is rendered anew when it changes. */
export function useLegible<T>(read: () => T, inputs: unknown[] = []): T {
  const made = useMemo(() => legible(read), inputs);
  useEffect(() => made.stop, [made]);
  return made.shown.value;
}

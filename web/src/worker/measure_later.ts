// SPDX-License-Identifier: Apache-2.0
import type { Histogram } from "../display/histogram";

let worker: Worker | null = null;
let nextId = 0;
const waiting = new Map<number, (result: Histogram) => void>();

/** Whether histograms are being counted. */
export function measures(): boolean {
  return waiting.size > 0;
}

/** The histogram of many values, counted beside the thread that serves the hand. */
export function measureLater(values: Float32Array): Promise<Histogram> {
  if (!worker) {
    worker = new Worker(new URL("./measure.ts", import.meta.url), { type: "module", name: "measure" });
    worker.onmessage = ({ data }: MessageEvent<{ id: number; histogram: Histogram }>) => {
      waiting.get(data.id)?.(data.histogram);
      waiting.delete(data.id);
    };
  }
  const id = nextId++;
  return new Promise((resolve) => {
    waiting.set(id, resolve);
    // A copy: the values are being drawn meanwhile.
    worker?.postMessage({ id, values });
  });
}

// SPDX-License-Identifier: Apache-2.0
import { delays } from "../measure/delays";

/** All panels are drawn in the same animation frame, each at most once. */
const waiting = new Set<() => void>();
let scheduled = false;

export function requestPaint(draw: () => void): void {
  waiting.add(draw);
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(() => {
    scheduled = false;
    const draws = [...waiting];
    waiting.clear();
    for (const one of draws) one();
    // A message is delivered after the frame was handed on: nearer to what the eye sees than the end of drawing.
    afterFrame.port2.postMessage(null);
  });
}

const afterFrame = new MessageChannel();
afterFrame.port1.onmessage = () => delays.painted();

// SPDX-License-Identifier: Apache-2.0
import { delays } from "../measure/delays";

/** Panels are drawn in the animation frame that shows them, once for each: of images that come faster only the last one is
 *  made visible, and nothing is worked out for the others. After a rest they are drawn in the task that changed them, so
 *  that the frame has nothing left to do: an image that comes alone is shown 2 ms earlier. */
const waiting = new Set<() => void>();
let framed = false;
let soon = false;
let lastFrame = -Infinity;

/** Two frames of 60 Hz without anything to draw, in milliseconds. */
const REST = 33;

export function requestPaint(draw: () => void): void {
  waiting.add(draw);
  if (!soon && performance.now() - lastFrame > REST) {
    soon = true;
    queueMicrotask(() => {
      drawAll();
      soon = false;
    });
  }
  if (framed) return;
  framed = true;
  requestAnimationFrame(() => {
    const begun = performance.now();
    lastFrame = begun;
    drawAll();
    framed = false;
    delays.presented(begun);
    // A message is delivered after the frame was handed on: nearer to what the eye sees than the end of drawing.
    afterFrame.port2.postMessage(null);
  });
}

/** What asks for paint while it is drawn (a histogram that follows its image) is drawn with the rest. */
function drawAll(): void {
  for (const one of waiting) {
    waiting.delete(one);
    one();
  }
}

const afterFrame = new MessageChannel();
afterFrame.port1.onmessage = () => delays.painted();

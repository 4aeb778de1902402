// SPDX-License-Identifier: Apache-2.0
import { delays } from "../measure/delays";

/** Panels are drawn in the animation frame that shows them, once for each: of images that come faster only the last one is
 *  made visible, and nothing is worked out for the others. After a rest they are drawn as soon as the server has answered,
 *  so that the frame has nothing left to do: an image that comes alone is shown 2 ms earlier. Words come after the images:
 *  laying them out takes as long as an image, and what the eye follows is the image. */
const waiting = new Set<() => void>();
const behind = new Set<() => void>();
let framed = false;
let held = false;
let awaited: ReturnType<typeof setTimeout> | null = null;
let lastFrame = -Infinity;

/** Two frames of 60 Hz without anything to draw, in milliseconds. */
const REST = 33;
/** How long words wait for an image at most. */
const PATIENCE = 50;
/** How long the first image of several waits for the last: one that takes longer is worth a frame of its own. */
const TOGETHER = 15;

export function requestPaint(draw: () => void): void {
  waiting.add(draw);
  if (!held && awaited === null) schedule();
}

function schedule(): void {
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

/** A command has left whose answer has several images. They are drawn in one frame: after a rest that of the first would
 *  begin at once, and the others would be late for it by a millisecond. */
export function severalAsked(): void {
  if (awaited !== null) clearTimeout(awaited);
  awaited = setTimeout(endWait, TOGETHER);
}

/** A command is answered: all of its images are there. */
export function answered(): void {
  if (performance.now() - lastFrame > REST) drawAll();
  endWait();
}

function endWait(): void {
  if (awaited === null) return;
  clearTimeout(awaited);
  awaited = null;
  // Also when all of it was drawn above: the frame makes it visible.
  schedule();
}

/** What asks for paint while it is drawn (a histogram that follows its image) is drawn with the rest. */
function drawAll(): void {
  for (const one of waiting) {
    waiting.delete(one);
    one();
  }
}

const afterFrame = new MessageChannel();
afterFrame.port1.onmessage = () => {
  delays.painted();
  catchUp();
};

/** Carries out what a key asks for. When a key has asked for an animation frame Chromium delivers no message of the server
 *  before that frame, and the image would come a frame later: so what changes at once is drawn from a task of its own. */
export function atKey(act: () => void): void {
  held = true;
  try {
    act();
  } finally {
    held = false;
  }
  if (waiting.size > 0 && awaited === null) afterKey.port2.postMessage(null);
}

const afterKey = new MessageChannel();
afterKey.port1.onmessage = () => {
  if (waiting.size > 0) schedule();
};

/** Whether there is something to draw. */
export function paintWaits(): boolean {
  return waiting.size > 0 || framed;
}

/** Whether there are words to change. */
export function wordsWait(): boolean {
  return behind.size > 0;
}

/** After the next image has been handed on; soon also without one. */
export function afterImage(act: () => void): void {
  behind.add(act);
  if (behind.size === 1) timer = setTimeout(catchUp, PATIENCE);
}

let timer: ReturnType<typeof setTimeout> | undefined;

function catchUp(): void {
  clearTimeout(timer);
  const acts = [...behind];
  behind.clear();
  acts.forEach((act) => act());
}

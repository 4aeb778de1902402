// SPDX-License-Identifier: Apache-2.0
/** Fingers on the panels, as the browser makes pointer events of them. */
import type { CDPSession } from "playwright-core";
import { beforeEach, describe, expect, it } from "vitest";

import { SimulatedPage, type PanelId, type Spot } from "./simulated_page";

const DETECTOR: [number, number] = [96, 96];
const SCAN: [number, number] = [64, 64];

const shown = new SimulatedPage();
let fingers: CDPSession;

async function open(viewport = { width: 1280, height: 800 }): Promise<void> {
  await shown.open({ scan: SCAN, detector: DETECTOR }, { touch: true, viewport });
  fingers = await shown.page.context().newCDPSession(shown.page);
}

async function touch(type: "touchStart" | "touchMove" | "touchEnd", panel: PanelId, spots: Spot[]): Promise<void> {
  const { x, y } = await shown.box(panel);
  await fingers.send("Input.dispatchTouchEvent", { type, touchPoints: spots.map((spot, id) => ({ x: x + spot.x, y: y + spot.y, id })) });
}

/** Fingers that move from some spots to others in even steps. */
async function move(panel: PanelId, from: Spot[], to: Spot[], steps = 8): Promise<void> {
  await touch("touchStart", panel, from);
  for (let k = 1; k <= steps; ++k)
    await touch("touchMove", panel, from.map(({ x, y }, i) => ({ x: x + ((to[i].x - x) * k) / steps, y: y + ((to[i].y - y) * k) / steps })));
  await touch("touchEnd", panel, []);
}

it("moves the detector with one finger", async () => {
  await open();
  const [from, to] = [await shown.spot("pattern", DETECTOR, 48, 48), await shown.spot("pattern", DETECTOR, 40, 58)];
  await move("pattern", [from], [to]);
  const away = async () => {
    const [{ shape }] = (await shown.view("detectors")) as { shape: { row: number; col: number } | null }[];
    return shape ? Math.max(Math.abs(shape.row - 40), Math.abs(shape.col - 58)) : Infinity;
  };
  // Screen places are rounded to whole pixels, of which a data pixel has at least four.
  await expect.poll(away).toBeLessThan(0.3);
  expect(await shown.view("detectors")).toMatchObject([{ shape: { kind: "circle", r: 14 } }]);
});

it("changes the radius with a finger on its handle", async () => {
  await open();
  await move("pattern", [await shown.spot("pattern", DETECTOR, 48, 62)], [await shown.spot("pattern", DETECTOR, 48, 70)]);
  await expect.poll(async () => ((await shown.view("detectors")) as { shape: { r: number } | null }[])[0].shape?.r ?? 0).toBeGreaterThan(21.7);
  expect((await shown.view("detectors")) as object[]).toMatchObject([{ shape: { row: 48, col: 48 } }]);
});

it("moves the probe to where a finger taps", async () => {
  await open();
  const spot = await shown.spot("image", SCAN, 12, 50);
  await move("image", [spot], [spot], 1);
  await expect.poll(() => shown.view("cursor")).toEqual({ row: 12, col: 50 });
});

it("zooms about the middle of two fingers, and leaves the detector where it is", async () => {
  await open();
  const before = await shown.view("detectors");
  const middle = await shown.spot("pattern", DETECTOR, 47.5, 47.5);
  const at = (away: number) => [{ x: middle.x - away, y: middle.y }, { x: middle.x + away, y: middle.y }];
  await move("pattern", at(40), at(120));
  const zoom = async () => ((await shown.view("zoom")) as { pattern: { zoom: number; row: number; col: number } }).pattern;
  // Fingers three times as far apart show everything three times as large.
  await expect.poll(async () => (await zoom()).zoom).toBeCloseTo(3, 1);
  await shown.rest();
  const { row, col } = await zoom();
  expect(row).toBeCloseTo(0.5, 2);
  expect(col).toBeCloseTo(0.5, 2);
  expect(await shown.view("detectors")).toEqual(before);
  expect(await shown.page.evaluate(() => window.visualViewport?.scale)).toBe(1);
});

describe("where the page scrolls", () => {
  const scrolled = () => shown.page.evaluate(() => document.scrollingElement?.scrollTop ?? 0);
  /** Until the page does not go on from a finger's push any more: it would undo what is set meanwhile. */
  const pushedOut = () =>
    shown.page.evaluate(async () => {
      const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
      for (let still = 0, before = -1; still < 10; await frame()) {
        const now = document.scrollingElement?.scrollTop ?? 0;
        still = now === before ? still + 1 : 0;
        before = now;
      }
    });
  /** Fingers in the coordinates of the window. */
  async function swipe(x: number, from: number, to: number): Promise<void> {
    const send = (type: "touchStart" | "touchMove" | "touchEnd", points: { x: number; y: number }[]) => fingers.send("Input.dispatchTouchEvent", { type, touchPoints: points });
    await send("touchStart", [{ x, y: from }]);
    for (let k = 1; k <= 8; ++k) await send("touchMove", [{ x, y: from + ((to - from) * k) / 8 }]);
    await send("touchEnd", []);
  }

  beforeEach(async () => {
    await open({ width: 390, height: 844 });
    await expect.poll(() => shown.values(2)).not.toBeNull();
  });

  it("a finger that takes nothing scrolls it, and nothing else happens", async () => {
    const before = [await shown.view("cursor"), await shown.view("detectors")];
    const { x, y, width, height } = await shown.box("image");
    await swipe(x + 0.15 * width, y + 0.9 * height, y + 0.2 * height);
    await expect.poll(scrolled).toBeGreaterThan(100);
    expect([await shown.view("cursor"), await shown.view("detectors")]).toEqual(before);
  });

  it("over the pattern too, beside the detector; a finger on the detector moves that", async () => {
    await shown.lines("pattern").scrollIntoViewIfNeeded();
    const box = await shown.box("pattern");
    const at = await scrolled();
    const before = await shown.view("detectors");
    // The other way, so that there is room.
    await swipe(box.x + 0.06 * box.width, box.y + 0.3 * box.height, box.y + 0.8 * box.height);
    await expect.poll(scrolled).toBeLessThan(at - 50);
    expect(await shown.view("detectors")).toEqual(before);
    await pushedOut();
    await shown.page.evaluate((top) => window.scrollTo(0, top), at);
    await expect.poll(scrolled).toBe(at);
    const [from, to] = [await shown.spot("pattern", DETECTOR, 48, 48), await shown.spot("pattern", DETECTOR, 60, 48)];
    await swipe(box.x + from.x, box.y + from.y, box.y + to.y);
    const row = async () => ((await shown.view("detectors")) as { shape: { row: number } | null }[])[0].shape?.row ?? 0;
    await expect.poll(row).toBeGreaterThan(58);
    expect(await scrolled()).toBe(at);
  });

  it("a tap still moves the probe", async () => {
    const { x, y } = await shown.box("image");
    const spot = await shown.spot("image", SCAN, 12, 50);
    await shown.page.touchscreen.tap(x + spot.x, y + spot.y);
    await expect.poll(() => shown.view("cursor")).toEqual({ row: 12, col: 50 });
  });
});

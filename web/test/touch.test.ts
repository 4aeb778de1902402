// SPDX-License-Identifier: Apache-2.0
/** Fingers on the panels, as the browser makes pointer events of them. */
import type { CDPSession } from "playwright-core";
import { beforeEach, expect, it } from "vitest";

import { SimulatedPage, type PanelId, type Spot } from "./simulated_page";

const DETECTOR: [number, number] = [96, 96];
const SCAN: [number, number] = [64, 64];

const shown = new SimulatedPage();
let fingers: CDPSession;

beforeEach(async () => {
  await shown.open({ scan: SCAN, detector: DETECTOR }, { touch: true });
  fingers = await shown.page.context().newCDPSession(shown.page);
});

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
  const [from, to] = [await shown.spot("pattern", DETECTOR, 48, 48), await shown.spot("pattern", DETECTOR, 40, 58)];
  await move("pattern", [from], [to]);
  await expect.poll(() => shown.view("detectors")).toMatchObject([{ shape: { kind: "circle", r: 14 } }]);
  const [{ shape }] = (await shown.view("detectors")) as { shape: { row: number; col: number } }[];
  // Screen places are rounded to whole pixels, of which a data pixel has at least four.
  expect(Math.abs(shape.row - 40)).toBeLessThan(0.3);
  expect(Math.abs(shape.col - 58)).toBeLessThan(0.3);
});

it("changes the radius with a finger on its handle", async () => {
  await move("pattern", [await shown.spot("pattern", DETECTOR, 48, 62)], [await shown.spot("pattern", DETECTOR, 48, 70)]);
  await expect.poll(async () => ((await shown.view("detectors")) as { shape: { r: number } | null }[])[0].shape?.r ?? 0).toBeGreaterThan(21.7);
  expect((await shown.view("detectors")) as object[]).toMatchObject([{ shape: { row: 48, col: 48 } }]);
});

it("moves the probe to where a finger taps", async () => {
  const spot = await shown.spot("image", SCAN, 12, 50);
  await move("image", [spot], [spot], 1);
  await expect.poll(() => shown.view("cursor")).toEqual({ row: 12, col: 50 });
});

it("zooms about the middle of two fingers, and leaves the detector where it is", async () => {
  const before = await shown.view("detectors");
  const middle = await shown.spot("pattern", DETECTOR, 47.5, 47.5);
  const at = (away: number) => [{ x: middle.x - away, y: middle.y }, { x: middle.x + away, y: middle.y }];
  await move("pattern", at(40), at(120));
  const zoom = async () => ((await shown.view("zoom")) as { pattern: { zoom: number; row: number; col: number } }).pattern;
  // Fingers three times as far apart show everything three times as large.
  await expect.poll(async () => (await zoom()).zoom).toBeCloseTo(3, 1);
  const { row, col } = await zoom();
  expect(row).toBeCloseTo(0.5, 2);
  expect(col).toBeCloseTo(0.5, 2);
  expect(await shown.view("detectors")).toEqual(before);
  expect(await shown.page.evaluate(() => window.visualViewport?.scale)).toBe(1);
});

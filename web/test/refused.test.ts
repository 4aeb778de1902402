// SPDX-License-Identifier: Apache-2.0
/** Detectors that cannot be shown, and masks of which nothing is painted yet: what the page says and what it keeps. */
import { expect, it } from "vitest";

import { runsOf } from "../src/tools/brush";
import { distinct, SimulatedPage, type PanelId, type Spot } from "./simulated_page";

const DETECTOR: [number, number] = [96, 96];
const shown = new SimulatedPage();

/** Opacities of the canvas with lines, along a line of it. */
function lines(panel: PanelId, from: Spot, width: number, height: number): Promise<number[]> {
  return shown.page.evaluate(
    ([name, x, y, wide, high]) => {
      const canvas = document.querySelector(`[data-panel=${name}] .lines`) as HTMLCanvasElement;
      const { data } = (canvas.getContext("2d") as CanvasRenderingContext2D).getImageData(x, y, wide, high);
      return Array.from(data).filter((_, i) => i % 4 === 3);
    },
    [panel, Math.round(from.x), Math.round(from.y), width, height] as const,
  );
}

/** How dark the veil over an image is, away from words and lines. */
const veil = async () => (await lines("image", await shown.spot("image", [64, 64], 3, 50), 1, 1))[0];
const words = () => shown.page.locator("[data-panel=image] [role=status]").textContent();
const list = () => shown.page.locator(".channels").innerText();

async function type(expression: string): Promise<void> {
  const field = shown.page.getByRole("textbox", { name: "Expression" });
  await field.fill(expression);
  await field.press("Enter");
}

it("a refused expression dims the image, which says what it shows; the list keeps the detector before it", async () => {
  await shown.open();
  await expect.poll(async () => distinct(await shown.colours("image"))).toBeGreaterThan(20);
  expect(await veil()).toBe(0);
  await type("nonsense");
  await expect.poll(veil).toBeGreaterThan(100);
  // Words follow at a pace that can be read.
  await expect.poll(words).toBe('still BF, nonsense: unknown name "nonsense"');
  await expect.poll(list).toMatch(/^Detector\s*1\s*BF\s/);
  expect(await shown.view("detectors")).toMatchObject([{ expr: "bf" }]);
  // What was typed stays where it can be corrected, and what is wrong is said beside it, not in a banner.
  const field = shown.page.getByRole("textbox", { name: "Expression" });
  expect(await field.inputValue()).toBe("nonsense");
  await expect.poll(() => shown.page.locator("aside [role=alert]").innerText()).toContain('unknown name "nonsense"');
  expect(await shown.page.locator(".notice").count()).toBe(0);
  await field.press("Escape");
  await expect.poll(veil).toBe(0);
  await expect.poll(async () => [await words(), await field.inputValue()]).toEqual(["", "bf"]);
});

it("the next detector that is good takes the dimmed one's place", async () => {
  await shown.open();
  await expect.poll(async () => distinct(await shown.colours("image"))).toBeGreaterThan(20);
  await type("nonsense");
  await expect.poll(veil).toBeGreaterThan(100);
  await shown.lines("image").focus();
  await shown.page.keyboard.press("n");
  await expect.poll(veil).toBe(0);
  await expect.poll(() => shown.page.locator("aside [role=alert]").count()).toBe(0);
});

it("a shape that is dragged off the detector comes back when it is let go of", async () => {
  await shown.open();
  await expect.poll(async () => distinct(await shown.colours("image"))).toBeGreaterThan(20);
  await shown.page.getByRole("button", { name: "Circle" }).first().click();
  const { x, y } = await shown.box("pattern");
  const from = await shown.spot("pattern", DETECTOR, 48, 48);
  const to = await shown.spot("pattern", DETECTOR, 48, -40);
  await shown.page.mouse.move(x + from.x, y + from.y);
  await shown.page.mouse.down();
  await shown.page.mouse.move(x + to.x, y + to.y, { steps: 6 });
  await expect.poll(words).toMatch(/^still circle, the detector circle\(\.\.\.\) covers no good pixel/);
  await shown.page.mouse.up();
  const col = async () => ((await shown.view("detectors")) as { shape: { col: number } }[])[0].shape.col;
  // A circle of radius 14 has a pixel on the detector as long as its middle is less than 14 beyond it.
  await expect.poll(col).toBeGreaterThan(-14);
});

it("the brush asks for nothing before the first stroke, and that one paints", async () => {
  await shown.open();
  await expect.poll(async () => distinct(await shown.colours("image"))).toBeGreaterThan(20);
  const commands = shown.what.seen.filter((name) => name === "set_detector").length;
  await shown.page.getByRole("button", { name: "Free mask" }).click();
  await expect.poll(veil).toBeGreaterThan(100);
  await expect.poll(words).toBe("still BF, the mask is empty: paint on the pattern");
  expect(await shown.page.locator("[role=alert], .notice").count()).toBe(0);
  expect(shown.what.seen.filter((name) => name === "set_detector").length).toBe(commands);
  const { x, y } = await shown.box("pattern");
  const at = await shown.spot("pattern", DETECTOR, 40, 52);
  await shown.page.mouse.click(x + at.x, y + at.y);
  // All pixels whose middles are within the brush's three pixels of the click, which is as exact as a screen pixel.
  const { shape } = ((await shown.view("detectors")) as { shape: { runs: [number, number, number][] } }[])[0];
  const mask = Uint8Array.from({ length: 96 * 96 }, (_, q) => Number(Math.hypot(Math.floor(q / 96) - 40, (q % 96) - 52) <= 3));
  const rows = (runs: [number, number, number][]) => [runs[0][0], runs[runs.length - 1][0]];
  expect(rows(shape.runs).map((row, i) => Math.abs(row - rows(runsOf(mask, 96, 96))[i])).every((away) => away <= 1)).toBe(true);
  await expect.poll(veil).toBe(0);
  expect(await shown.page.locator("[role=alert], .notice").count()).toBe(0);
});

it("a painted mask has a rim and no lines inside of it", async () => {
  await shown.open();
  await shown.page.getByRole("button", { name: "Free mask" }).click();
  await shown.page.getByLabel("brush").fill("10");
  await shown.page.getByLabel("brush").press("Enter");
  const { x, y } = await shown.box("pattern");
  const at = await shown.spot("pattern", DETECTOR, 40, 52);
  await shown.page.mouse.click(x + at.x, y + at.y);
  await shown.page.mouse.move(x + 4, y + 4);
  const [top, bottom] = [await shown.spot("pattern", DETECTOR, 33, 52), await shown.spot("pattern", DETECTOR, 47, 52)];
  const inside = async () => [...new Set(await lines("pattern", top, 1, Math.floor(bottom.y - top.y)))];
  // One even opacity over fourteen rows of pixels.
  await shown.rest();
  const opacities = await inside();
  expect(opacities).toHaveLength(1);
  expect(opacities[0]).toBeGreaterThan(40);
  const outside = await shown.spot("pattern", DETECTOR, 28, 52);
  expect(Math.max(...(await lines("pattern", outside, 1, Math.floor(top.y - outside.y))))).toBe(255);
});

it("the pixels that words mean are drawn over the pattern, with one rim", async () => {
  await shown.open();
  await type("rect(0,0,96,48)");
  const at = async (row: number, col: number) => (await lines("pattern", await shown.spot("pattern", DETECTOR, row, col), 1, 1))[0];
  // The simulated server fills the left half.
  await expect.poll(() => at(30, 20)).toBeGreaterThan(40);
  expect([await at(70, 40), await at(30, 60)]).toEqual([await at(30, 20), 0]);
});

it("an item whose image cannot be made leaves none of another item as if it were its own", async () => {
  await shown.open({ items: 3, beamless: [1] });
  await expect.poll(async () => distinct(await shown.colours("image"))).toBeGreaterThan(20);
  await shown.lines("image").focus();
  await shown.page.keyboard.press(".");
  await expect.poll(veil).toBeGreaterThan(100);
  await expect.poll(words).toBe("still item 1, no disk was found in the mean pattern");
  await shown.page.keyboard.press(".");
  await expect.poll(veil).toBe(0);
});

// SPDX-License-Identifier: Apache-2.0
/** First moments on the screen: how far the beam is deflected, in colours that part at zero. */
import { describe, expect, it } from "vitest";

import { colourTable, type ColourTable } from "../src/display/colour_maps";
import { SimulatedPage } from "./simulated_page";

const SCAN: [number, number] = [64, 64];
const MRAD = 1.5;
const shown = new SimulatedPage();

/** The colour of a value between these ends. */
function colourOf(table: ColourTable, value: number, low: number, high: number): number[] {
  const at = 4 * Math.round(255 * Math.min(1, Math.max(0, (value - low) / (high - low))));
  return Array.from(table.slice(at, at + 3));
}

async function coloured([row, col]: [number, number], expected: number[]): Promise<void> {
  const spot = await shown.spot("image", SCAN, row, col);
  // A rounding in arithmetic of 32 bits may take the neighbouring colour: red to blue are 256 of them.
  await expect.poll(async () => Math.max(...(await shown.colourAt("image", spot)).map((value, i) => Math.abs(value - expected[i])))).toBeLessThanOrEqual(4);
}

const row = (i: number) => 2 * Math.sin((2 * Math.PI * i) / 32) * MRAD;
const col = (i: number) => 1.5 * Math.cos((2 * Math.PI * i) / 40) * MRAD;

describe.each(["?draw=webgl", "?draw=canvas"])("drawn with %s", (query) => {
  it("a component has the same range on both sides of zero, and two colours", async () => {
    await shown.open({}, { query });
    await shown.page.getByRole("button", { name: "CoM row" }).click();
    await shown.page.keyboard.press("Escape");
    const table = colourTable("RdBu");
    // The largest deflection, which more than half a percent of the positions have, is at either end.
    for (const r of [8, 24, 0, 16, 3, 29]) await coloured([r, 20], colourOf(table, row(r), -2 * MRAD, 2 * MRAD));
    const low = shown.page.locator("section[aria-label='Real space'] [aria-label='lower end of the range']");
    // The histogram follows the image.
    await expect.poll(() => low.getAttribute("aria-valuetext")).toBe("\u22123");
    await expect.poll(() => shown.page.locator("section[aria-label='Real space'] .histogram .unit").innerText()).toBe("mrad");
    await shown.moveTo("image", await shown.spot("image", SCAN, 3, 20));
    await expect.poll(() => shown.readout("Real space")).toContain(`${Number(Math.fround(row(3)).toPrecision(6))}\u2009mrad`);
  });

  it("the angle goes round a circle of colours, whatever contrast is asked for", async () => {
    await shown.open({}, { query });
    await shown.page.getByRole("button", { name: "angle: direction" }).click();
    const table = colourTable("phase");
    const check = async () => {
      for (const [r, c] of [[4, 3], [20, 3], [4, 25], [20, 25]] as [number, number][])
        await coloured([r, c], colourOf(table, Math.atan2(row(r), col(c)), -Math.PI, Math.PI));
    };
    await check();
    await shown.display("angle", { contrast: "fixed", low: 0, high: 1, stretch: "log", map: "gray" });
    await check();
  });
});

it("are all four beside each other at once, each in its own unit", async () => {
  await shown.open();
  await shown.page.getByRole("button", { name: "All four" }).click();
  expect(await shown.view("arrangement")).toBe("grid");
  expect(await shown.view("detectors")).toMatchObject(["bf", "com-row", "com-col", "com-magnitude", "com-angle"].map((expr, channel) => ({ channel, expr })));
  const units: [name: string, unit: string][] = [["BF", "counts"], ["CoM row", "mrad"], ["CoM column", "mrad"], ["|CoM|", "mrad"], ["CoM angle", "rad"]];
  for (const [name, unit] of units) {
    await shown.page.locator(".channels").getByRole("button", { name }).click();
    // The histogram follows the image.
    await expect.poll(() => shown.page.locator("section[aria-label='Real space'] .histogram .unit").innerText()).toBe(unit);
  }
  // A second time adds none.
  await shown.page.getByRole("button", { name: "All four" }).click();
  expect(await shown.view("detectors")).toHaveLength(5);
});

it("contrast that is set for counts leaves deflections alone, and the other way round", async () => {
  await shown.open();
  await expect.poll(() => shown.values(2)).not.toBeNull();
  // More than the lowest value: the ends of a range are in order.
  await shown.page.getByLabel("Highest value shown").first().fill("200000");
  await shown.page.getByLabel("Highest value shown").first().press("Enter");
  await shown.page.getByRole("button", { name: "CoM row" }).click();
  await coloured([8, 20], colourOf(colourTable("RdBu"), row(8), -2 * MRAD, 2 * MRAD));
  const display = (await shown.view("display")) as Record<string, { contrast: string; high: number }>;
  expect([display.image, display.deflection]).toMatchObject([{ contrast: "fixed", high: 200000 }, { contrast: "auto" }]);
});

// SPDX-License-Identifier: Apache-2.0
/** What the page tells in words, colours and places agrees with what it shows. */
import { describe, expect, it } from "vitest";

import { colourTable } from "../src/display/colour_maps";
import { SimulatedPage } from "./simulated_page";

const shown = new SimulatedPage();

async function compare(how: "side" | "difference"): Promise<number[][]> {
  for (const name of ["scan_master.h5", "scan_2_master.h5"]) await shown.page.getByRole("checkbox", { name: `Compare ${name}` }).check();
  await shown.page.getByLabel("Comparison").selectOption(how);
  for (const id of [0, 1]) await expect.poll(() => shown.values(2, id)).not.toBeNull();
  await shown.rest();
  return [(await shown.values(2, 0)) ?? [], (await shown.values(2, 1)) ?? []];
}

/** The numbers under a place of the real-space panel. */
async function readAt(across: number, down: number): Promise<{ row: number; col: number; value: number }> {
  const { x, y, width, height } = await shown.box("image");
  await shown.page.mouse.move(x + across * width, y + down * height);
  await shown.rest();
  const [, row, col, value] = /row (\d+)\s+col (\d+)\s+(\S+)/.exec((await shown.readout("Real space")).replaceAll("\u2009", "")) ?? [];
  return { row: Number(row), col: Number(col), value: Number(value?.replace("\u2212", "-")) };
}

it("swatches and outlines are red, green and blue where the images are, and else tell detectors apart", async () => {
  await shown.open();
  for (let i = 0; i < 3; ++i) await shown.page.getByRole("button", { name: "Add a detector" }).click();
  const swatches = () => shown.page.locator(".channels .swatch").evaluateAll((all) => all.map((one) => getComputedStyle(one).backgroundColor.match(/\d+/g)?.map(Number) ?? []));
  await expect.poll(async () => (await swatches()).length).toBe(4);
  await shown.rest();
  const before = await swatches();
  await shown.page.getByRole("button", { name: "RGB" }).click();
  await expect.poll(swatches).not.toEqual(before);
  await shown.rest();
  const [red, green, blue, none] = await swatches();
  // The largest of the three parts says which channel it is; the fourth has no part in the picture.
  expect([red, green, blue].map((colour) => colour.indexOf(Math.max(...colour)))).toEqual([0, 1, 2]);
  for (const colour of [red, green, blue]) expect(Math.max(...colour) - Math.min(...colour)).toBeGreaterThan(100);
  expect(Math.max(...none) - Math.min(...none)).toBeLessThan(30);
  await shown.page.getByRole("button", { name: "Single" }).click();
  await expect.poll(swatches).toEqual(before);
});

it("of red, green and blue the histogram's range is that of red; no colour map is offered", async () => {
  await shown.open();
  for (let i = 0; i < 2; ++i) await shown.page.getByRole("button", { name: "Add a detector" }).click();
  await shown.page.getByRole("button", { name: "RGB" }).click();
  const panel = shown.page.locator("section[aria-label='Real space']");
  await expect.poll(() => panel.getByLabel("Colour map").count()).toBe(0);
  const spot = await shown.spot("image", [64, 64], 20, 30);
  const [red, green, blue] = await shown.atRest("image").then(() => shown.colourAt("image", spot));
  expect(red).toBeGreaterThan(30);
  const high = panel.getByLabel("Highest value shown");
  await high.fill(String(2 * Number(await high.inputValue())));
  await high.press("Enter");
  await expect.poll(async () => (await shown.colourAt("image", spot))[0]).toBeLessThan(red - 10);
  expect((await shown.colourAt("image", spot)).slice(1)).toEqual([green, blue]);
  await shown.page.getByRole("button", { name: "Single" }).click();
  await expect.poll(() => panel.getByLabel("Colour map").count()).toBe(1);
});

it("an image that was made before says so in place of a time", async () => {
  await shown.open();
  const line = () => shown.page.locator("aside .section").first().locator("p.hint[title]").innerText();
  await shown.lines("image").focus();
  await shown.page.keyboard.press("n");
  await expect.poll(line).toBe("incremental, 0.31 ms");
  await shown.page.keyboard.press("b");
  await expect.poll(line).toBe("incremental, cached");
});

it("a shape's words have as many digits as can be read; the shape keeps them all", async () => {
  await shown.open();
  await shown.page.getByRole("button", { name: "Circle" }).first().click();
  await shown.page.evaluate(() => {
    type Sonde = { actions: { scan: { sendDetector(channel: number): void } }; store: { view: { detectors: { value: object[] } } } };
    const { actions, store } = (window as unknown as { __sonde: Sonde }).__sonde;
    store.view.detectors.value = [{ channel: 0, expr: null, shape: { kind: "circle", row: 47.123456789012345, col: 31.00000000000004, r: 9.5 } }];
    actions.scan.sendDetector(0);
  });
  const field = shown.page.getByRole("textbox", { name: "Expression" });
  await expect.poll(() => field.inputValue()).toBe("circle(47.123,31,9.5)");
  // Enter on words that were not changed does not put the rounded ones in place of the shape.
  await field.press("Enter");
  expect(await shown.view("detectors")).toMatchObject([{ shape: { row: 47.123456789012345, col: 31.00000000000004 } }]);
  expect(shown.what.received.at(-1)).not.toHaveProperty("expr");
});

describe("compared data sets", () => {
  it.each([[900, 760], [1400, 900]])("lie beside each other in a window of %d x %d", async (width, height) => {
    await shown.open({ datasets: 2 }, { viewport: { width, height } });
    const [first, second] = await compare("side");
    const seen = async () => {
      const [left, right] = [await readAt(0.25, 0.5), await readAt(0.75, 0.5)];
      return [left.value === first[left.row * 64 + left.col], right.value === second[right.row * 64 + right.col], left.row === right.row];
    };
    await expect.poll(seen).toEqual([true, true, true]);
  });

  it("have a difference in two colours about zero, with its own histogram and range", async () => {
    await shown.open({ datasets: 2 });
    const [first, second] = await compare("difference");
    const differences = first.map((value, i) => value - second[i]);
    const strip = shown.page.locator("section[aria-label='Real space'] .histogram");
    const end = (name: string) => strip.locator(`[aria-label='${name} end of the range']`).getAttribute("aria-valuenow");
    // The 0.5 and 99.5 % values, of which the one farther from zero counts: within a bin of 4096.
    const sorted = [...differences].sort((a, b) => a - b);
    const reach = Math.max(...[0.005, 0.995].map((part) => Math.abs(sorted[Math.round(part * (sorted.length - 1))])));
    const bin = (sorted[sorted.length - 1] - sorted[0]) / 4095;
    await expect.poll(async () => Math.abs(Number(await end("upper")) - reach)).toBeLessThanOrEqual(bin);
    expect(Number(await end("lower"))).toBe(-Number(await end("upper")));
    const high = Number(await end("upper"));
    // Its cell is the one below: three square images fill a panel of this shape in two lines.
    const { width, height } = await shown.box("image");
    const at = await readAt(0.25, 0.75);
    expect(at.value).toBe(differences[at.row * 64 + at.col]);
    const index = 4 * Math.round(255 * Math.min(1, Math.max(0, (at.value + high) / (2 * high))));
    const expected = Array.from(colourTable("RdBu").slice(index, index + 3));
    const seen = await shown.colourAt("image", { x: 0.25 * width, y: 0.75 * height });
    expect(Math.max(...seen.map((value, i) => Math.abs(value - expected[i])))).toBeLessThanOrEqual(4);
  });
});

describe("the read-out", () => {
  it.each([[900, 760], [1024, 640], [1400, 900]])("is not cut in a window of %d x %d", async (width, height) => {
    await shown.open({}, { viewport: { width, height } });
    for (let i = 0; i < 2; ++i) await shown.page.getByRole("button", { name: "Add a detector" }).click();
    await shown.page.getByRole("button", { name: "RGB" }).click();
    await shown.moveTo("image", await shown.spot("image", [64, 64], 60, 61));
    const line = shown.page.locator("section[aria-label='Real space'] .readout").first();
    await expect.poll(() => line.innerText()).toMatch(/row 60\s+col 61\s.*\/.*\/.*y 3\.00/s);
    const cut = await line.evaluate(({ scrollWidth, clientWidth, scrollHeight, clientHeight }) => [scrollWidth - clientWidth, scrollHeight - clientHeight]);
    expect(cut.every((hidden) => hidden <= 0)).toBe(true);
    // The panel ends below it.
    const [bottom, end] = await line.evaluate((element) => [element.getBoundingClientRect().bottom, element.closest("section")?.getBoundingClientRect().bottom ?? 0]);
    expect(bottom).toBeLessThanOrEqual(end);
  });

  it.each([[900, 760], [900, 900], [1024, 640], [1400, 900]])("of the FFT and of a line is whole in a window of %d x %d", async (width, height) => {
    await shown.open({}, { viewport: { width, height } });
    await shown.page.getByRole("button", { name: "FFT" }).click();
    await shown.page.locator("section[aria-label='Real space']").getByRole("button", { name: "Line profile" }).click();
    const { x, y } = await shown.box("image");
    const [from, to] = [await shown.spot("image", [64, 64], 10, 12), await shown.spot("image", [64, 64], 50, 40)];
    await shown.page.mouse.move(x + from.x, y + from.y);
    await shown.page.mouse.down();
    await shown.page.mouse.move(x + to.x, y + to.y, { steps: 3 });
    await shown.page.mouse.up();
    await expect.poll(() => shown.page.locator("section[aria-label='FFT'] header").innerText()).toContain("1/nm");
    // The words of each panel's head are within it, and the panel ends below its last line.
    const cut = () =>
      shown.page.locator("section.panel").evaluateAll((panels) =>
        panels.flatMap((panel) => {
          const head = (panel.querySelector("header") as Element).getBoundingClientRect();
          const words = Array.from(panel.querySelectorAll("header > *"), (one) => one.getBoundingClientRect());
          const within = words.every(({ top, bottom, right }) => top >= head.top - 1 && bottom <= head.bottom + 1 && right <= head.right + 1);
          const whole = (panel.lastElementChild as Element).getBoundingClientRect().bottom <= panel.getBoundingClientRect().bottom;
          return within && whole ? [] : [panel.getAttribute("aria-label")];
        }),
      );
    await expect.poll(cut).toEqual([]);
  });
});

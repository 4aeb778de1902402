// SPDX-License-Identifier: Apache-2.0
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import { launch, openSimulated } from "./browser";
import { simulation, type Simulation } from "./simulated_server";

const dist = fileURLToPath(new URL("../dist", import.meta.url));

let browser: Browser;
let page: Page;
let problems: string[];

beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser.close());
afterEach(async () => {
  await page.close();
  // A policy violation, a failed shader and an exception all end up here.
  expect(problems).toEqual([]);
});

async function open(change: Partial<Simulation> = {}, viewport = { width: 1280, height: 800 }, query = ""): Promise<Simulation> {
  page = await browser.newPage({ viewport });
  problems = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  const what = simulation({ scan: [64, 64], ...change });
  await openSimulated(page, dist, what, query);
  await view("cursor");
  return what;
}

/** A field of the page's state, once nothing is under way. */
async function view(name: string): Promise<unknown> {
  return page.evaluate((field) => (window as unknown as { __sonde: { store: { view: Record<string, { value: unknown }> } } }).__sonde.store.view[field].value, name);
}

/** Colours along the middle line of a panel's images, as they are on the screen. */
function colours(panel: string): Promise<number[]> {
  return page.evaluate((name) => {
    const canvas = document.querySelector(`[data-panel=${name}] canvas`) as HTMLCanvasElement;
    const copy = document.createElement("canvas");
    copy.width = canvas.width;
    copy.height = canvas.height;
    const context = copy.getContext("2d") as CanvasRenderingContext2D;
    context.drawImage(canvas, 0, 0);
    return Array.from(context.getImageData(0, canvas.height >> 1, canvas.width, 1).data);
  }, panel);
}
/** The same, once it does not change any more. */
async function atRest(panel: string): Promise<number[]> {
  for (let before: number[] = []; ; ) {
    const now = await colours(panel);
    if (now.join() === before.join()) return now;
    before = now;
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  }
}
const distinct = (pixels: number[]) => new Set(pixels.filter((_, i) => i % 4 === 0)).size;
const changed = (panel: string, before: number[]) => expect.poll(() => colours(panel), { timeout: 20_000 }).not.toEqual(before);

describe.each([
  ["WebGL2", "?draw=webgl"],
  ["Canvas2D", "?draw=canvas"],
])("drawn with %s", (name, query) => {
  it("shows an image and a pattern that are not blank", async () => {
    await open({}, undefined, query);
    expect(await page.evaluate(() => (window as unknown as { __sonde: { renderer(): string } }).__sonde.renderer())).toBe(name);
    await expect.poll(async () => distinct(await colours("image"))).toBeGreaterThan(20);
    await expect.poll(async () => distinct(await colours("pattern"))).toBeGreaterThan(10);
  });
});

it("draws the same with WebGL2 and Canvas2D", async () => {
  const seen: number[][] = [];
  for (const query of ["?draw=webgl", "?draw=canvas"]) {
    if (seen.length > 0) await page.close();
    await open({}, undefined, query);
    await expect.poll(async () => distinct(await colours("pattern"))).toBeGreaterThan(10);
    seen.push(await atRest("pattern"));
  }
  // Arithmetic of 32 and of 64 bits may round a value to neighbouring colours, and the centre of a screen pixel that lies
  // on the border of two data pixels to either of them: there are at most 95 such borders on this line.
  const far = seen[0].filter((value, i) => i % 4 === 0 && Math.abs(value - seen[1][i]) > 6);
  expect(far.length).toBeLessThanOrEqual(95);
});

describe("pointer", () => {
  it("moves the detector and the image follows", async () => {
    await open();
    await expect.poll(async () => distinct(await colours("image"))).toBeGreaterThan(20);
    const before = await colours("image");
    const box = await page.locator("[data-panel=pattern] .lines").boundingBox();
    if (!box) throw new Error("no panel");
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 + 60, box.y + box.height / 2, { steps: 8 });
    await page.mouse.up();
    await changed("image", before);
    expect((await view("detectors")) as object[]).toMatchObject([{ channel: 0, shape: { kind: "circle", r: 14 } }]);
  });

  it("moves the probe and the pattern follows", async () => {
    await open();
    await expect.poll(async () => distinct(await colours("pattern"))).toBeGreaterThan(10);
    const before = await colours("pattern");
    const box = await page.locator("[data-panel=image] .lines").boundingBox();
    if (!box) throw new Error("no panel");
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2 - 150);
    await changed("pattern", before);
    expect(((await view("cursor")) as { row: number }).row).toBeLessThan(32);
  });

  it("zooms with the wheel and shows all again with a double click", async () => {
    await open();
    const lines = page.locator("[data-panel=image] .lines");
    await lines.hover();
    await page.mouse.wheel(0, -600);
    await expect.poll(async () => ((await view("zoom")) as { image: { zoom: number } }).image.zoom).toBeGreaterThan(2);
    await lines.dblclick();
    await expect.poll(() => view("zoom")).toMatchObject({ image: { zoom: 1 } });
  });

  it("never floods the server: far fewer commands than movements, and the last one counts", async () => {
    const what = await open();
    await expect.poll(async () => distinct(await colours("image"))).toBeGreaterThan(20);
    what.seen.length = 0;
    await page.evaluate(() => {
      const lines = document.querySelector("[data-panel=pattern] .lines") as HTMLElement;
      const { left, top, width, height } = lines.getBoundingClientRect();
      const fire = (type: string, x: number) =>
        lines.dispatchEvent(new PointerEvent(type, { pointerId: 1, button: 0, clientX: left + x, clientY: top + height / 2, bubbles: true }));
      lines.setPointerCapture = () => {};
      fire("pointerdown", width / 2);
      for (let i = 0; i < 1000; ++i) fire("pointermove", width / 2 + (i % 80));
      fire("pointermove", width / 2 + 40);
      fire("pointerup", width / 2 + 40);
    });
    await expect.poll(() => page.evaluate(() => (window as unknown as { __sonde: { delays: { summary(): { delays: number } } } }).__sonde.delays.summary().delays)).toBeGreaterThan(2);
    const commands = what.seen.filter((name) => name === "set_detector").length;
    // One at once and one when it was answered.
    expect(commands).toBeGreaterThanOrEqual(1);
    expect(commands).toBeLessThanOrEqual(3);
  });
});

describe("keyboard alone", () => {
  it("does what the help says", async () => {
    await open({ items: 3 });
    const [row, col] = [32, 32];
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Shift+ArrowLeft");
    expect(await view("cursor")).toEqual({ row: row + 1, col: col - 10 });
    await page.keyboard.press("n");
    expect(await view("detectors")).toMatchObject([{ expr: "adf" }]);
    await page.keyboard.press("d");
    await page.keyboard.press("Shift+S");
    expect(await view("detectors")).toMatchObject([{ shape: { kind: "annulus", row: 58, col: 49, rIn: 14, rOut: 28 } }]);
    await page.keyboard.press("+");
    await page.keyboard.press("[");
    expect(await view("detectors")).toMatchObject([{ shape: { rIn: 13, rOut: 29 } }]);
    await page.keyboard.press(".");
    expect(await view("item")).toBe(1);
    await page.keyboard.press(",");
    expect(await view("item")).toBe(0);
    await page.keyboard.press("l");
    expect(await view("display")).toMatchObject({ image: { stretch: "log" } });
    await page.keyboard.press("f");
    expect(await view("spectrumOn")).toBe(true);
    await page.keyboard.press("g");
    expect(await view("arrangement")).toBe("grid");
    for (const [key, name] of [["b", "bf"], ["v", "abf"], ["h", "haadf"]]) {
      await page.keyboard.press(key);
      expect(await view("detectors")).toMatchObject([{ expr: name }]);
    }
    await page.keyboard.press("?");
    expect(await page.getByRole("dialog").innerText()).toContain("move the probe");
    await page.keyboard.press("Escape");
    await expect.poll(() => page.locator("dialog").count()).toBe(0);
    await page.keyboard.press("e");
    await expect.poll(() => page.getByRole("dialog").count()).toBe(1);
  });

  it("has A for both of its meanings", async () => {
    await open();
    await page.evaluate(() => {
      const { view } = (window as unknown as { __sonde: { store: { view: { display: { value: Record<string, object> } } } } }).__sonde.store;
      view.display.value = { ...view.display.value, image: { ...view.display.value.image, contrast: "fixed" } };
    });
    await page.keyboard.press("a");
    expect(await view("display")).toMatchObject({ image: { contrast: "auto" } });
    await page.locator("[data-panel=pattern] .lines").focus();
    await page.keyboard.press("a");
    expect(await view("detectors")).toMatchObject([{ shape: { col: 47 } }]);
  });

  it("reaches every control by Tab, each with a name and large enough to hit", async () => {
    await open({ items: 3, datasets: 2 });
    await page.keyboard.press("f");
    await expect.poll(() => page.locator("[data-panel=spectrum]").count()).toBe(1);
    const poor = await page.evaluate(() => {
      const name = (element: Element) => {
        const label = element.getAttribute("aria-label") ?? element.closest("label")?.textContent ?? element.textContent ?? "";
        return label.trim();
      };
      return [...document.querySelectorAll("button, input, select, summary, canvas.lines, [role=slider]")]
        .filter((element) => (element as HTMLElement).checkVisibility() && !element.classList.contains("unseen"))
        .flatMap((element) => {
          // A box to tick is hit through its label.
          const { width, height } = (element.closest("label.check") ?? element).getBoundingClientRect();
          const wrong = [];
          if (name(element) === "") wrong.push("no name");
          if (width < 24 || height < 24) wrong.push(`${Math.round(width)} x ${Math.round(height)}`);
          if ((element as HTMLElement).tabIndex < 0) wrong.push("not by Tab");
          return wrong.map((what) => `${element.tagName} "${name(element)}": ${what}`);
        });
    });
    expect(poor).toEqual([]);
    const duplicates = await page.evaluate(() => document.querySelectorAll("main").length + document.querySelectorAll("h1").length);
    expect(duplicates).toBe(2);
  });
});

describe("narrow and low windows", () => {
  it.each([
    [390, 844],
    [1024, 640],
  ])("show everything without scrolling sideways (%d x %d)", async (width, height) => {
    await open({ items: 3 }, { width, height });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    const box = await page.locator("[data-panel=image] .lines").boundingBox();
    expect(box?.width).toBeGreaterThan(300);
    expect(box?.height).toBeGreaterThan(300);
    await expect.poll(async () => distinct(await colours("image"))).toBeGreaterThan(20);
  });
});

it("says what is wrong with a detector in words, and keeps the last image", async () => {
  await open();
  await expect.poll(async () => distinct(await colours("image"))).toBeGreaterThan(20);
  const before = await atRest("image");
  const field = page.getByRole("textbox", { name: "Expression" });
  await field.fill("nonsense");
  await field.press("Enter");
  await expect.poll(() => page.locator("aside [role=alert]").innerText()).toContain('unknown name "nonsense"');
  expect(await atRest("image")).toEqual(before);
});

it("plays a series to its end", async () => {
  const what = await open({ items: 4 });
  await page.getByRole("button", { name: "Loop" }).click();
  await page.keyboard.press("Escape");
  await page.locator("[data-panel=image] .lines").focus();
  await page.keyboard.press("Space");
  await expect.poll(() => view("item"), { timeout: 20_000 }).toBe(3);
  await expect.poll(() => page.getByRole("button", { name: "Play" }).count(), { timeout: 20_000 }).toBe(1);
  expect(what.seen.filter((name) => name === "set_item").length).toBe(3);
});

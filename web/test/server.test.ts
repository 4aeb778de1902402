// SPDX-License-Identifier: Apache-2.0
/** The page against the real program: what it shows is what the command line computes. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { launch } from "./browser";
import { imageByCommand, readNpy, run, simulate, temporaryFolder, ViewServer, type Folder } from "./sonde";

const TOKEN = "a-token-of-this-test-only";

let browser: Browser;
let folder: Folder;
let scan: string;
let series: string;
let server: ViewServer;
let context: BrowserContext;
let page: Page;
let problems: string[];

beforeAll(async () => {
  folder = temporaryFolder();
  scan = simulate(join(folder.path, "one_master.h5"), 1);
  series = join(folder.path, "series");
  mkdirSync(series);
  for (const seed of [2, 3, 4]) simulate(join(series, `tilt${seed}_master.h5`), seed);
  browser = await launch();
});
afterAll(async () => {
  await browser.close();
  folder.remove();
});
beforeEach(async () => {
  context = await browser.newContext({ viewport: { width: 1280, height: 800 }, acceptDownloads: true });
  problems = [];
});
afterEach(async () => {
  await context.close();
  await server.stop();
  expect(problems).toEqual([]);
});

interface Shown {
  id: number;
  item: number;
  rows: number;
  cols: number;
  values: number[];
}

async function open(files: string[], options: string[] = []): Promise<void> {
  server = await ViewServer.start(files, ["--token", TOKEN, ...options]);
  page = await client();
}

async function client(): Promise<Page> {
  const made = await context.newPage();
  made.on("pageerror", (error) => problems.push(error.message));
  await made.goto(server.url);
  await expect.poll(() => image(0, made), { timeout: 60_000 }).not.toBeNull();
  return made;
}

/** The newest image of a channel, as the page received it. */
function image(channel = 0, from = page, kind = 2): Promise<Shown | null> {
  return from.evaluate(
    ([which, what]) => {
      type Frame = { id: number; item: number; rows: number; cols: number; values: ArrayLike<number | bigint> };
      type Sonde = { store: { view: { dataset: { value: number | null } }; frame(kind: number, dataset: number, channel: number): { value: Frame | null } } };
      const { store } = (window as unknown as { __sonde: Sonde }).__sonde;
      const frame = store.frame(what, store.view.dataset.value ?? 0, which).value;
      return frame && { id: frame.id, item: frame.item, rows: frame.rows, cols: frame.cols, values: Array.from(frame.values, Number) };
    },
    [channel, kind],
  );
}

function state(name: string, from = page): Promise<unknown> {
  return from.evaluate((field) => (window as unknown as { __sonde: { store: { view: Record<string, { value: unknown }> } } }).__sonde.store.view[field].value, name);
}

function snapshot(): Promise<unknown> {
  return page.evaluate(() => (window as unknown as { __sonde: { store: { snapshot(): unknown } } }).__sonde.store.snapshot());
}

const values = async (channel = 0, from = page) => (await image(channel, from))?.values;
const settled = (expected: number[], channel = 0, from = page) => expect.poll(() => values(channel, from), { timeout: 30_000 }).toEqual(expected);

async function useExpression(text: string): Promise<void> {
  const field = page.getByRole("textbox", { name: "Expression" });
  await field.fill(text);
  await field.press("Enter");
}

async function dragDetector(dx: number, dy: number): Promise<void> {
  const box = await page.locator("[data-panel=pattern] .lines").boundingBox();
  if (!box) throw new Error("no panel");
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + dx, y + dy, { steps: 30 });
  await page.mouse.up();
}

/** The active detector in the words of the command line. */
async function detectorWords(): Promise<string> {
  const [detector] = (await state("detectors")) as { shape: { row: number; col: number; r: number } }[];
  const { row, col, r } = detector.shape;
  return `circle(${row},${col},${r})`;
}

describe("images", () => {
  it("are what the command line computes", async () => {
    await open([scan]);
    await settled(imageByCommand(scan, "bf", folder.path).values);
    await useExpression("annulus(auto,auto,1rho,2.5rho) & !rect(0,0,32,64)");
    await settled(imageByCommand(scan, "annulus(auto,auto,1rho,2.5rho) & !rect(0,0,32,64)", folder.path).values);
  });

  it("follow a drag and end where it ended", async () => {
    await open([scan]);
    const before = await values();
    await dragDetector(50, -20);
    await expect.poll(() => values()).not.toEqual(before);
    await settled(imageByCommand(scan, await detectorWords(), folder.path).values);
  });

  it("show the newest of a flood of movements", async () => {
    await open([scan]);
    await page.evaluate(() => {
      const lines = document.querySelector("[data-panel=pattern] .lines") as HTMLElement;
      const { left, top, width, height } = lines.getBoundingClientRect();
      lines.setPointerCapture = () => {};
      const fire = (type: string, x: number) =>
        lines.dispatchEvent(new PointerEvent(type, { pointerId: 1, button: 0, clientX: left + x, clientY: top + height / 2, bubbles: true }));
      fire("pointerdown", width / 2);
      for (let i = 0; i < 3000; ++i) fire("pointermove", width / 2 + (i % 97));
      fire("pointermove", width / 2 + 33);
      fire("pointerup", width / 2 + 33);
    });
    await settled(imageByCommand(scan, await detectorWords(), folder.path).values);
  });

  it("of eight detectors are all there", async () => {
    await open([scan]);
    for (let channel = 1; channel < 8; ++channel) {
      await page.getByRole("button", { name: "Add a detector" }).click();
      await useExpression(`annulus(auto,auto,${channel},${channel + 2})`);
      await settled(imageByCommand(scan, `annulus(auto,auto,${channel},${channel + 2})`, folder.path).values, channel);
    }
    expect(await page.getByRole("button", { name: "Add a detector" }).isDisabled()).toBe(true);
  });
});

describe("comparison", () => {
  it("puts one detector on two scans, and shows their difference to the last count", async () => {
    const other = simulate(join(folder.path, "other_master.h5"), 9);
    await open([scan, other]);
    for (const name of ["one", "other"]) await page.getByRole("checkbox", { name: `Compare ${name}` }).check();
    await useExpression("circle(32,32,9)");
    const [first, second] = [scan, other].map((master) => imageByCommand(master, "circle(32,32,9)", folder.path).values);
    await settled(first);
    await page.getByLabel("Comparison").selectOption("difference");
    await page.locator("[data-panel=image] .lines").focus();
    // The third cell is the difference; its read-out comes from the received counts.
    const box = await page.locator("[data-panel=image] .lines").boundingBox();
    if (!box) throw new Error("no panel");
    const line = page.locator("section[aria-label='Real space'] .readout").first();
    const numbers = async () => {
      for (const [x, y] of [[0.25, 0.75], [0.5, 0.83], [0.83, 0.5]]) {
        await page.mouse.move(box.x + x * box.width, box.y + y * box.height);
        const found = /row (\d+)\s+col (\d+)\s+(\S+)/.exec((await line.innerText()).replaceAll("\u2009", ""));
        const [row, col, value] = (found ?? []).slice(1).map((text) => Number(text.replace("\u2212", "-")));
        if (value === first[row * 40 + col] - second[row * 40 + col]) return "difference";
      }
      return "none";
    };
    await expect.poll(numbers, { timeout: 30_000 }).toBe("difference");
  });
});

describe("series", () => {
  it("plays every item with its own image", async () => {
    await open([series]);
    const expected = [2, 3, 4].map((seed) => imageByCommand(join(series, `tilt${seed}_master.h5`), "circle(32,32,9)", folder.path).values);
    await useExpression("circle(32,32,9)");
    await settled(expected[0]);
    await page.getByRole("button", { name: "Loop" }).click();
    await page.getByRole("button", { name: "Play" }).click();
    await expect.poll(() => state("item"), { timeout: 60_000 }).toBe(2);
    await settled(expected[2]);
    // Until playing has ended it would go on from wherever the button leads.
    await page.getByRole("button", { name: "Play" }).waitFor();
    await page.getByRole("button", { name: "Previous item" }).click();
    await settled(expected[1]);
  });
});

describe("clients and server", () => {
  it("serve two pages that do not disturb each other", async () => {
    await open([scan]);
    const other = await client();
    await page.keyboard.press("n");
    await other.keyboard.press("h");
    await settled(imageByCommand(scan, "adf", folder.path).values);
    await settled(imageByCommand(scan, "haadf", folder.path).values, 0, other);
  });

  it("go on after the server was started again, with what was set", async () => {
    await open([scan]);
    await useExpression("circle(30,31,7)");
    const expected = imageByCommand(scan, "circle(30,31,7)", folder.path).values;
    await settled(expected);
    const before = await snapshot();
    const { port } = server;
    await server.stop();
    await expect.poll(() => page.locator(".connection").innerText()).toBe("no connection");
    expect(await page.locator("[role=alert]").first().innerText()).not.toBe("");
    server = await ViewServer.start([scan], ["--token", TOKEN, "--port", port]);
    await expect.poll(() => page.locator(".connection").innerText(), { timeout: 60_000 }).toBe("connected");
    expect(await snapshot()).toEqual(before);
    // The page goes on with the new server.
    await useExpression("circle(30,31,8)");
    await settled(imageByCommand(scan, "circle(30,31,8)", folder.path).values);
  });
});

describe("exports", () => {
  async function save(what: string, as: string): Promise<Uint8Array> {
    await page.keyboard.press("e");
    await page.getByLabel("What", { exact: true }).selectOption(what);
    await page.getByLabel("As", { exact: true }).selectOption(as);
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save file" }).click()]);
    const bytes = readFileSync(await download.path());
    await page.keyboard.press("Escape");
    await expect.poll(() => page.locator("dialog").count()).toBe(0);
    return bytes;
  }

  it("decode to exactly what is shown", async () => {
    await open([scan]);
    const shown = (await image()) as Shown;
    const file = readNpy(await save("image", "npy"));
    expect(file.shape).toEqual([shown.rows, shown.cols]);
    expect(file.values).toEqual(shown.values);
    const pattern = (await image(0, page, 1)) as Shown;
    expect(readNpy(await save("pattern", "npy")).values).toEqual(pattern.values);
  });

  it("make a PNG of the screen", async () => {
    await open([scan]);
    const bytes = await save("image", "screen");
    expect(Array.from(bytes.subarray(1, 4))).toEqual(Array.from(new TextEncoder().encode("PNG")));
    const size = new DataView(bytes.buffer, bytes.byteOffset);
    // 48 x 40 positions, so the picture is higher than wide in that proportion, within a pixel of rounding.
    expect(Math.abs((size.getUint32(20) * 40) / 48 - size.getUint32(16))).toBeLessThanOrEqual(1);
  });

  it("keep a state that brings every control back", async () => {
    await open([scan]);
    for (const key of ["n", "d", "+", "ArrowUp", "l", "g"]) await page.keyboard.press(key);
    await page.getByRole("button", { name: "Circle" }).last().click();
    const words = await state("detectors");
    await page.keyboard.press("e");
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save the state" }).click()]);
    const before = await snapshot();
    const expected = await values();
    const file = await download.path();
    // The command line makes the same image of it.
    const output = join(folder.path, "again.npy");
    run("stem", "image", "--state", file, "-o", output, "--quiet");
    expect(readNpy(readFileSync(output)).values).toEqual(expected);
    await page.close();
    page = await client();
    expect(await state("detectors")).not.toEqual(words);
    await page.keyboard.press("e");
    await page.locator("input[type=file]").setInputFiles(file);
    await expect.poll(() => page.locator("dialog").count()).toBe(0);
    expect(await snapshot()).toEqual(before);
    await settled(expected ?? []);
  });
});

// SPDX-License-Identifier: Apache-2.0
/** Files that the page saves: their contents are the numbers that the page received. */
import { mkdirSync, readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";

import { colourTable } from "../src/display/colour_maps";
import { readPng, readTiff, readZip } from "./files";
import { Live } from "./live";
import { readNpy, run, simulate } from "./sonde";

const SCAN: [number, number] = [48, 40];

const live = new Live();
let scan: string;
beforeAll(async () => {
  scan = await simulate(live.file("one_master.h5"), 1);
  mkdirSync(live.file("series"));
  for (const seed of [2, 3]) await simulate(live.file(`series/tilt${seed}_master.h5`), seed);
});

/** The path of a file that was saved in the dialog, with its name. */
async function saved(what: string, as: string): Promise<{ path: string; name: string }> {
  await live.page.keyboard.press("e");
  await live.page.getByLabel("What", { exact: true }).selectOption(what);
  await live.page.getByLabel("As", { exact: true }).selectOption(as);
  const [download] = await Promise.all([live.page.waitForEvent("download"), live.page.getByRole("button", { name: "Save file" }).click()]);
  await live.page.keyboard.press("Escape");
  await expect.poll(() => live.page.locator("dialog").count()).toBe(0);
  return { path: await download.path(), name: download.suggestedFilename() };
}
const save = async (what: string, as: string): Promise<Uint8Array> => readFileSync((await saved(what, as)).path);
const numbers = (text: string) => text.trim().split("\n").map((line) => line.split(",").map(Number));

/** Draws a line across the image and returns what the page received of it. */
async function profile(): Promise<{ values: number[]; reply: { length: number; unit: string } }> {
  await live.page.locator("section[aria-label='Real space']").getByRole("button", { name: "Line profile" }).click();
  await live.drag([await live.spot("image", SCAN, 8, 5), await live.spot("image", SCAN, 40, 33)]);
  await live.rest();
  const received = () =>
    live.page.evaluate(() => {
      type Reply = { id: number; length: number; unit: string };
      type Store = { profile: { value: { id: number; values: Float32Array } | null }; profileReply: { value: Reply | null } };
      const { profile, profileReply } = (window as unknown as { __sonde: { store: Store } }).__sonde.store;
      const [frame, reply] = [profile.value, profileReply.value];
      // The reply to the last movement comes by itself.
      return frame && reply && frame.id === reply.id ? { values: Array.from(frame.values), reply } : null;
    });
  await expect.poll(received).not.toBeNull();
  return (await received()) as NonNullable<Awaited<ReturnType<typeof received>>>;
}

describe("numbers", () => {
  it("of image and pattern are exactly those received, as NPY, TIFF and CSV", async () => {
    await live.open([scan]);
    for (const [what, kind] of [["image", 2], ["pattern", 1]] as const) {
      const frame = await live.image(0, live.page, kind);
      if (!frame) throw new Error(`no ${what}`);
      const npy = readNpy(await save(what, "npy"));
      expect(npy.shape).toEqual([frame.rows, frame.cols]);
      expect(npy.values).toEqual(frame.values);
      const [page, ...others] = readTiff(await save(what, "tiff"));
      expect(others).toEqual([]);
      expect([page.rows, page.cols]).toEqual([frame.rows, frame.cols]);
      expect(page.values).toEqual(frame.values);
      const rows = numbers(new TextDecoder().decode(await save(what, "csv")));
      expect(rows.map((row) => row.length)).toEqual(Array(frame.rows).fill(frame.cols));
      expect(rows.flat()).toEqual(frame.values);
    }
  });

  it("of first moments are the moments, though deflections from the beam in mrad are shown", async () => {
    await live.open([scan]);
    for (const [axis, word] of ["com-row", "com-col"].entries()) {
      const moments = await live.byCommand(scan, word);
      await live.useExpression(word);
      const { row, col } = await live.request("find_centre");
      const { pixel_mrad: mrad } = (await live.state("dataset")) as { pixel_mrad: number };
      const shown = moments.map((value) => Math.fround((value - Number([row, col][axis])) * mrad));
      // One rounding to 32 bits, after arithmetic that may round differently in the last of 64.
      const apart = async () => {
        const values = (await live.values()) ?? [];
        return values.length === shown.length ? Math.max(...values.map((value, i) => Math.abs(value - shown[i]))) : Infinity;
      };
      await expect.poll(apart).toBeLessThan(2e-7);
      await live.page.locator("[data-panel=image] .lines").focus();
      expect(readNpy(await save("image", "npy")).values).toEqual(moments);
      expect(numbers(new TextDecoder().decode(await save("image", "csv"))).flat()).toEqual(moments);
      expect(readTiff(await save("image", "tiff"))[0].values).toEqual(moments.map(Math.fround));
    }
  });

  it("of a line profile are those received, each with its distance", async () => {
    await live.open([scan]);
    const { values, reply } = await profile();
    expect(values.length).toBeGreaterThan(20);
    const [head, ...lines] = new TextDecoder().decode(await save("profile", "csv")).trim().split("\n");
    expect(head).toBe(`distance_${reply.unit},value`);
    const rows = lines.map((line) => line.split(",").map(Number));
    // As many digits as read back to the same number of 32 bits.
    expect(rows.map(([, value]) => Math.fround(value))).toEqual(values);
    expect(rows[0][0]).toBe(0);
    expect(rows[rows.length - 1][0]).toBeCloseTo(reply.length, 4);
  });

  it("of a series are a page for each item", async () => {
    await live.open([live.file("series")]);
    const expected = await Promise.all([2, 3].map((seed) => live.byCommand(live.file(`series/tilt${seed}_master.h5`), "circle(32,32,9)")));
    await live.useExpression("circle(32,32,9)");
    await live.settled(expected[0]);
    await live.page.getByRole("button", { name: "Next item" }).click();
    await live.settled(expected[1]);
    expect(readTiff(await save("series", "tiff")).map(({ values }) => values)).toEqual(expected);
  });
});

describe("pictures", () => {
  it("of the screen have the colours of the screen", async () => {
    await live.open([scan]);
    await live.page.keyboard.press("e");
    for (const part of ["Scale bar", "Colour bar"]) await live.page.getByRole("checkbox", { name: part }).uncheck();
    const [download] = await Promise.all([live.page.waitForEvent("download"), live.page.getByRole("button", { name: "Save file" }).click()]);
    const picture = readPng(readFileSync(await download.path()));
    // 48 x 40 positions, so the picture is higher than wide in that proportion, within a pixel of rounding.
    expect(Math.abs((picture.rows * 40) / 48 - picture.cols)).toBeLessThanOrEqual(1);
    // The middle of each position has the position's grey: a larger value is never darker.
    const { values } = (await live.image()) ?? { values: [] };
    const pairs = values.map((value, i) => {
      const [row, col] = [Math.floor(i / 40), i % 40];
      const [y, x] = [Math.floor(((row + 0.5) * picture.rows) / 48), Math.floor(((col + 0.5) * picture.cols) / 40)];
      return { value, grey: picture.values[(y * picture.cols + x) * picture.channels] };
    });
    pairs.sort((a, b) => a.value - b.value || a.grey - b.grey);
    for (let i = 1; i < pairs.length; ++i) expect(pairs[i].grey).toBeGreaterThanOrEqual(pairs[i - 1].grey);
    expect(new Set(pairs.map(({ grey }) => grey)).size).toBeGreaterThan(20);
  });

  it("of the screen have a colour bar for each image, from the low to the high end of its range", async () => {
    await live.open([scan]);
    await live.useExpression("com-row");
    await live.page.keyboard.press("Escape");
    await live.page.locator("[data-panel=image] .lines").focus();
    await expect.poll(async () => ((await live.state("good")) as Record<number, { expr: string }>)[0]?.expr).toBe("com-row");
    await live.rest();
    await live.page.keyboard.press("e");
    await live.page.getByRole("checkbox", { name: "Scale bar" }).uncheck();
    const [download] = await Promise.all([live.page.waitForEvent("download"), live.page.getByRole("button", { name: "Save file" }).click()]);
    const { rows, cols, channels, values } = readPng(readFileSync(await download.path()));
    // The image is in the proportion of the scan; the bar begins 10 pixels to the right of it and is 14 wide.
    const image = Math.round((rows * 40) / 48);
    expect(cols).toBeGreaterThan(image + 24);
    const at = (y: number, x: number) => Array.from(values.slice((y * cols + x) * channels, (y * cols + x) * channels + 3));
    const table = colourTable("RdBu");
    const colour = (i: number) => Array.from(table.slice(4 * i, 4 * i + 3));
    const near = (a: number[], b: number[]) => Math.max(...a.map((value, i) => Math.abs(value - b[i]))) <= 4;
    const [top, bottom] = [20, rows - 3];
    expect([near(at(bottom, image + 17), colour(0)), near(at(top, image + 17), colour(254)), near(at((16 + rows) >> 1, image + 17), colour(128))]).toEqual([true, true, true]);
    // Beside it there are letters on white.
    const beside = Array.from({ length: rows }, (_, y) => Array.from({ length: cols - image - 31 }, (__, x) => at(y, image + 31 + x))).flat();
    expect(beside.some(([r]) => r < 80)).toBe(true);
    expect(beside.filter(([r, g, b]) => r === 255 && g === 255 && b === 255).length).toBeGreaterThan(beside.length / 2);
  });

  it("of a series are one for each item, in order, with one range of grey for all", async () => {
    await live.open([live.file("series")]);
    const expected = await Promise.all([2, 3].map((seed) => live.byCommand(live.file(`series/tilt${seed}_master.h5`), "circle(32,32,9)")));
    await live.useExpression("circle(32,32,9)");
    await live.settled(expected[0]);
    await live.page.getByRole("button", { name: "Next item" }).click();
    await live.settled(expected[1]);
    const files = [...readZip(await save("series", "zip"))];
    expect(files.map(([name]) => name)).toEqual([expect.stringMatching(/^0000_tilt2.*\.png$/), expect.stringMatching(/^0001_tilt3.*\.png$/)]);
    const greyOf = new Map<number, number>();
    files.forEach(([, bytes], item) => {
      const picture = readPng(bytes);
      const times = picture.rows / SCAN[0];
      // The image, and a colour bar to the right of it.
      expect([Number.isInteger(times), picture.cols > SCAN[1] * times]).toEqual([true, true]);
      // The same value has the same grey in every picture.
      expected[item].forEach((value, i) => {
        const [row, col] = [Math.floor(i / SCAN[1]), i % SCAN[1]].map((at) => Math.floor((at + 0.5) * times));
        const grey = picture.values[(row * picture.cols + col) * picture.channels];
        expect(greyOf.get(value) ?? grey).toBe(grey);
        greyOf.set(value, grey);
      });
    });
    expect(new Set(greyOf.values()).size).toBeGreaterThan(20);
  });
});

describe("the page to take away", () => {
  it("opens without a network and shows its pictures and the state", async () => {
    await live.open([scan]);
    await live.page.keyboard.press("n");
    await live.settled(await live.byCommand(scan, "adf"));
    const { path, name } = await saved("snapshot", "html");
    expect(name).toMatch(/\.html$/);
    const context = live.page.context();
    await context.setOffline(true);
    const alone = await context.newPage();
    const asked: string[] = [];
    alone.on("request", (request) => asked.push(request.url()));
    // The name of the download has no ending, so the browser is told what it is.
    await alone.setContent(readFileSync(path, "utf8"), { waitUntil: "load" });
    expect(asked.filter((url) => !url.startsWith("data:"))).toEqual([]);
    const sizes = await alone.locator("img").evaluateAll((images) => images.map((image) => [(image as HTMLImageElement).naturalHeight, (image as HTMLImageElement).naturalWidth]));
    // Small images are magnified by a whole number.
    const shapes = [SCAN, [64, 64], [64, 64]];
    expect(sizes.length).toBe(shapes.length);
    sizes.forEach(([rows, cols], i) => {
      expect(Number.isInteger(rows / shapes[i][0])).toBe(true);
      // A colour bar stands to the right of the image.
      expect(cols).toBeGreaterThan((shapes[i][1] * rows) / shapes[i][0]);
    });
    // Patterns span decades: all of the disk, a twentieth of the pixels, and much of the halo are far from black.
    const bright = await alone.locator("img").evaluateAll((images) =>
      images.map((image) => {
        const { naturalHeight: rows } = image as HTMLImageElement;
        const canvas = document.createElement("canvas");
        [canvas.width, canvas.height] = [rows, rows];
        const context = canvas.getContext("2d") as CanvasRenderingContext2D;
        context.drawImage(image as HTMLImageElement, 0, 0);
        const { data } = context.getImageData(0, 0, rows, rows);
        return Array.from({ length: rows * rows }, (_, i) => Number(data[4 * i] + data[4 * i + 1] + data[4 * i + 2] > 150)).reduce((a, b) => a + b, 0) / (rows * rows);
      }),
    );
    for (const part of bright.slice(1)) expect(part).toBeGreaterThan(0.2);
    expect(await alone.locator("figcaption").first().innerText()).toBe("adf");
    const state = JSON.parse((await alone.locator("#state").textContent()) ?? "") as object;
    expect(JSON.stringify(state)).toContain('"adf"');
    expect(await alone.locator("body").innerText()).toContain("one_master.h5");
  });
});

describe("the state", () => {
  it("brings every control back, and the image on the command line", async () => {
    await live.open([scan]);
    for (const key of ["n", "d", "+", "ArrowUp", "l", "g"]) await live.page.keyboard.press(key);
    await live.page.getByRole("button", { name: "Circle" }).last().click();
    await live.rest();
    const words = await live.view("detectors");
    await live.page.keyboard.press("e");
    const [download] = await Promise.all([live.page.waitForEvent("download"), live.page.getByRole("button", { name: "Save the state" }).click()]);
    const before = await live.snapshot();
    const expected = await live.values();
    const file = await download.path();
    const output = live.file("again.npy");
    await run("stem", "image", "--state", file, "-o", output, "--quiet");
    expect(readNpy(readFileSync(output)).values).toEqual(expected);
    const other = await live.client();
    await live.page.close();
    live.page = other;
    expect(await live.view("detectors")).not.toEqual(words);
    await live.page.keyboard.press("e");
    await live.page.locator("input[type=file]").setInputFiles(file);
    await expect.poll(() => live.page.locator("dialog").count()).toBe(0);
    expect(await live.snapshot()).toEqual(before);
    await live.settled(expected ?? []);
  });

  it("finds its data set where it stands in another place", async () => {
    const other = await simulate(live.file("other_master.h5"), 5);
    await live.open([scan, other]);
    await live.page.getByLabel("Data set", { exact: true }).selectOption({ label: "other" });
    const expected = await live.byCommand(other, "bf");
    await live.settled(expected);
    await live.page.keyboard.press("e");
    const [download] = await Promise.all([live.page.waitForEvent("download"), live.page.getByRole("button", { name: "Save the state" }).click()]);
    const file = await download.path();
    await live.server.stop();
    await live.page.close();
    await live.open([other, scan]);
    await live.page.getByLabel("Data set", { exact: true }).selectOption({ label: "one" });
    await live.settled(await live.byCommand(scan, "bf"));
    await live.page.keyboard.press("e");
    await live.page.locator("input[type=file]").setInputFiles(file);
    await live.settled(expected);
    expect(await live.view("dataset")).toBe(0);
  });
});

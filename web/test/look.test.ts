// SPDX-License-Identifier: Apache-2.0
/** Whether colours, places and texts on the screen are those of the received numbers. */
import { describe, expect, it } from "vitest";

import { histogram, percentileRange } from "../src/display/histogram";
import { INVALID_COLOURS } from "../src/display/renderer";
import { banners } from "./browser";
import { SimulatedPage, type PanelId } from "./simulated_page";

const shown = new SimulatedPage();
const IMAGE = 2;
const PATTERN = 1;
const FIXED = { contrast: "fixed", stretch: "linear", map: "gray", low: 0 };
const stripes = INVALID_COLOURS.map((colour) => colour.join());

/** Shapes with a curved rim, and the place on it at an angle of the unit circle, or a part of the way from the centre. */
const ROUND = {
  circle: { shape: { kind: "circle", row: 16, col: 32, r: 9 }, rim: (t: number, part: number): [number, number] => [16 + part * 9 * Math.sin(t), 32 + part * 9 * Math.cos(t)] },
  ellipse: {
    shape: { kind: "ellipse", row: 16, col: 32, a: 12, b: 5, phi: 0.6 },
    rim: (t: number, part: number): [number, number] => {
      const [u, v] = [part * 12 * Math.cos(t), part * 5 * Math.sin(t)];
      return [16 + u * Math.sin(0.6) + v * Math.cos(0.6), 32 + u * Math.cos(0.6) - v * Math.sin(0.6)];
    },
  },
};

/** Numbers of a kind once they are there. */
async function received(kind: number, dataset = 0, channel = 0): Promise<number[]> {
  await expect.poll(() => shown.values(kind, dataset, channel)).not.toBeNull();
  return (await shown.values(kind, dataset, channel)) as number[];
}

const level = (value: number, high: number) => Math.floor(255 * Math.min(1, Math.max(0, value / high)) + 0.5);

/** Whether a pixel's colour is this one, but for a rounding of the last digit in arithmetic of 32 bits. */
async function coloured(panel: PanelId, size: [number, number], [row, col]: [number, number], expected: number[]): Promise<void> {
  const spot = await shown.spot(panel, size, row, col);
  const difference = async () => Math.max(...(await shown.colourAt(panel, spot)).map((value, i) => Math.abs(value - expected[i])));
  await expect.poll(difference).toBeLessThanOrEqual(1);
}

/** What is drawn over real-space images at these places of an image of this size: the line of the region, with edges
 *  that are smoothed, nothing, or another colour. */
async function linesAt(size: [number, number], places: [number, number][]): Promise<string[]> {
  const spots = await Promise.all(places.map(([row, col]) => shown.spot("image", size, row, col)));
  return shown.page.evaluate((all) => {
    const canvas = document.querySelector("[data-panel=image] .lines") as HTMLCanvasElement;
    const context = canvas.getContext("2d") as CanvasRenderingContext2D;
    return all.map(({ x, y }) => {
      const colour = Array.from(context.getImageData(Math.floor(x), Math.floor(y), 1, 1).data);
      const away = Math.max(...[0x7e, 0xe0, 0xc0, 255].map((value, i) => Math.abs(value - colour[i])));
      return colour[3] === 0 ? "nothing" : away < 32 ? "line" : colour.join();
    });
  }, spots);
}

describe.each(Object.keys(ROUND) as (keyof typeof ROUND)[])("the line of a %s", (kind) => {
  it("goes where its rim is, also where scan pixels are not square", async () => {
    // 32 rows, twice as far apart as the 64 columns: places on the screen are those of a square image.
    await shown.open({ scan: [32, 64], step: [0.1, 0.05] });
    const { shape, rim } = ROUND[kind];
    await shown.page.evaluate((region) => ((window as unknown as { __sonde: { store: { view: { region: { value: unknown } } } } }).__sonde.store.view.region.value = region), shape);
    const at = (part: number) => Array.from({ length: 12 }, (_, i): [number, number] => rim((i * Math.PI) / 6 + 0.1, part)).map(([row, col]): [number, number] => [2 * row + 0.5, col]);
    await shown.rest();
    await expect.poll(() => linesAt([64, 64], at(1))).toEqual(Array(12).fill("line"));
    expect(await linesAt([64, 64], at(0.8))).toEqual(Array(12).fill("nothing"));
  });
});

describe.each(["?draw=webgl", "?draw=canvas"])("drawn with %s", (query) => {
  it("three images are the red, green and blue of one", async () => {
    await shown.open({}, { query });
    for (const name of ["adf", "haadf"]) {
      await shown.page.getByRole("button", { name: "Add a detector" }).click();
      expect(await shown.view("detectors")).toContainEqual(expect.objectContaining({ expr: name }));
    }
    const images = [await received(IMAGE), await received(IMAGE, 0, 1), await received(IMAGE, 0, 2)];
    const high = Math.max(...images[0]);
    await shown.display("image", { ...FIXED, high });
    await shown.page.getByRole("button", { name: "Three images as red, green and blue" }).click();
    // A range that is set is that of the first; the others keep that of their own values.
    const ranges = images.map((values, i) => (i === 0 ? { low: 0, high } : percentileRange(histogram(Float32Array.from(values)), 0.5, 99.5)));
    for (const place of [[10, 20], [32, 32], [50, 7]] as [number, number][]) {
      const [row, col] = place;
      await coloured("image", [64, 64], place, images.map((values, i) => level(values[row * 64 + col] - ranges[i].low, ranges[i].high - ranges[i].low)));
    }
    await shown.moveTo("image", await shown.spot("image", [64, 64], 32, 32));
    await expect.poll(async () => (await shown.readout("Real space")).replaceAll("\u2009", "")).toContain(images.map((values) => values[32 * 64 + 32]).join(" / "));
  });

  it("a bad pixel is hatched, its neighbour is not, and both are read as received", async () => {
    await shown.open({ detector: [48, 48] }, { query });
    const values = await received(PATTERN);
    await shown.display("pattern", { ...FIXED, high: 400 });
    const spot = await shown.spot("pattern", [48, 48], 3, 16);
    const seen = async () => {
      const around = await shown.pixels("pattern", { x: Math.round(spot.x) - 2, y: Math.round(spot.y) - 2 }, 5, 5);
      return [...new Set(Array.from({ length: 25 }, (_, i) => around.slice(4 * i, 4 * i + 3).join()))].sort();
    };
    await expect.poll(seen).toEqual([...stripes].sort());
    await coloured("pattern", [48, 48], [3, 17], Array(3).fill(level(values[3 * 48 + 17], 400)) as number[]);
    for (const col of [16, 17]) {
      await shown.moveTo("pattern", await shown.spot("pattern", [48, 48], 3, col));
      await expect.poll(() => shown.readout("Diffraction")).toMatch(new RegExp(`^row 3\\s+col ${col}\\s+${values[3 * 48 + col]}\\s`));
    }
  });

  it("scan pixels that are not square are shown as they are", async () => {
    // 32 rows, twice as far apart as the 64 columns: a square.
    await shown.open({ scan: [32, 64], step: [0.1, 0.05] }, { query });
    const values = await received(IMAGE);
    const high = Math.max(...values);
    await shown.display("image", { ...FIXED, high });
    // A pixel is twice as high as wide: in screen places like two rows of a square image.
    for (const [row, col] of [[3, 10], [30, 60]]) await coloured("image", [64, 64], [2 * row + 0.5, col], Array(3).fill(level(values[row * 64 + col], high)) as number[]);
    const { x, y } = await shown.box("image");
    const spot = await shown.spot("image", [64, 64], 2 * 30 + 0.5, 60);
    await shown.page.mouse.click(x + spot.x, y + spot.y);
    expect(await shown.view("cursor")).toEqual({ row: 30, col: 60 });
  });

  it("pixels finer than the screen are averaged, and read one by one", async () => {
    const size: [number, number] = [500, 500];
    await shown.open({ scan: [8, 8], detector: size }, { query, viewport: { width: 1024, height: 640 } });
    const values = await received(PATTERN);
    await shown.display("pattern", { ...FIXED, high: 500 });
    const { width, height } = await shown.box("pattern");
    const side = Math.round(500 * Math.min(width / 500, height / 500));
    expect(side).toBeLessThan(400);
    const overlap = (i: number, r: number) => Math.max(0, Math.min(((i + 1) * 500) / side, r + 1) - Math.max((i * 500) / side, r));
    /** The sum over all overlaps, pixel by pixel. */
    const mean = (i: number, j: number) => {
      let [sum, weight] = [0, 0];
      for (let r = 0; r < 500; ++r)
        for (let c = 0; overlap(i, r) > 0 && c < 500; ++c) {
          sum += overlap(i, r) * overlap(j, c) * values[r * 500 + c];
          weight += overlap(i, r) * overlap(j, c);
        }
      return sum / weight;
    };
    const [left, top] = [width / 2 - side / 2, height / 2 - side / 2];
    for (const [i, j] of [[side >> 1, side >> 1], [(side >> 1) + 3, side >> 1], [side >> 2, side >> 1]]) {
      const expected = level(mean(i, j), 500);
      const seen = async () => Math.abs((await shown.colourAt("pattern", { x: left + j + 0.5, y: top + i + 0.5 }))[0] - expected);
      await expect.poll(seen).toBeLessThanOrEqual(1);
    }
    await shown.moveTo("pattern", await shown.spot("pattern", size, 250, 251));
    const read = async () => {
      const [, row, col, value] = /row (\d+)\s+col (\d+)\s+(\S+)/.exec(await shown.readout("Diffraction")) ?? [];
      return values[Number(row) * 500 + Number(col)] === Number(value) ? "as received" : `${row} ${col} ${value}`;
    };
    await expect.poll(read).toBe("as received");
  });
});

describe("compared data sets", () => {
  it.each(["difference", "ratio"])("show their %s as a third image", async (how) => {
    await shown.open({ datasets: 2 });
    for (const name of ["scan_master.h5", "scan_2_master.h5"]) await shown.page.getByRole("checkbox", { name: `Compare ${name}` }).check();
    await shown.page.keyboard.press("n");
    // The reply follows the images of both.
    await expect.poll(() => shown.reply(0)).toMatchObject({ expr: "adf" });
    const [first, second] = [await received(IMAGE, 0), await received(IMAGE, 1)];
    expect(first).not.toEqual(second);
    await shown.page.getByLabel("Comparison").selectOption(how);
    const { x, y, width, height } = await shown.box("image");
    const seen = async () => {
      // Wherever the third of the cells is: the one whose read-out is neither image's.
      for (const [across, down] of [[0.25, 0.75], [0.5, 0.83], [0.83, 0.5], [0.75, 0.75]]) {
        await shown.page.mouse.move(x + across * width, y + down * height);
        const [, row, col, value] = /row (\d+)\s+col (\d+)\s+(\S+)/.exec((await shown.readout("Real space")).replaceAll("\u2009", "")) ?? [];
        const [a, b] = [first, second].map((values) => values[Number(row) * 64 + Number(col)]);
        const expected = how === "difference" ? a - b : Number((a / b).toPrecision(6));
        if (Number(value?.replace("\u2212", "-")) === expected) return "combined";
      }
      return "none";
    };
    await expect.poll(seen).toBe("combined");
  });
});

describe("memory", () => {
  it("is told by item, and each can be released", async () => {
    const items = [0, 1].map((item) => ({ dataset: 0, item, label: `tilt ${item}`, resident: (item + 1) * 1048576 }));
    await shown.open({ items: 2, memory: { resident: 3145728, budget: 8388608, items } });
    const said = await banners(shown.page);
    await shown.page.getByText("memory 3.00\u2009MiB of 8.00\u2009MiB").click();
    const list = shown.page.getByRole("list", { name: "Memory by item" });
    await expect.poll(async () => (await list.getByRole("listitem").allInnerTexts()).map((text) => text.replace(/\s+/g, " "))).toEqual(["tilt 0 1.00 MiB Release", "tilt 1 2.00 MiB Release"]);
    await list.getByRole("button", { name: "Release the memory of tilt 1" }).click();
    await expect.poll(() => shown.what.received[shown.what.seen.lastIndexOf("release")]).toEqual({ dataset: 0, item: 1 });
    await expect.poll(said).toContainEqual(expect.stringContaining("released 1.00\u2009KiB of tilt 2 deg"));
  });
});

describe("while a scan is loading", () => {
  it("stage, rate and rest are told, patterns can be looked at, and the image comes at the end", async () => {
    await shown.open({ loading: true });
    const bar = shown.page.getByRole("progressbar", { name: "Loading scan_master.h5" });
    await bar.waitFor();
    shown.what.server?.say("progress", { dataset: 0, stage: "loading", fraction: 0.25, bytes_per_s: 2 * 1073741824, remaining_s: 12 });
    await expect.poll(() => shown.page.locator(".loading").innerText()).toBe("loading 25 %, 2.00\u2009GiB/s, 12 s left");
    await expect.poll(() => bar.evaluate((element) => (element as HTMLProgressElement).value)).toBe(0.25);
    const before = await received(PATTERN);
    await shown.page.keyboard.press("Shift+ArrowUp");
    await expect.poll(() => shown.values(PATTERN)).not.toEqual(before);
    expect(await shown.values(IMAGE)).toBeNull();
    shown.what.server?.loaded();
    expect(await received(IMAGE)).toHaveLength(64 * 64);
    await expect.poll(() => bar.count()).toBe(0);
  });
});

it("the diffraction panel is measured in angles or in frequencies", async () => {
  await shown.open();
  await received(PATTERN);
  // The centre is at (48, 48), ten pixels of 1.5 mrad or 0.06 / A away.
  await shown.moveTo("pattern", await shown.spot("pattern", [96, 96], 48, 58));
  await expect.poll(() => shown.readout("Diffraction")).toContain("r 15.0\u2009mrad");
  await shown.page.getByRole("button", { name: "Spatial frequencies in 1/\u00c5" }).click();
  await shown.moveTo("pattern", await shown.spot("pattern", [96, 96], 48, 58));
  await expect.poll(() => shown.readout("Diffraction")).toContain("r 0.600\u20091/\u00c5");
});

// SPDX-License-Identifier: Apache-2.0
/** What a hand does, against the program: painted and cornered masks, floods, memory, further files. */
import { mkdirSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";

import type { Shape } from "../src/tools/shapes";
import { banners } from "./browser";
import { Live } from "./live";
import { simulate } from "./sonde";

const DETECTOR: [number, number] = [64, 64];

const live = new Live();
let scan: string;
beforeAll(async () => {
  mkdirSync(live.file("data"));
  scan = await simulate(live.file("data/one_master.h5"), 1);
  await simulate(live.file("data/two_master.h5"), 2);
});

const at = (row: number, col: number) => live.spot("pattern", DETECTOR, row, col);
const shape = async <Kind extends Shape["kind"]>() => ((await live.view("detectors")) as { shape: Extract<Shape, { kind: Kind }> | null }[])[0].shape;
/** The image is what the command line computes of the words for the mask. */
const asByCommand = async () => live.settled(await live.byCommand(scan, await live.detectorWords()));

describe("a painted mask", () => {
  it("grows along the brush, shrinks with Shift, and is the mask of the image", async () => {
    await live.open([scan]);
    await live.page.getByRole("button", { name: "Free mask, painted" }).click();
    const pixels = async () => new Set(((await shape<"brush">())?.runs ?? []).flatMap(([row, from, to]) => Array.from({ length: to - from }, (_, i) => row * 64 + from + i)));
    const before = await pixels();
    expect(before.has(10 * 64 + 30)).toBe(false);
    await live.drag([await at(10, 10), await at(10, 50)]);
    const painted = await pixels();
    for (const col of [10, 30, 50]) expect(painted.has(10 * 64 + col)).toBe(true);
    for (const pixel of before) expect(painted.has(pixel)).toBe(true);
    await asByCommand();
    await live.page.keyboard.down("Shift");
    await live.drag([await at(10, 30), await at(10, 31)]);
    await live.page.keyboard.up("Shift");
    const wiped = await pixels();
    expect([wiped.has(10 * 64 + 30), wiped.has(10 * 64 + 10)]).toEqual([false, true]);
    await asByCommand();
  });
});

describe("a polygon", () => {
  it("follows its corners, and gets and loses one with Shift", async () => {
    await live.open([scan]);
    await live.page.getByRole("button", { name: "Polygon" }).first().click();
    const corners = async () => (await shape<"polygon">())?.points ?? [];
    const [first, ...others] = await corners();
    await live.drag([await at(...first), await at(5, 6)]);
    const moved = await corners();
    // A screen pixel is less than a quarter of a data pixel.
    expect(Math.hypot(moved[0][0] - 5, moved[0][1] - 6)).toBeLessThan(0.3);
    expect(moved.slice(1)).toEqual(others);
    await asByCommand();
    const middle = await at((moved[0][0] + moved[1][0]) / 2, (moved[0][1] + moved[1][1]) / 2);
    await live.page.keyboard.down("Shift");
    await live.page.mouse.click(middle.x, middle.y);
    await expect.poll(async () => (await corners()).length).toBe(moved.length + 1);
    const removed = await at(...moved[0]);
    await live.page.mouse.click(removed.x, removed.y);
    await live.page.keyboard.up("Shift");
    await expect.poll(async () => (await corners()).length).toBe(moved.length);
    expect(await corners()).not.toContainEqual(moved[0]);
    await asByCommand();
  });
});

describe("numbers in place of a hand", () => {
  it("move the region of the scan and the ends of a line", async () => {
    await live.open([scan]);
    const section = live.page.locator("details", { hasText: "Region of the scan" });
    await section.getByRole("button", { name: "Circle" }).click();
    const pattern = async () => (await live.image(0, live.page, 4))?.values;
    await live.rest();
    const before = await pattern();
    await section.getByLabel("row").fill("12");
    await section.getByLabel("row").press("Enter");
    await expect.poll(async () => ((await live.view("region")) as { row: number }).row).toBe(12);
    await expect.poll(pattern).not.toEqual(before);

    await live.page.locator("section[aria-label='Real space']").getByRole("button", { name: "Line profile" }).click();
    await live.drag([await live.spot("image", [48, 40], 8, 5), await live.spot("image", [48, 40], 40, 33)]);
    const panel = live.page.locator("section[aria-label='Line profile']");
    await panel.getByLabel("from row").fill("40");
    await panel.getByLabel("from row").press("Enter");
    // Level now, so that its length is the difference of the columns.
    await panel.getByLabel("to row").fill("40");
    await panel.getByLabel("to row").press("Enter");
    const { p0, p1 } = (await live.view("profile")) as { p0: number[]; p1: number[] };
    expect([p0[0], p1[0]]).toEqual([40, 40]);
    const step = ((await live.state("dataset")) as { scan_step_nm?: [number, number] }).scan_step_nm?.[1] ?? 1;
    await expect.poll(async () => ((await live.state("profileReply")) as { length: number }).length).toBeCloseTo(Math.abs(p1[1] - p0[1]) * step, 6);
  });
});

describe("five hundred changes of a detector, more than fit into the time", () => {
  it("end with the image of the last one, and no more frames than commands", async () => {
    await live.open([scan]);
    // The page asks for more than is asked of it here (numbers beside an image): each message is counted where it leaves.
    const before = await live.stats();
    await live.page.evaluate(async () => {
      type Session = { send(command: string, args: object): void };
      const { session } = (window as unknown as { __sonde: { session: Session } }).__sonde;
      const change = (k: number) => session.send("set_detector", { channel: 0, shape: "circle", params: [20 + 0.05 * k, 44 - 0.05 * k, 9] });
      // Nine in each frame of the screen: some 500 in a second, without waiting for any answer.
      for (let k = 0; k < 500; ++k) {
        change(k);
        if (k % 9 === 8) await new Promise((resolve) => requestAnimationFrame(resolve));
      }
    });
    const last = `circle(${20 + 0.05 * 499},${44 - 0.05 * 499},9)`;
    await live.settled(await live.byCommand(scan, last));
    await live.rest();
    const after = await live.stats();
    const messages = after.sent - before.sent;
    // Each was carried out or replaced by a newer one; of the two `stats` one lies between.
    expect(messages).toBeGreaterThanOrEqual(501);
    expect(after.commands + after.replaced - before.commands - before.replaced).toBe(messages);
    expect(after.frames + after.dropped - before.frames - before.dropped).toBeLessThanOrEqual(after.commands - before.commands);
  });

  it("of two clients at once end with each one's own image", async () => {
    await live.open([scan]);
    const other = await live.client();
    const flood = (from: typeof other, radius: number) =>
      from.evaluate(async (r) => {
        type Session = { send(command: string, args: object): void };
        const { session } = (window as unknown as { __sonde: { session: Session } }).__sonde;
        for (let k = 0; k < 250; ++k) {
          session.send("set_detector", { channel: 0, shape: "circle", params: [30, 31 + 0.01 * k, r] });
          if (k % 9 === 8) await new Promise((resolve) => setTimeout(resolve, 0));
        }
      }, radius);
    await Promise.all([flood(live.page, 6), flood(other, 11)]);
    await live.settled(await live.byCommand(scan, `circle(30,${31 + 0.01 * 249},6)`));
    await live.settled(await live.byCommand(scan, `circle(30,${31 + 0.01 * 249},11)`), 0, other);
  });
});

describe("release", () => {
  it("gives the memory back, and what is looked at is loaded again", async () => {
    await live.open([scan]);
    const said = await banners(live.page);
    const resident = async () => ((await live.state("memory")) as { resident: number }).resident;
    const bytes = 48 * 40 * 64 * 64;
    await expect.poll(resident).toBeGreaterThanOrEqual(bytes);
    const held = await resident();
    await live.page.getByRole("button", { name: "Release the data set's memory" }).click();
    await expect.poll(said).toContainEqual(expect.stringMatching(/^released \d/));
    await expect.poll(resident).toBeLessThanOrEqual(held - bytes);
    await live.useExpression("circle(31,30,8)");
    await live.settled(await live.byCommand(scan, "circle(31,30,8)"));
    await expect.poll(resident).toBeGreaterThanOrEqual(bytes);
  });
});

describe("the expression", () => {
  it("keeps what is being typed and the focus, and lets go of it with Escape", async () => {
    await live.open([scan]);
    const field = live.page.getByRole("textbox", { name: "Expression" });
    await live.useExpression("circle(31,30,8)");
    await live.settled(await live.byCommand(scan, "circle(31,30,8)"));
    await live.page.keyboard.type(" & !");
    // By now the field would show what the detector is called.
    await live.rest();
    expect(await field.inputValue()).toBe("circle(31,30,8) & !");
    await live.page.keyboard.press("Escape");
    expect(await field.inputValue()).toBe("circle(31,30,8)");
    await live.page.keyboard.press("Enter");
    await live.page.getByRole("button", { name: "BF: bright field", exact: true }).click();
    await expect.poll(() => field.inputValue()).toBe("bf");
  });
});

describe("opening another file", () => {
  it("shows it when it lies below what was given at the start, and refuses others in words", async () => {
    await live.open([live.file("data")]);
    await live.page.getByText("Data sets").first().click();
    const field = live.page.getByRole("textbox", { name: "Open another file" });
    await field.fill("/etc/passwd");
    await field.press("Enter");
    await expect.poll(() => live.page.getByRole("alert").innerText()).toMatch(/passwd/);
    await field.fill(live.file("data/two_master.h5"));
    await field.press("Enter");
    await expect.poll(async () => ((await live.state("datasets")) as object[]).length).toBe(2);
    await live.settled(await live.byCommand(live.file("data/two_master.h5"), "bf"));
  });
});

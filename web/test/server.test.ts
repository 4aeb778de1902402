// SPDX-License-Identifier: Apache-2.0
/** The page against the real program: what it shows is what the command line computes. */
import { mkdirSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";

import type { ShapeRow } from "../src/model/detectors";
import type { PageMessage } from "../src/protocol/messages";
import { SHAPE_KINDS, toolsOf } from "../src/tools/shapes";
import { Live, TOKEN } from "./live";
import { PANELS } from "./simulated_server";
import { simulate, ViewServer } from "./sonde";

const DETECTOR: [number, number] = [64, 64];

const live = new Live();
let scan: string;
let series: string;
beforeAll(async () => {
  scan = await simulate(live.file("one_master.h5"), 1);
  series = live.file("series");
  mkdirSync(series);
  for (const seed of [2, 3, 4]) await simulate(live.file(`series/tilt${seed}_master.h5`), seed);
});

describe("images", () => {
  it("are what the command line computes", async () => {
    await live.open([scan]);
    await live.settled(await live.byCommand(scan, "bf"));
    await live.useExpression("annulus(auto,auto,1rho,2.5rho) & !rect(0,0,32,64)");
    await live.settled(await live.byCommand(scan, "annulus(auto,auto,1rho,2.5rho) & !rect(0,0,32,64)"));
  });

  it("follow a drag and end where it ended", async () => {
    await live.open([scan]);
    const before = await live.values();
    const middle = await live.spot("pattern", DETECTOR, 31.5, 31.5);
    await live.drag([middle, { x: middle.x + 50, y: middle.y - 20 }]);
    await expect.poll(() => live.values()).not.toEqual(before);
    await live.settled(await live.byCommand(scan, await live.detectorWords()));
  });

  it("show the newest of a flood of movements", async () => {
    await live.open([scan]);
    await live.page.evaluate(() => {
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
    await live.settled(await live.byCommand(scan, await live.detectorWords()));
  });

  it("of eight detectors are all there", async () => {
    await live.open([scan]);
    for (let channel = 1; channel < 8; ++channel) {
      await live.page.getByRole("button", { name: "Add a detector" }).click();
      await live.useExpression(`annulus(auto,auto,${channel},${channel + 2})`);
      await live.settled(await live.byCommand(scan, `annulus(auto,auto,${channel},${channel + 2})`), channel);
    }
    expect(await live.page.getByRole("button", { name: "Add a detector" }).isDisabled()).toBe(true);
  });
});

it("the layout is the one that the simulated server sends", async () => {
  await live.open([scan]);
  const { panels } = (await live.state("page")) as PageMessage;
  expect(panels.map(({ options: _, ...panel }) => panel)).toEqual(PANELS);
});

describe("shapes", () => {
  it("are those of the program, argument by argument", async () => {
    await live.open([scan]);
    const { panels } = (await live.state("page")) as PageMessage;
    const rows = panels.find(({ id }) => id === "pattern")?.options?.shapes as ShapeRow[];
    const words = ({ name, role }: { name: string; role: string }) => `${name}: ${role}`;
    const ofProgram = rows.map((row) => [row.name, row.groups > 0, ...row.arguments.map(words)]);
    const ofPage = SHAPE_KINDS.map((kind) => toolsOf({ kind })).map(({ kind, list, arguments: all }) => [kind, list !== undefined, ...all.map(words)]);
    expect(ofPage.sort()).toEqual(ofProgram.sort());
  });

  it("have a button each, and the image that the command line computes", async () => {
    await live.open([scan]);
    const buttons = live.page.getByRole("group", { name: "Shape", exact: true });
    for (const kind of SHAPE_KINDS.filter((one) => !toolsOf({ kind: one }).painted)) {
      await buttons.getByRole("button", { name: toolsOf({ kind }).label, exact: true }).click();
      await expect.poll(() => live.view("detectors")).toMatchObject([{ shape: { kind } }]);
      await live.settled(await live.byCommand(scan, await live.detectorWords()));
    }
  });
});

describe("comparison", () => {
  it("puts one detector on two scans, and shows their difference to the last count", async () => {
    const other = await simulate(live.file("other_master.h5"), 9);
    await live.open([scan, other]);
    for (const name of ["one", "other"]) await live.page.getByRole("checkbox", { name: `Compare ${name}` }).check();
    await live.useExpression("circle(32,32,9)");
    const [first, second] = await Promise.all([scan, other].map((master) => live.byCommand(master, "circle(32,32,9)")));
    await live.settled(first);
    await live.page.getByLabel("Comparison").selectOption("difference");
    await live.page.locator("[data-panel=image] .lines").focus();
    // The third cell is the difference; its read-out comes from the received counts.
    const box = await live.box("image");
    const line = live.page.locator("section[aria-label='Real space'] .readout").first();
    const numbers = async () => {
      for (const [x, y] of [[0.25, 0.75], [0.5, 0.83], [0.83, 0.5]]) {
        await live.page.mouse.move(box.x + x * box.width, box.y + y * box.height);
        const found = /row (\d+)\s+col (\d+)\s+(\S+)/.exec((await line.innerText()).replaceAll("\u2009", ""));
        const [row, col, value] = (found ?? []).slice(1).map((text) => Number(text.replace("\u2212", "-")));
        if (value === first[row * 40 + col] - second[row * 40 + col]) return "difference";
      }
      return "none";
    };
    await expect.poll(numbers).toBe("difference");
  });
});

describe("series", () => {
  it("plays every item with its own image", async () => {
    await live.open([series]);
    const expected = await Promise.all([2, 3, 4].map((seed) => live.byCommand(live.file(`series/tilt${seed}_master.h5`), "circle(32,32,9)")));
    await live.useExpression("circle(32,32,9)");
    await live.settled(expected[0]);
    await live.page.getByRole("button", { name: "Loop" }).click();
    await live.page.getByRole("button", { name: "Play" }).click();
    await expect.poll(() => live.view("item")).toBe(2);
    await live.settled(expected[2]);
    // Until playing has ended it would go on from wherever the button leads.
    await live.page.getByRole("button", { name: "Play" }).waitFor();
    await live.page.getByRole("button", { name: "Previous item" }).click();
    await live.settled(expected[1]);
  });

  it("show the item that the slider names after another data set was looked at", async () => {
    await live.open([series, scan]);
    const first = await live.byCommand(live.file("series/tilt2_master.h5"), "bf");
    await live.settled(first);
    await live.page.getByRole("button", { name: "Next item" }).click();
    await live.settled(await live.byCommand(live.file("series/tilt3_master.h5"), "bf"));
    const datasets = live.page.getByLabel("Data set", { exact: true });
    await datasets.selectOption({ index: 1 });
    await live.settled(await live.byCommand(scan, "bf"));
    await datasets.selectOption({ index: 0 });
    await live.settled(first);
    expect(await live.view("item")).toBe(0);
  });
});

describe("what is made of the active detector's image", () => {
  it("follows when a detector is added and taken away", async () => {
    await live.open([scan]);
    const spectrum = (channel: number) => live.image(channel, live.page, 3);
    await live.page.keyboard.press("f");
    await expect.poll(() => spectrum(0)).not.toBeNull();
    await live.page.getByRole("button", { name: "Add a detector" }).click();
    await expect.poll(() => spectrum(1)).not.toBeNull();
    await live.page.getByRole("button", { name: "Remove detector 2" }).click();
    await live.rest();
    expect((await spectrum(0))?.values).not.toEqual((await spectrum(1))?.values);
  });
});

describe("clients and server", () => {
  it("serve two pages that do not disturb each other", async () => {
    await live.open([scan]);
    const other = await live.client();
    await live.page.keyboard.press("n");
    await other.keyboard.press("h");
    await live.settled(await live.byCommand(scan, "adf"));
    await live.settled(await live.byCommand(scan, "haadf"), 0, other);
  });

  it("go on after the server was started again, with what was set", async () => {
    await live.open([scan]);
    await live.useExpression("circle(30,31,7)");
    const expected = await live.byCommand(scan, "circle(30,31,7)");
    await live.settled(expected);
    const before = await live.snapshot();
    const { port } = live.server;
    await live.server.stop();
    await expect.poll(() => live.page.locator(".connection").innerText()).toBe("no connection");
    expect(await live.page.locator("[role=alert]").first().innerText()).not.toBe("");
    live.server = await ViewServer.start([scan], ["--token", TOKEN, "--port", port]);
    await expect.poll(() => live.page.locator(".connection").innerText()).toBe("connected");
    expect(await live.snapshot()).toEqual(before);
    // The page goes on with the new server.
    await live.useExpression("circle(30,31,8)");
    await live.settled(await live.byCommand(scan, "circle(30,31,8)"));
  });
});

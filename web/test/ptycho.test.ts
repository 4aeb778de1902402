// SPDX-License-Identifier: Apache-2.0
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

import { FrameKind } from "../src/protocol/frame";
import { atRest, openPage } from "./browser";
import { encodeFrame } from "./encode_frame";
import { Pages } from "./pages";

const dist = fileURLToPath(new URL("../dist", import.meta.url));
const pages = new Pages();

/** The kind of the frames of probe modes. */
const PROBE = 100;

// What the program lists of a reconstruction (ptycho/live), and what it tells of it.
const PAGE = {
  type: "page",
  protocol: "sonde.view.v1",
  client: 1,
  title: "result.h5",
  view: "run",
  ended: "The run has ended. This is what it showed last; its result is in result.h5.",
  panels: [
    { id: "run", type: "run", title: "Run" },
    { id: "object", type: "frames", title: "Object" },
    { id: "probe", type: "frames", title: "Probe" },
    { id: "errors", type: "curves", title: "Errors" },
    { id: "diagnoses", type: "diagnoses", title: "Diagnoses", place: "side" },
    { id: "settings", type: "settings", title: "Settings", place: "side" },
  ],
  actions: ["pause", "resume", "stop", "set", "restart"].map((name) => ({ name, help: "" })),
};

const RUN = {
  state: "running",
  over: false,
  done: 4,
  total: 20,
  unit: "iteration",
  note: "gd",
  facts: [
    { name: "R_I", value: "0.1000" },
    { name: "of its floor", value: "2.00 \u00d7" },
    { name: "R_free", value: "0.1200" },
    { name: "power", value: "\u00d7 1.010" },
    { name: "each", value: "12 ms" },
  ],
  paused: false,
  stopping: false,
};

const picture = (label: string, kind: number, channel: number, colours: string, unit = "") => ({ label, kind, channel, colours, unit, pixel: 0.02, pixel_unit: "nm" });

const PANELS = {
  run: RUN,
  object: {
    frames: [picture("Phase", FrameKind.image, 0, "gray", "rad"), picture("Amplitude", FrameKind.image, 1, "gray")],
    // A position in the middle has gone a pixel to the right, and is drawn ten times as far.
    moves: { arrows: [32, 32, 0, 1], longer: 10, one_of: 1, rms_px: 1, largest_px: 1 },
  },
  probe: { hint: "amplitude", frames: [picture("Mode 1", PROBE, 0, "magma"), picture("Mode 2", PROBE, 1, "magma")] },
  errors: {
    x: { name: "iteration", first: 1, last: 20 },
    log: { y: true },
    places: [1, 2, 3, 4],
    curves: [
      { name: "R_I", y: [0.8, 0.4, 0.2, 0.1] },
      { name: "R_A", y: [0.9, 0.5, 0.3, 0.2] },
      { name: "R_free", y: [null, null, null, 0.12] },
    ],
    reference: { value: 0.05, label: "floor 0.05" },
  },
  diagnoses: {
    hint: "1 suspect",
    diagnoses: [
      { name: "power_drift", value: 1.01, threshold: 1.05, verdict: "good" },
      { name: "over_fitting", value: 1.1, threshold: 1.02, verdict: "suspect", cause: "later iterations fit noise", fix: "stop the run" },
    ],
  },
};

const SETTINGS = {
  settings: [{ setting: "engine.0.step", of: "gd", key: "step", help: "step along the gradient", unit: "", min: 0, max: 2, optional: false, value: 0.5 }],
  changes: [] as object[],
};

it("changes a setting, and says why one is refused", async () => {
  const page = await pages.page({ viewport: { width: 1280, height: 860 } });
  const requests: object[] = [];
  await openPage(page, dist, (send) => ({
    start: () =>
      send(JSON.stringify({ ...PAGE, state: { panels: { ...PANELS, settings: SETTINGS } } })),
    receive: (text: string) => {
      const { id, command, setting, value } = JSON.parse(text) as { id: number; command: string; setting: string; value: number };
      requests.push({ command, setting, value });
      if (value > 2) return send(JSON.stringify({ type: "error", id, command, kind: "usage", message: "engine.0.step: 3 is above 2" }));
      send(JSON.stringify({ type: "reply", id, command }));
      const changes = [{ after: 4, setting, before: 0.5, now: value }];
      send(JSON.stringify({ type: "event", event: "panel/settings", options: { settings: [{ ...SETTINGS.settings[0], value }], changes } }));
    },
  }));
  const step = page.getByRole("spinbutton", { name: /^step/ });
  await expect.poll(() => step.inputValue()).toBe("0.5");
  await step.fill("0.25");
  expect(requests).toEqual([]);
  await step.press("Enter");
  await expect.poll(() => page.getByRole("list", { name: "Changes" }).allInnerTexts()).toEqual(["after 4: engine.0.step from 0.5 to 0.25"]);
  await step.fill("3");
  await step.press("Enter");
  await expect.poll(() => page.getByRole("alert").filter({ hasText: "3 is above 2" }).count()).toBe(1);
  await expect.poll(() => step.inputValue()).toBe("0.25");
  expect(requests).toEqual([
    { command: "set", setting: "engine.0.step", value: 0.25 },
    { command: "set", setting: "engine.0.step", value: 3 },
  ]);
});

it("shows a run, follows it, and pauses and ends it", async () => {
  const page = await pages.page({ viewport: { width: 1280, height: 860 } });
  const commands: string[] = [];
  let say: (what: object) => void = () => {};
  const values = (of: (i: number) => number) => Float32Array.from({ length: 64 * 64 }, (_, i) => of(i));
  await openPage(page, dist, (send) => ({
    start: () => {
      send(JSON.stringify({ ...PAGE, state: { panels: PANELS } }));
      // Dark left half, bright right half.
      send(encodeFrame({ kind: FrameKind.image, rows: 64, cols: 64, values: values((i) => (i % 64 < 32 ? -1 : 1)) }));
      send(encodeFrame({ kind: FrameKind.image, channel: 1, rows: 64, cols: 64, values: values(() => 1) }));
      for (const channel of [0, 1]) send(encodeFrame({ kind: PROBE, channel, rows: 64, cols: 64, values: values((i) => i) }));
      say = (what) => send(JSON.stringify({ type: "event", event: "panel/run", ...what }));
    },
    receive: (text: string) => {
      const { command } = JSON.parse(text) as { command: string };
      commands.push(command);
      say({ options: { ...RUN, paused: command === "pause", stopping: command === "stop" } });
    },
  }));
  await expect.poll(() => page.getByLabel("Mode 2").count()).toBe(1);
  await atRest(page);
  expect(await page.getByLabel("Run", { exact: true }).innerText()).toMatch(/iteration 4 of 20, gd[\s\S]*0\.1000[\s\S]*2\.00 ×/);
  const pixels = () =>
    page.getByRole("img", { name: "Phase" }).evaluate((canvas) => {
      const context = (canvas as HTMLCanvasElement).getContext("2d");
      return [10, 50].map((x) => context?.getImageData(x, 30, 1, 1).data[0]);
    });
  await expect.poll(pixels).toEqual([0, 255]);
  // The arrow lies where the position was: from the middle of the picture to the right.
  const [picture, arrow] = await Promise.all(["Phase", "Movement of the positions"].map((name) => page.getByRole("img", { name, exact: true }).boundingBox()));
  expect(arrow).toEqual(picture);
  expect(await page.locator(".arrows path").first().getAttribute("d")).toMatch(/^M32\.00 32\.00L42\.00 32\.00/);
  expect(await page.getByText("10 times as long").count()).toBe(1);
  // What is wrong stands first, with its cause and what to do.
  expect((await page.getByLabel("Diagnoses").getByRole("listitem").allInnerTexts()).map((text) => text.split(/\n+/))).toEqual([
    ["suspect", "over fitting", "1.1, limit 1.02", "later iterations fit noise", "stop the run"],
    ["good", "power drift", "1.01, limit 1.05"],
  ]);
  // The curve of R_I falls by the same amount for the same ratio.
  const points = await page.locator(".curve.one").evaluate((path) => path.getAttribute("d")?.slice(1).split("L").map((point) => Number(point.split(" ")[1])));
  expect(points).toHaveLength(4);
  const [a, b, c] = [1, 2, 3].map((i) => (points ?? [])[i] - (points ?? [])[i - 1]);
  // Places are written to a tenth.
  expect(Math.abs(a - b)).toBeLessThan(0.3);
  expect(Math.abs(b - c)).toBeLessThan(0.3);

  await page.getByRole("button", { name: "Pause" }).click();
  await expect.poll(() => page.getByRole("status").filter({ hasText: "paused" }).count()).toBe(1);
  await page.getByRole("button", { name: "Go on" }).click();
  // What would be lost is asked for twice; leaving the button is an answer too.
  await page.getByRole("button", { name: "Begin again" }).click();
  await page.getByRole("button", { name: "Pause" }).focus();
  await page.getByRole("button", { name: "Begin again" }).click();
  await expect.poll(() => commands).toEqual(["pause", "resume"]);
  await page.getByText("Begin again?").click();
  await expect.poll(() => page.getByText("Begin again?").count()).toBe(0);
  await page.getByRole("button", { name: "End the run" }).click();
  await expect.poll(() => page.getByRole("status").filter({ hasText: "ending" }).count()).toBe(1);
  await expect.poll(() => commands).toEqual(["pause", "resume", "restart", "stop"]);
  say({ event: "closing" });
  await expect.poll(() => page.getByRole("status").filter({ hasText: /^ended$/ }).count()).toBe(1);
  expect(await page.getByRole("button", { name: "Pause" }).count()).toBe(0);
  say({ options: { ...RUN, done: 20, state: "converged", over: true, because: "it changes no more" } });
  await expect.poll(() => page.getByText("it changes no more").count()).toBe(1);
  expect(await page.getByRole("button", { name: "Pause" }).count()).toBe(0);
});

it("asks before it stops work that keeps nothing", async () => {
  const page = await pages.page({ viewport: { width: 1280, height: 860 } });
  const commands: string[] = [];
  const run = { state: "running", done: 5, total: 20, units: "points", note: "solving", facts: [], paused: false, stopping: false, keeps: false };
  await openPage(page, dist, (send) => ({
    start: () => send(JSON.stringify({ ...PAGE, title: "sonde neoclassical scan", panels: [PAGE.panels[0]], actions: PAGE.actions.slice(0, 3), state: { panels: { run } } })),
    receive: (text: string) => {
      const { command } = JSON.parse(text) as { command: string };
      commands.push(command);
      send(JSON.stringify({ type: "event", event: "panel/run", options: { ...run, stopping: command === "stop" } }));
    },
  }));
  await expect.poll(() => page.getByText("solving: 5 of 20 points").count()).toBe(1);
  expect(await page.getByRole("button", { name: "Pause between two steps" }).count()).toBe(1);
  await page.getByRole("button", { name: "Stop: End the work now" }).click();
  expect(commands).toEqual([]);
  await page.getByText("Stop the work?").click();
  await expect.poll(() => page.getByRole("status").filter({ hasText: "ending" }).count()).toBe(1);
  await expect.poll(() => commands).toEqual(["stop"]);
});

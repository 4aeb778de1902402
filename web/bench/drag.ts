// SPDX-License-Identifier: Apache-2.0
/** npm run bench -- URL [seconds]: paints per second, and the time from the arrival of an input event in the browser to the
 *  end of the animation frame that shows its image, while a pointer of 125 Hz drags the detector of a running viewer. The
 *  events are the browser's own (Input.dispatchMouseEvent of its debugging protocol), sent at their times whatever the page
 *  does; the path never comes back to a mask that it had. Below it the parts of that time. For a series also the time from
 *  a key to the paint of another item whose images are there. First the floor: a page that answers each event by filling
 *  one canvas, without a server. Then what the page chooses by itself, WebGL2 and Canvas2D. */
import type { CDPSession, Page } from "playwright-core";

import type { Summary } from "../src/measure/delays";
import { launch } from "../test/browser";

type Sonde = { delays: { reset(): void; summary(): Summary }; renderer(): string };

const POINTER_HZ = 125;
const summary = (page: Page) => page.evaluate(() => (window as unknown as { __sonde: Sonde }).__sonde.delays.summary());
const reset = (page: Page) => page.evaluate(() => (window as unknown as { __sonde: Sonde }).__sonde.delays.reset());

async function drag(page: Page, seconds: number, on = "[data-panel=pattern] .lines"): Promise<Summary & { events: number }> {
  const box = await page.locator(on).boundingBox();
  if (!box) throw new Error("no pattern on the page");
  const browser: CDPSession = await page.context().newCDPSession(page);
  const send = (type: "mousePressed" | "mouseMoved" | "mouseReleased", x: number, y: number) =>
    browser.send("Input.dispatchMouseEvent", { type, x: box.x + x, y: box.y + y, button: "left", buttons: type === "mouseReleased" ? 0 : 1, clickCount: 1 });
  const [middleX, middleY] = [box.width / 2, box.height / 2];
  await send("mousePressed", middleX, middleY);
  const start = performance.now();
  let step = 0;
  let events = 0;
  let warm = false;
  const under: Promise<unknown>[] = [];
  while (performance.now() - start < 1000 * (seconds + 1)) {
    // The first second warms up.
    if (!warm && performance.now() - start > 1000) {
      warm = true;
      events = 0;
      await reset(page);
    }
    // As many events as are due: a late timer of this program makes none of them up.
    const due = Math.floor(((performance.now() - start) * POINTER_HZ) / 1000);
    for (; step < due; ++step) {
      const [radius, angle] = [20 + 0.015 * step, 0.07 * step];
      under.push(send("mouseMoved", middleX + radius * Math.cos(angle), middleY + radius * Math.sin(angle)));
      ++events;
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(under);
  const result = await summary(page);
  await send("mouseReleased", middleX, middleY);
  return { ...result, events };
}

/** Back and forth between two items by real keys, held down for 70 ms as by a finger, one switch after the other: the first
 *  rounds compute the images. A switch ends with the last of its images. */
async function switches(page: Page, rounds: number): Promise<Summary> {
  const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  for (let i = -4; i < rounds; ++i) {
    if (i === 0) await reset(page);
    const before = (await summary(page)).delays;
    const key = i % 2 === 0 ? "." : ",";
    await page.keyboard.down(key);
    // The page is not asked for anything meanwhile.
    await wait(70);
    await page.keyboard.up(key);
    while ((await summary(page)).delays === before) await wait(1);
    // A person rests, for another part of a frame each time: switches come at any time of one.
    await wait(i < 0 ? 500 : 37 + 16.7 * ((0.618034 * i) % 1));
  }
  return summary(page);
}

/** A page of the server's origin (elsewhere browsers have no raw pointer events) that holds nothing but a canvas of the size
 *  of a panel. Delays are those of src/measure/delays.ts without a command between event and image. */
async function floor(page: Page, url: string, seconds: number): Promise<Summary & { events: number }> {
  const { origin } = new URL(url);
  await page.route(`${origin}/floor`, (route) => route.fulfill({ contentType: "text/html", body: "<!doctype html><body>" }));
  await page.goto(`${origin}/floor`);
  await page.evaluate(() => {
    const canvas = document.body.appendChild(document.createElement("canvas"));
    [canvas.width, canvas.height] = [590, 600];
    const context = canvas.getContext("2d", { alpha: false }) as CanvasRenderingContext2D;
    const image = context.createImageData(canvas.width, canvas.height);
    const pixels = new Uint32Array(image.data.buffer);
    const [waited, paints]: number[][] = [[], []];
    let [drawn, shown]: number[][] = [[], []];
    const afterFrame = new MessageChannel();
    afterFrame.port1.onmessage = () => {
      const now = performance.now();
      paints.push(now);
      waited.push(...shown.map((at) => now - at));
      shown = [];
    };
    canvas.addEventListener("pointerrawupdate", ({ timeStamp }) => {
      pixels.fill(0xff000000 | (Math.round(997 * timeStamp) & 0xffffff));
      context.putImageData(image, 0, 0);
      drawn.push(timeStamp);
      if (drawn.length > 1) return;
      requestAnimationFrame(() => {
        [shown, drawn] = [drawn, []];
        afterFrame.port2.postMessage(null);
      });
    });
    const summary = () => {
      const sorted = [...waited].sort((a, b) => a - b);
      const at = (part: number) => sorted[Math.round(part * (sorted.length - 1))];
      const perSecond = (1000 * (paints.length - 1)) / (paints[paints.length - 1] - paints[0]);
      return { paints: paints.length, paintsPerSecond: perSecond, delays: sorted.length, p50: at(0.5), p95: at(0.95), longest: at(1), stages: {} };
    };
    const reset = () => void [waited, paints].forEach((list) => list.splice(0));
    (window as unknown as { __sonde: unknown }).__sonde = { delays: { reset, summary } };
  });
  return drag(page, seconds, "canvas");
}

function say(name: string, { stages, ...result }: Partial<Summary>): void {
  const text = Object.entries(result).map(([what, value]) => `${what} ${value.toFixed(1)}`);
  console.log(`${name}: ${text.join(", ")}`);
  const parts = Object.entries(stages ?? {}).map(([stage, { p50, p95 }]) => `${stage} ${p50.toFixed(1)}, ${p95.toFixed(1)}`);
  if (parts.length > 0) console.log(`  median, p95 of its parts: ${parts.join("; ")}`);
}

const [url, seconds = "4"] = process.argv.slice(2).filter((word) => word !== "--");
if (!url) throw new Error("give the address that `sonde view --no-open` prints");
for (const drawing of ["floor", "auto", "webgl", "canvas"]) {
  // A browser of its own for each, so that none pays for what the other left behind.
  const browser = await launch();
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  if (drawing === "floor") {
    say("floor", await floor(page, url, Number(seconds)));
    await browser.close();
    continue;
  }
  const begun = performance.now();
  await page.goto(`${url}&draw=${drawing}`);
  await page.waitForFunction(() => {
    type Frame = { preview: boolean } | null;
    type Store = { view: { dataset: { value: number | null } }; frame(kind: number, dataset: number, channel: number): { value: Frame } };
    const store = (window as unknown as { __sonde?: { store: Store } }).__sonde?.store;
    return store?.frame(2, store.view.dataset.value ?? 0, 0).value?.preview === false;
  });
  console.log(`${drawing}: exact image ${(performance.now() - begun).toFixed(0)} ms after the address was opened`);
  const result = await drag(page, Number(seconds));
  const renderer = await page.evaluate(() => (window as unknown as { __sonde: Sonde }).__sonde.renderer());
  const name = `${drawing}: ${renderer}${renderer === "WebGL2" ? " (SwiftShader)" : ""}`;
  say(name, result);
  if ((await page.getByRole("button", { name: "Next item" }).count()) > 0) {
    const { p50, p95, longest, stages } = await switches(page, 60);
    say(`${name}, other item`, { p50, p95, longest, stages });
  }
  await browser.close();
}

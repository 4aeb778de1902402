// SPDX-License-Identifier: Apache-2.0
/** npm run bench -- URL [seconds]: paints per second, and the time from a movement of the hand to the paint of its image,
 *  while the detector of a running viewer is dragged. The page measures itself; once per animation frame the pointer moves
 *  by about a pixel of the detector along a path that never comes back to a mask it had. For a series also the time from
 *  a key to the paint of another item whose images are there. */
import type { Page } from "playwright-core";

import { launch } from "../test/browser";

interface Summary {
  paints: number;
  paintsPerSecond: number;
  delays: number;
  p50: number;
  p95: number;
  longest: number;
}
type Sonde = { delays: { reset(): void; summary(): Summary }; renderer(): string };

async function drag(page: Page, seconds: number): Promise<Summary> {
  return page.evaluate(async (duration) => {
    const sonde = (window as unknown as { __sonde: Sonde }).__sonde;
    const lines = document.querySelector("[data-panel=pattern] .lines") as HTMLElement;
    const { left, top, width, height } = lines.getBoundingClientRect();
    lines.setPointerCapture = () => {};
    const fire = (type: string, x: number, y: number) =>
      lines.dispatchEvent(new PointerEvent(type, { pointerId: 1, button: 0, clientX: left + x, clientY: top + y, bubbles: true }));
    const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    fire("pointerdown", width / 2, height / 2);
    const start = performance.now();
    for (let step = 0; performance.now() - start < 1000 * (duration + 1); ++step) {
      // The first second warms up.
      if (performance.now() - start < 1000) sonde.delays.reset();
      const [radius, angle] = [20 + 0.03 * step, 0.15 * step];
      fire("pointermove", width / 2 + radius * Math.cos(angle), height / 2 + radius * Math.sin(angle));
      await nextFrame();
    }
    const result = sonde.delays.summary();
    fire("pointerup", width / 2, height / 2);
    return result;
  }, seconds);
}

/** Back and forth between two items, one switch after the other: the first rounds compute the images. */
async function switches(page: Page, rounds: number): Promise<Summary> {
  return page.evaluate(async (count) => {
    const sonde = (window as unknown as { __sonde: Sonde }).__sonde;
    const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
    for (let i = -4; i < count; ++i) {
      if (i === 0) sonde.delays.reset();
      const before = sonde.delays.summary().delays;
      document.dispatchEvent(new KeyboardEvent("keydown", { key: i % 2 === 0 ? "." : ",", bubbles: true }));
      while (sonde.delays.summary().delays === before) await wait(1);
      // A person rests; and 37 is no multiple of a frame, so that switches come at any time of one.
      await wait(i < 0 ? 500 : 37);
    }
    return sonde.delays.summary();
  }, rounds);
}

const [url, seconds = "10"] = process.argv.slice(2).filter((word) => word !== "--");
if (!url) throw new Error("give the address that `sonde view --no-open` prints");
const origin = new URL(url).origin;
for (const query of ["?draw=webgl", "?draw=canvas"]) {
  // A browser of its own for each, so that none pays for what the other left behind. The token in the address is
  // exchanged for a cookie once; later pages need only the cookie.
  const browser = await launch();
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const first = await context.newPage();
  await first.goto(url);
  await first.close();
  const page = await context.newPage();
  await page.goto(`${origin}/${query}`);
  await page.waitForFunction(() => ((window as unknown as { __sonde?: Sonde }).__sonde?.delays.summary().delays ?? 0) > 0);
  const result = await drag(page, Number(seconds));
  const renderer = await page.evaluate(() => (window as unknown as { __sonde: Sonde }).__sonde.renderer());
  const text = Object.entries(result).map(([name, value]) => `${name} ${Number(value.toFixed(1))}`);
  const name = `${renderer}${renderer === "WebGL2" ? " (SwiftShader)" : ""}`;
  console.log(`${name}: ${text.join(", ")}`);
  if ((await page.getByRole("button", { name: "Next item" }).count()) > 0) {
    const { p50, p95, longest } = await switches(page, 60);
    console.log(`${name}, other item: p50 ${p50.toFixed(1)}, p95 ${p95.toFixed(1)}, longest ${longest.toFixed(1)}`);
  }
  await browser.close();
}

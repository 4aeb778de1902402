// SPDX-License-Identifier: Apache-2.0
/** npm run bench -- URL [seconds]: paints per second, and the time from a movement of the hand to the paint of its image,
 *  while the detector of a running viewer is dragged. The page measures itself; once per animation frame the pointer moves
 *  by about a pixel of the detector along a path that never comes back to a mask it had. */
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
  console.log(`${renderer}${renderer === "WebGL2" ? " (SwiftShader)" : ""}: ${text.join(", ")}`);
  await browser.close();
}

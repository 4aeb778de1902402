// SPDX-License-Identifier: Apache-2.0
/** SONDE_PROGRAM=... npm run figures -- FOLDER: the pictures of the viewer in the documentation, of simulated scans, a reconstruction and a drum loop. */
import { join, resolve } from "node:path";
import type { Browser, Page } from "playwright-core";

import { launch } from "../test/browser";
import { run, temporaryFolder, ViewServer } from "../test/sonde";

const wholePattern = (page: Page) => page.getByRole("button", { name: "The pattern of the region" }).click();

async function picture(browser: Browser, url: string, output: string, scheme: "dark" | "light", act: (page: Page) => Promise<void>): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: scheme });
  const page = await context.newPage();
  await page.goto(url);
  await act(page);
  // Whatever was asked for has been answered and painted.
  await page.waitForLoadState("networkidle");
  await page.waitForFunction(() => {
    type Sonde = { session: { latest: { idle: boolean } } };
    return (window as unknown as { __sonde: Sonde }).__sonde.session.latest.idle;
  });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await page.screenshot({ path: output });
  await context.close();
}

const [folder] = process.argv.slice(2).filter((word) => word !== "--");
if (!folder) throw new Error("give the folder to write to");
const data = temporaryFolder();
const scan = join(data.path, "particles_master.h5");
await run("stem", "simulate", scan, "--scan-shape", "128,128", "--detector-shape", "96,96", "--disk-radius", "12", "--dose", "4", "--seed", "3", "--no-truth");
const measured = join(data.path, "measured.h5");
const result = join(data.path, "result.h5");
await run("ptycho", "simulate", "-o", measured, "--quiet");
await run("ptycho", "run", measured, "-o", result, "--set", "engine.0.iterations=60", "--quiet");
const object = join(data.path, "object_master.h5");
const phase = join(data.path, "phase.h5");
await run("stem", "simulate", object, "--sample", "phase", "--scan-shape", "64,72", "--detector-shape", "48,56", "--disk-radius", "8", "--dose", "4", "--scan-step", "0.06", "--rotation", "25", "--descan", "0", "--no-truth");
await run("stem", "phase", object, "-o", phase, "--quiet");
const loop = join(data.path, "loop");
await run("separate", "simulate", "-o", loop, "--quiet");
const server = await ViewServer.start([scan]);
const resultServer = await ViewServer.start([result]);
const phaseServer = await ViewServer.start([phase]);
const loopServer = await ViewServer.start([loop]);
const browser = await launch();
try {
  await picture(browser, server.url, resolve(folder, "viewer-grid.png"), "dark", async (page) => {
    await wholePattern(page);
    for (const key of ["n", "h", "v"]) {
      await page.getByRole("button", { name: "Add a detector" }).click();
      await page.keyboard.press(key);
    }
  });
  await picture(browser, server.url, resolve(folder, "viewer-deflection.png"), "light", async (page) => {
    await wholePattern(page);
    await page.getByRole("button", { name: "All four" }).click();
    await page.locator(".channels").getByRole("button", { name: "CoM row" }).click();
  });
  await picture(browser, server.url, resolve(folder, "viewer-profile.png"), "light", async (page) => {
    await wholePattern(page);
    await page.keyboard.press("n");
    await page.keyboard.press("f");
    await page.locator("section[aria-label='Real space']").getByRole("button", { name: "Line profile" }).click();
    const box = await page.locator("[data-panel=image] .lines").boundingBox();
    if (!box) throw new Error("no panel");
    await page.mouse.move(box.x + 0.35 * box.width, box.y + 0.2 * box.height);
    await page.mouse.down();
    await page.mouse.move(box.x + 0.68 * box.width, box.y + 0.9 * box.height, { steps: 4 });
    await page.mouse.up();
  });
  await picture(browser, resultServer.url, resolve(folder, "viewer-result.png"), "light", async (page) => {
    await page.getByRole("region", { name: "Errors" }).locator("path.curve").first().waitFor();
    await page.locator("path.points").first().waitFor();
  });
  await picture(browser, phaseServer.url, resolve(folder, "viewer-phase.png"), "light", async (page) => {
    for (const name of ["Phase", "Field", "Curl", "Divergence"]) await page.locator(`canvas[aria-label="${name}"]`).scrollIntoViewIfNeeded();
    await page.locator("main").evaluate((main) => main.scrollTo(0, 0));
    await page.locator(`canvas[aria-label="Phase"]`).scrollIntoViewIfNeeded();
  });
  await picture(browser, loopServer.url, resolve(folder, "viewer-stems.png"), "light", async (page) => {
    // Of every drum, and all of each file.
    await page.waitForFunction(() => document.querySelectorAll(".markers").length === 5 && !document.querySelector(".lane .part"));
    await page.getByRole("group", { name: "snare", exact: true }).locator("summary").click();
    await page.getByRole("button", { name: "Mute cymbals", exact: true }).click();
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
    await page.getByRole("spinbutton", { name: "from" }).fill("2.4");
    await page.getByRole("spinbutton", { name: "to" }).fill("4.8");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Play the loop" }).click();
    await page.getByRole("slider", { name: "Position" }).fill("3.1");
  });
} finally {
  await browser.close();
  await server.stop();
  await resultServer.stop();
  await phaseServer.stop();
  await loopServer.stop();
  data.remove();
}

// SPDX-License-Identifier: Apache-2.0
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";

import { Pages } from "./pages";
import { run, temporaryFolder, ViewServer } from "./sonde";

const GOLD = `data_gold
_cell_length_a 4.078
_cell_length_b 4.078
_cell_length_c 4.078
_cell_angle_alpha 90
_cell_angle_beta 90
_cell_angle_gamma 90
_space_group_name_H-M_alt 'F m -3 m'
loop_
_atom_site_label
_atom_site_fract_x
_atom_site_fract_y
_atom_site_fract_z
Au1 0 0 0
`;
const folder = temporaryFolder();
const at = (name: string) => join(folder.path, name);
let server: ViewServer | undefined;
let page: Page;

beforeAll(async () => {
  const grid = ["--n-theta", "9", "--n-zeta", "11", "--n-xi", "8"];
  await run("neoclassical", "run", "analytic-demo", ...grid, "--nu-hat", "1e-2", "--include-modes", "-o", at("run.nc"), "--quiet");
  await run("neoclassical", "scan", "analytic-demo", ...grid, "--nu-v", "1e-3,1e-2,1e-1,1", "--er-hat", "0,1e-3", "-o", at("scan.npz"), "--quiet");
  await run("stem", "simulate", at("object_master.h5"), "--sample", "phase", "--scan-shape", "18,24", "--detector-shape", "24,28", "--disk-radius", "5", "--scan-step", "0.1", "--no-truth", "--quiet");
  await run("stem", "phase", at("object_master.h5"), "-o", at("phase.h5"), "--rotation", "0", "--transpose", "0", "--quiet");
  await writeFile(at("gold.cif"), GOLD);
  await run("stem", "simulate", at("grains_master.h5"), "--sample", "crystal", "--crystal", at("gold.cif"), "--grains", "5", "--scan-shape", "9,12", "--detector-shape", "124,140", "--dose", "4", "--seed", "2", "--quiet");
  await run("stem", "orient", at("grains_master.h5"), "--crystal", at("gold.cif"), "-o", at("orientation.h5"), "--quiet");
  await run("ptycho", "simulate", "-o", at("measured.h5"), "--scan-shape", "6,6", "--detector-px", "32", "--quiet");
  await run("ptycho", "run", at("measured.h5"), "-o", at("result.h5"), "--set", "engine.0.iterations=12", "--quiet");
});
afterEach(() => server?.stop());
afterAll(() => folder.remove());
const pages = new Pages("exceptions");

async function open(name: string): Promise<void> {
  server = await ViewServer.start([at(name)]);
  page = await pages.page({ viewport: { width: 1280, height: 900 } });
  await page.goto(server.url);
  await page.locator("main.panels").waitFor();
}

const section = (title: string) => page.getByRole("region", { name: title, exact: true });

/** How many colours a picture has: one before its numbers are there. */
function colours(canvas: string): Promise<number> {
  return page.locator(`canvas[aria-label="${canvas}"]`).evaluate((element) => {
    const { width, height } = element as HTMLCanvasElement;
    const data = (element as HTMLCanvasElement).getContext("2d")?.getImageData(0, 0, width, height).data;
    return new Set(new Uint32Array(data?.buffer ?? new ArrayBuffer(0))).size;
  });
}

it("shows two axes as a picture with their names, units and a colour bar", async () => {
  await open("run.nc");
  await section("b").scrollIntoViewIfNeeded();
  await expect.poll(() => colours("b")).toBeGreaterThan(20);
  for (const axis of ["theta (rad)", "zeta (rad)"]) await expect.poll(() => section("b").innerText()).toContain(axis);
  // Beside its colours: the unit of the field.
  await expect.poll(() => section("b").locator("svg .mark").allTextContents()).toContain("T");
  await section("b").locator("canvas[role=img]").hover();
  await expect.poll(() => section("b").locator("figcaption").innerText()).toMatch(/^theta [\d.]+ rad, zeta [\d.]+ rad: [\d.]+ T$/);
});

it("chooses the elements of further axes with a slider", async () => {
  await open("run.nc");
  const slider = section("f1_modes").getByRole("slider");
  await slider.scrollIntoViewIfNeeded();
  const shown = () =>
    section("f1_modes")
      .locator("canvas[role=img]")
      .evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());
  await expect.poll(() => colours("f1_modes")).toBeGreaterThan(20);
  const first = await shown();
  await slider.press("End");
  await expect.poll(shown).not.toBe(first);
  await slider.press("Home");
  await expect.poll(shown).toBe(first);
});

it("draws coefficients over an axis that spans decades, a curve for each field", async () => {
  await open("scan.npz");
  await section("D11").scrollIntoViewIfNeeded();
  await expect.poll(() => section("D11").locator("path.curve").count()).toBe(2);
  const log = section("D11").getByRole("button", { name: /log x/ });
  await expect.poll(() => log.getAttribute("aria-pressed")).toBe("true");
  const path = () => section("D11").locator("path.curve").first().getAttribute("d");
  const logarithmic = await path();
  await log.click();
  await expect.poll(path).not.toBe(logarithmic);
  await expect.poll(() => section("D11").locator("figcaption").innerText()).toMatch(/0.001/);
});

it("shows phase and amplitude of a reconstruction, its errors and its positions", async () => {
  await open("result.h5");
  await expect.poll(() => colours("Object, phase")).toBeGreaterThan(20);
  await expect.poll(() => colours("Object, amplitude")).toBeGreaterThan(20);
  await expect.poll(() => section("Object").innerText()).toContain("column (\u00c5)");
  await section("Errors").scrollIntoViewIfNeeded();
  await expect.poll(() => section("Errors").locator("figcaption").innerText()).toContain("R_I");
  await section("Positions").scrollIntoViewIfNeeded();
  // 36 of them, before and after.
  await expect.poll(() => section("Positions").locator("path.points").evaluateAll((paths) => paths.map((one) => one.getAttribute("d")?.match(/M/g)?.length))).toEqual([36, 36]);
  await expect.poll(() => section("settings").innerText()).toContain("iterations = 12");
});

it("draws orientations in the colours of the beam's direction, and grains by their names", async () => {
  await open("orientation.h5");
  await expect.poll(() => colours("Grains")).toBe(5);
  const beam = "Beam along: red [0 0 1], green [1 0 1], blue [1 1 1]";
  await expect.poll(() => colours(beam)).toBeGreaterThan(4);
  // Beside it the triangle, and at the pointer the direction.
  await expect.poll(() => section(beam).locator("canvas.wheel").count()).toBe(1);
  await section(beam).locator("canvas[role=img]").hover();
  await expect.poll(() => section(beam).locator("figcaption").innerText()).toMatch(/^scan row \d, scan column \d+: [\d.e-]+ [\d.e-]+ [\d.]+$/);
});

it("makes a phase anew while its settings are dragged", async () => {
  await open("phase.h5");
  const picture = (title: string) => page.locator(`canvas[aria-label="${title}"]`).evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());
  await expect.poll(() => colours("Phase")).toBeGreaterThan(20);
  await expect.poll(() => colours("Field")).toBeGreaterThan(20);
  const [phase, field] = [await picture("Phase"), await picture("Field")];
  const slider = page.getByRole("slider", { name: "rotation, slider" });
  const found = () => section("Found").innerText();
  for (const turn of ["10", "45", "70", "90"]) await slider.fill(turn);
  await expect.poll(found).toContain("--rotation 90 ");
  await expect.poll(found).toContain("wrong rotation");
  await expect.poll(() => picture("Field")).not.toBe(field);
  await slider.fill("0");
  await expect.poll(() => picture("Field")).toBe(field);
  await expect.poll(() => picture("Phase")).toBe(phase);
  await page.getByRole("checkbox", { name: "half a turn" }).check();
  await expect.poll(() => picture("Phase")).not.toBe(phase);
  await page.getByRole("combobox", { name: "method" }).selectOption("fourier");
  await expect.poll(found).toContain("--method fourier");
});

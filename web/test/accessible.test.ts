// SPDX-License-Identifier: Apache-2.0
/** axe-core on the page in its different states, with the rules that it calls experimental as well; and the keyboard. */
import { describe, expect, it } from "vitest";

import { axeViolations } from "./axe";
import { SimulatedPage } from "./simulated_page";

const shown = new SimulatedPage();

const violations = () => axeViolations(shown.page);

describe.each(["dark", "light"] as const)("in the %s scheme axe finds nothing wrong", (scheme) => {
  it("with the page as it opens", async () => {
    await shown.open({}, { scheme });
    expect(await violations()).toEqual([]);
  });
  it("with a series, several data sets, all panels and detectors", async () => {
    await shown.open({ items: 3, datasets: 2 }, { scheme });
    await shown.page.getByRole("button", { name: "All four" }).click();
    await shown.lines("image").focus();
    await shown.page.keyboard.press("f");
    await shown.page.getByRole("button", { name: "RGB" }).click();
    for (const name of ["scan_master.h5", "scan_2_master.h5"]) await shown.page.getByRole("checkbox", { name: `Compare ${name}` }).check();
    await shown.page.locator("summary", { hasText: /^Data$/ }).click();
    await shown.page.locator("[data-panel=spectrum]").waitFor();
    expect(await violations()).toEqual([]);
  });
  it("with a refused detector and with a dialog", async () => {
    await shown.open({}, { scheme });
    const field = shown.page.getByRole("textbox", { name: "Expression" });
    await field.fill("nonsense");
    await field.press("Enter");
    await shown.page.locator("aside [role=alert]").waitFor();
    expect(await violations()).toEqual([]);
    await shown.lines("image").focus();
    for (const key of ["e", "?"]) {
      await shown.page.keyboard.press(key);
      await shown.page.getByRole("dialog").waitFor();
      expect(await violations()).toEqual([]);
      await shown.page.keyboard.press("Escape");
      await expect.poll(() => shown.page.getByRole("dialog").count()).toBe(0);
    }
  });
});

it("Escape right after ? leaves no help open", async () => {
  await shown.open();
  await shown.page.evaluate(() => {
    // Both keys before the page has drawn anything in between.
    for (const key of ["?", "Escape"]) document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  });
  await shown.rest();
  expect(await shown.page.locator("dialog").count()).toBe(0);
});

// SPDX-License-Identifier: Apache-2.0
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

import { atRest, openPage } from "./browser";
import { Pages } from "./pages";

const dist = fileURLToPath(new URL("../dist", import.meta.url));
const pages = new Pages();

/** One panel of each type, as docs/viewer-protocol.md describes them. */
const PANELS = [
  { id: "run", type: "facts", title: "Run", options: { facts: [{ name: "command", value: "stem load" }, { name: "processor", value: "EPYC, 2 cores" }] } },
  {
    id: "phases",
    type: "chart",
    title: "Time",
    options: {
      unit: "s",
      bars: [
        { name: "load", depth: 0, value: 3.52, note: "", parts: [{ name: "steady", value: 3.52 }], fractions: [] },
        { name: "decode", depth: 1, value: 1.52, note: "101 calls", parts: [{ name: "prepare", value: 0.5 }, { name: "first", value: 0.02 }, { name: "steady", value: 1 }], fractions: [{ of: "memory", value: 0.83 }] },
      ],
    },
  },
  { id: "memory", type: "chart", title: "Memory", options: { unit: "B", bars: [{ name: "host", depth: 0, value: 1048576, note: "", limit: 2097152 }] } },
  { id: "checks", type: "table", title: "Checks", options: { columns: ["check", "value", "tolerance", "passed"], rows: [["equal", 2e-8, 1e-6, true], ["finite", "", 0, false]], failed: [1] } },
];

it("shows facts, charts and tables of a report", async () => {
  const page = await pages.page();
  const message = { type: "page", protocol: "sonde.view.v1", client: 1, title: "stem load", view: "report", panels: PANELS, actions: [], state: null };
  await openPage(page, dist, (send) => ({ start: () => send(JSON.stringify(message)), receive: () => {} }));
  await expect.poll(() => page.locator("main.report section").count()).toBe(4);
  await atRest(page);
  expect(await page.getByLabel("Time").innerText()).toContain("1.52 s");
  expect(await page.getByLabel("Time").innerText()).toContain("83 % of memory");
  expect(await page.getByLabel("Memory").innerText()).toContain("1.00\u2009MiB of 2.00\u2009MiB");
  // What failed is said in words, not by a colour alone.
  expect(await page.locator("tr.failed").innerText()).toMatch(/^finite failed/);
  const widths = await page.locator("[aria-label=Time] .track").evaluateAll((tracks) =>
    tracks.map((track) => [...track.children].reduce((sum, part) => sum + part.getBoundingClientRect().width, 0) / track.getBoundingClientRect().width),
  );
  // The longest bar is as long as the track, the other in proportion; a pixel of rounding is 0.01 of it.
  expect(widths[0]).toBeCloseTo(1, 2);
  expect(widths[1]).toBeCloseTo(1.52 / 3.52, 2);
});

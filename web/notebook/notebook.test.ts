// SPDX-License-Identifier: Apache-2.0
/** `sonde.view(ds)` at the end of a cell, in a Jupyter notebook as Debian packages it: the frame in the output holds the
 *  viewer, and the viewer holds the image that the command line computes. */
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";

import { launch, PATIENCE_MS } from "../test/browser";
import { imageByCommand, simulate, temporaryFolder } from "../test/sonde";

const JUPYTER = "/usr/bin/jupyter-notebook";
const folder = temporaryFolder();
let jupyter: ChildProcess;
let address: string;
let browser: Browser;

/** One that nobody listens on. Jupyter takes the next one if somebody else was quicker. */
function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

/** Starts Jupyter with settings and a home of its own; the address that it says is that of its page. */
async function startJupyter(): Promise<string> {
  if (!existsSync(JUPYTER)) throw new Error(`${JUPYTER} is not there: install jupyter-notebook`);
  const module = process.env.SONDE_MODULE;
  if (!module) throw new Error("SONDE_MODULE names no folder with the Python module: run `ctest -R web_notebook`, or set it");
  const own = { HOME: folder.path, JUPYTER_RUNTIME_DIR: join(folder.path, "runtime"), PYTHONPATH: module, PATH: `/usr/bin:${process.env.PATH}` };
  const options = ["--no-browser", "--allow-root", "--ip=127.0.0.1", `--port=${await freePort()}`, `--notebook-dir=${folder.path}`];
  jupyter = spawn(JUPYTER, options, { env: { ...process.env, ...own }, stdio: ["ignore", "pipe", "pipe"] });
  return new Promise((resolve, reject) => {
    let said = "";
    const hear = (text: Buffer) => {
      said += text.toString();
      const found = /(http:\/\/127\.0\.0\.1:\d+\/)\?token=(\w+)/.exec(said);
      if (found) resolve(found[0]);
    };
    jupyter.stdout?.on("data", hear);
    jupyter.stderr?.on("data", hear);
    jupyter.on("exit", (status) => reject(new Error(`Jupyter ended with ${String(status)}: ${said}`)));
  });
}

beforeAll(async () => {
  address = await startJupyter();
  browser = await launch();
});
afterAll(async () => {
  await browser.close();
  if (jupyter.exitCode === null) {
    const ended = new Promise((resolve) => jupyter.once("exit", resolve));
    jupyter.kill("SIGTERM");
    await ended;
  }
  folder.remove();
});

it("shows the viewer in the output of its cell", async () => {
  const master = await simulate(join(folder.path, "one_master.h5"), 1);
  const lines = ["import sonde", `ds = sonde.stem.load(${JSON.stringify(master)})`, "sonde.view(ds)"];
  const cell = { cell_type: "code", execution_count: null, metadata: {}, outputs: [], source: lines.join("\n") };
  const kernelspec = { display_name: "Python 3", language: "python", name: "python3" };
  writeFileSync(join(folder.path, "one.ipynb"), JSON.stringify({ cells: [cell], metadata: { kernelspec }, nbformat: 4, nbformat_minor: 4 }));

  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.setDefaultTimeout(PATIENCE_MS);
  // The name under which people open it, not the one that it listens on.
  const { port, searchParams } = new URL(address);
  await page.goto(`http://localhost:${port}/notebooks/one.ipynb?token=${searchParams.get("token")}`);
  type Notebook = { Jupyter?: { notebook?: { kernel?: { is_connected(): boolean }; execute_all_cells(): void } } };
  await page.waitForFunction(() => (window as Notebook).Jupyter?.notebook?.kernel?.is_connected());
  await page.evaluate(() => (window as Notebook).Jupyter?.notebook?.execute_all_cells());

  const frame = await (await page.waitForSelector(".output iframe")).contentFrame();
  if (!frame) throw new Error("the output's frame holds no page");
  const image = () =>
    frame.evaluate(() => {
      type Sonde = { store: { view: { dataset: { value: number | null } }; frame(kind: number, dataset: number, channel: number): { value: { values: ArrayLike<number> } | null } } };
      const store = (window as unknown as { __sonde?: Sonde }).__sonde?.store;
      const found = store?.frame(2, store.view.dataset.value ?? 0, 0).value;
      return found ? Array.from(found.values, Number) : null;
    });
  await expect.poll(image).toEqual((await imageByCommand(master, "bf", folder.path)).values);
  expect(await frame.locator("[data-panel=image] canvas").first().isVisible()).toBe(true);
});

// SPDX-License-Identifier: Apache-2.0
/** SONDE_PROGRAM=... npm run bench:first -- SCAN [rounds]: from the start of `sonde view SCAN` to the exact image in a
 *  browser that is open already, in milliseconds. */
import { launch } from "../test/browser";
import { ViewServer } from "../test/sonde";

const [scan, rounds = "5"] = process.argv.slice(2).filter((word) => word !== "--");
if (!scan) throw new Error("give a scan");
const browser = await launch();
const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
const times: { listening: number; any: number; exact: number }[] = [];
for (let i = 0; i < Number(rounds); ++i) {
  await page.goto("about:blank");
  const begun = performance.now();
  const since = () => performance.now() - begun;
  const server = await ViewServer.start([scan]);
  const listening = since();
  await page.goto(server.url);
  const image = (exact: boolean) =>
    page.waitForFunction((whole) => {
      type Frame = { preview: boolean } | null;
      type Store = { view: { dataset: { value: number | null } }; frame(kind: number, dataset: number, channel: number): { value: Frame } };
      const store = (window as unknown as { __sonde?: { store: Store } }).__sonde?.store;
      const frame = store?.frame(2, store.view.dataset.value ?? 0, 0).value;
      return frame && !(whole && frame.preview);
    }, exact);
  await image(false);
  const any = since();
  await image(true);
  times.push({ listening, any, exact: since() });
  await server.stop();
}
for (const name of ["listening", "any", "exact"] as const) {
  const sorted = times.map((one) => one[name]).sort((a, b) => a - b);
  const [least, middle, most] = [sorted[0], sorted[sorted.length >> 1], sorted[sorted.length - 1]];
  console.log(`${{ listening: "address printed", any: "first image", exact: "exact image" }[name]}: median ${middle.toFixed(0)} ms (${least.toFixed(0)} to ${most.toFixed(0)})`);
}
await browser.close();

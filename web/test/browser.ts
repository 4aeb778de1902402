// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { chromium, type Browser, type Page } from "playwright-core";

import { SimulatedServer, type Simulation } from "./simulated_server";

/** Debian's Chromium (or the one that SONDE_CHROMIUM names), never one that was downloaded. */
export function chromiumPath(): string {
  const path = process.env.SONDE_CHROMIUM ?? "/usr/bin/chromium";
  if (!existsSync(path)) throw new Error(`${path} is not there: install chromium`);
  return path;
}

/** How long anything in the browser may take before a test gives up: much else may be running. */
export const PATIENCE_MS = 120_000;

export function launch(args: string[] = []): Promise<Browser> {
  // WebGL2 without a GPU is SwiftShader, which newer Chromium only uses when asked. A root user has no sandbox.
  const flags = ["--enable-unsafe-swiftshader", "--no-sandbox", "--disable-dev-shm-usage"];
  return chromium.launch({ executablePath: chromiumPath(), args: [...flags, ...args], timeout: PATIENCE_MS });
}

const TYPES: Record<string, string> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

// The server's own policy, so that what it would forbid fails here too.
export const POLICY = "default-src 'self'; connect-src 'self'; img-src 'self' blob:; worker-src 'self'; frame-ancestors 'none'";

/** Until a page has what it asked for, has drawn it and said it, and keeps still: what was drawn may have given panels another
 *  size, which the browser says with its next frame. */
export function atRest(page: Page): Promise<void> {
  return page.evaluate(async () => {
    const { settled } = (window as unknown as { __sonde: { settled(): boolean } }).__sonde;
    for (let still = 0; still < 3; ) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      still = settled() ? still + 1 : 0;
    }
  });
}

/** Until the page of a scan has its panels and is at rest: a hand finds what it will find later. */
export async function ready(page: Page): Promise<void> {
  await page.waitForFunction(() => (window as { __sonde?: { renderer?(): string | undefined } }).__sonde?.renderer?.());
  await atRest(page);
}

/** What the page says in a banner from now on: some go away by themselves, maybe before a test looks. */
export async function banners(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(() => {
    const said = new Set<string>();
    (window as unknown as { __said: Set<string> }).__said = said;
    new MutationObserver(() => document.querySelectorAll<HTMLElement>(".notice").forEach((one) => said.add(one.innerText))).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  return () => page.evaluate(() => [...(window as unknown as { __said: Set<string> }).__said]);
}

/** What a page gets for its token or code. */
export const SECRET = "of this page";

type Send = (message: string | ArrayBuffer) => void;
/** What stands behind /ws: says something when a page comes, and answers it. */
export type Backend = (send: Send) => { start(): void; receive(text: string): void };

/** The built client at http://viewer.test/, with a simulated server of scans. */
export async function openSimulated(page: Page, dist: string, what: Simulation, query = ""): Promise<void> {
  await openPage(page, dist, (send) => new SimulatedServer(what, send), query);
  await ready(page);
}

export async function openPage(page: Page, dist: string, backend: Backend, query = ""): Promise<void> {
  await page.route("http://viewer.test/**", async (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname === "/api/enter") return route.fulfill({ contentType: "application/json", body: JSON.stringify({ secret: SECRET }) });
    const file = join(dist, pathname === "/" ? "index.html" : pathname);
    if (!existsSync(file)) return route.fulfill({ status: 404 });
    const headers = { "content-security-policy": POLICY };
    return route.fulfill({ body: await readFile(file), contentType: TYPES[extname(file)], headers });
  });
  await page.routeWebSocket("ws://viewer.test/ws", (socket) => {
    const server = backend((message) => socket.send(typeof message === "string" ? message : Buffer.from(message)));
    // The first message shows the secret.
    socket.onMessage((text) => {
      if (String(text) === JSON.stringify({ secret: SECRET })) server.start();
      else server.receive(String(text));
    });
  });
  await page.goto(`http://viewer.test/?token=one${query.replace("?", "&")}`);
}

// SPDX-License-Identifier: Apache-2.0
/** What the page advises when its server is gone depends on where it is: in a window, or in the output of a cell. */
import { fileURLToPath } from "node:url";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import type { Browser, BrowserContext, Frame, WebSocketRoute } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";

import { launch, PATIENCE_MS, SECRET } from "./browser";
import { SimulatedServer, simulation } from "./simulated_server";

const dist = fileURLToPath(new URL("../dist", import.meta.url));
const TYPES: Record<string, string> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
let browser: Browser;
let context: BrowserContext | undefined;
let socket: WebSocketRoute | null;
/** What the server says to the token or code. */
let entry: { status: number; body: object };
/** Whether something answers at the page's address after the socket is gone. */
let answers: boolean;

beforeEach(() => {
  entry = { status: 200, body: { secret: SECRET } };
});
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser.close());
afterEach(() => context?.close());

/** The page in a frame of another page, as a notebook shows it, or by itself. */
async function open(framed: boolean, query = "?token=one"): Promise<Frame> {
  context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  let connections = 0;
  answers = true;
  await page.route("http://viewer.test/**", async (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname === "/api/enter") return route.fulfill({ status: entry.status, contentType: "application/json", body: JSON.stringify(entry.body) });
    const file = pathname === "/" ? "index.html" : pathname;
    return route.fulfill({ body: await readFile(join(dist, file)), contentType: TYPES[extname(file)] });
  });
  await page.route("http://notebook.test/**", (route) => route.fulfill({ contentType: "text/html", body: '<iframe src="http://viewer.test/?code=one" width="1200" height="700"></iframe>' }));
  await page.routeWebSocket("ws://viewer.test/ws", (made) => {
    // Only the first one is taken: the kernel is not the one that made the page.
    if (++connections > 1) return void made.close(answers ? { code: 1008, reason: "no secret of this server" } : undefined);
    socket = made;
    const server = new SimulatedServer(simulation({ scan: [16, 16] }), (message) => made.send(typeof message === "string" ? message : Buffer.from(message)));
    made.onMessage((text) => {
      if (String(text) === JSON.stringify({ secret: SECRET })) server.start();
      else server.receive(String(text));
    });
  });
  await page.goto(framed ? "http://notebook.test/" : `http://viewer.test/${query}`);
  const shown = () => page.frames().find((frame) => frame.url().startsWith("http://viewer.test/"));
  await expect.poll(() => shown()?.locator(".connection").innerText()).toBe(query && entry.status === 200 ? "connected" : "no connection");
  return shown() as Frame;
}
const notice = (frame: Frame) => frame.locator(".notice").first().innerText();

it("a cell whose kernel was restarted is to be run again", async () => {
  const frame = await open(true);
  answers = false;
  socket?.send(JSON.stringify({ type: "event", event: "closing" }));
  socket?.close();
  await expect.poll(() => notice(frame)).toMatch(/Run this cell again/);
  expect(await notice(frame)).not.toMatch(/sonde view/);
});

it("so is one whose kernel was killed, and one whose port another viewer has taken", async () => {
  const frame = await open(true);
  answers = false;
  socket?.close();
  await expect.poll(() => notice(frame)).toMatch(/^The kernel does not answer\. If it was restarted, run this cell again/);
  answers = true;
  await expect.poll(() => notice(frame)).toMatch(/another viewer has taken this one's port\. Run this cell again/);
});

it("a page in its own window is told how to start the program", async () => {
  const frame = await open(false);
  answers = false;
  socket?.send(JSON.stringify({ type: "event", event: "closing" }));
  socket?.close();
  await expect.poll(() => notice(frame)).toMatch(/Start `sonde view` again/);
});

it("a page that is not let in says why, and does not wait", async () => {
  entry = { status: 403, body: { message: "This token is not the one of the running sonde: use the address that it printed last." } };
  const frame = await open(false);
  expect(await notice(frame)).toBe("This token is not the one of the running sonde: use the address that it printed last.");
  expect(await frame.locator(".waiting").count()).toBe(0);
});

it("so does one whose address was copied without its token", async () => {
  const frame = await open(false, "");
  expect(await notice(frame)).toMatch(/^This page needs the address that sonde printed/);
});

it("a cell whose code was used is to be run again", async () => {
  entry = { status: 403, body: { message: "This address was used before, or is too old: it opens one page, once." } };
  expect(await notice(await open(true))).toBe("The address of this frame was used before. Run this cell again to see the data.");
});

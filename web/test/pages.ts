// SPDX-License-Identifier: Apache-2.0
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterEach, expect } from "vitest";

import { launch, PATIENCE_MS } from "./browser";

const WINDOW = { width: 1280, height: 800 };

/** Of all files of tests, which run in one process (vitest.browser.config.ts); the browser ends with it. */
let browser: Promise<Browser> | undefined;
/** Pages that no test has, by the options of their contexts: a new one takes the browser as long as loading ours does. */
const free = new Map<string, Page>();

async function running(): Promise<Browser> {
  if (!(await browser?.catch(() => null))?.isConnected()) {
    free.clear();
    browser = launch();
  }
  return browser as Promise<Browser>;
}

interface Lent {
  page: Page;
  key: string;
}

/** Pages for the tests of a file, each as if it were new. What a page complains about while a test has it fails the test:
 *  exceptions, and where nothing else is said also errors in its console, as of a policy violation or a failed shader. */
export class Pages {
  private lent: Lent[] = [];
  private problems: string[] = [];

  constructor(private readonly complaints: "all" | "exceptions" = "all") {
    afterEach(async ({ task }) => {
      const found = this.problems;
      // What failed may have left anything behind.
      if (task.result?.state === "fail") await this.close();
      else await this.release();
      this.problems = [];
      expect(found).toEqual([]);
    });
  }

  async page({ viewport = WINDOW, colorScheme = "dark", ...options }: BrowserContextOptions = {}): Promise<Page> {
    const all = await running();
    const key = JSON.stringify(options);
    const known = free.get(key);
    free.delete(key);
    const page = known && !known.isClosed() ? known : await (await all.newContext(options)).newPage();
    this.lent.push({ page, key });
    const context = page.context();
    context.setDefaultTimeout(PATIENCE_MS);
    context.on("weberror", (error) => this.problems.push(error.error().message));
    context.on("console", (message) => {
      if (this.complaints === "all" && message.type() === "error") this.problems.push(message.text());
    });
    await page.emulateMedia({ colorScheme });
    if (viewport) await page.setViewportSize(viewport);
    return page;
  }

  /** Gives the pages back, empty. */
  async release(): Promise<void> {
    for (const { page, key } of this.lent.splice(0)) {
      const context = page.context();
      context.removeAllListeners("weberror");
      context.removeAllListeners("console");
      await Promise.all(context.pages().map((other) => other !== page && other.close()));
      if (page.isClosed() || free.has(key)) {
        await context.close();
        continue;
      }
      await page.evaluate(() => [localStorage, sessionStorage].forEach((one) => one.clear()));
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await context.setOffline(false);
      await context.clearCookies();
      await page.keyboard.up("Shift");
      await page.mouse.move(0, 0);
      await page.goto("about:blank");
      free.set(key, page);
    }
  }

  private async close(): Promise<void> {
    await Promise.all(this.lent.splice(0).map(({ page }) => page.context().close()));
  }
}

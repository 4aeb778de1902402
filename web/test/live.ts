// SPDX-License-Identifier: Apache-2.0
/** The page with the real program behind it: starting, looking, and the numbers that the page received. */
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, expect } from "vitest";

import type { Detector } from "../src/model/view";
import { toParams } from "../src/tools/shapes";
import { shortExpression } from "../src/tools/short_expression";
import { atRest, ready } from "./browser";
import { Pages } from "./pages";
import { imageByCommand, temporaryFolder, ViewServer, type Folder } from "./sonde";

export const TOKEN = "a-token-of-these-tests-only";

export interface Shown {
  id: number;
  item: number;
  rows: number;
  cols: number;
  values: number[];
}

/** A server and a page per test, in one browser and one folder for all tests of a file. */
export class Live {
  page!: Page;
  server!: ViewServer;
  private readonly pages: Pages;
  private readonly folder: Folder = temporaryFolder();
  private readonly made = new Map<string, Promise<number[]>>();

  constructor() {
    afterAll(() => this.folder.remove());
    // The hooks of pages come before these: a page that loses its server would complain.
    afterEach(() => this.server?.stop());
    this.pages = new Pages("exceptions");
  }

  file(name: string): string {
    return join(this.folder.path, name);
  }
  get path(): string {
    return this.folder.path;
  }

  /** The image of a detector as the command line computes it; each once. */
  byCommand(master: string, detector: string): Promise<number[]> {
    const key = `${master} ${detector}`;
    const image = this.made.get(key) ?? imageByCommand(master, detector, this.path).then(({ values }) => values);
    this.made.set(key, image);
    return image;
  }

  async open(files: string[], options: string[] = []): Promise<void> {
    this.server = await ViewServer.start(files, ["--token", TOKEN, ...options]);
    this.page = await this.enter(await this.pages.page({ acceptDownloads: true }));
  }

  /** Another page of the same server. */
  async client(): Promise<Page> {
    return this.enter(await this.page.context().newPage());
  }

  private async enter(made: Page): Promise<Page> {
    await made.goto(this.server.url);
    await ready(made);
    await expect.poll(() => this.image(0, made)).not.toBeNull();
    return made;
  }

  /** The newest frame of a kind, an image by default, as the page received it. */
  image(channel = 0, from = this.page, kind = 2): Promise<Shown | null> {
    return from.evaluate(
      ([which, what]) => {
        type Frame = { id: number; item: number; rows: number; cols: number; values: ArrayLike<number | bigint> };
        type Sonde = { store?: { view: { dataset: { value: number | null } }; frame(kind: number, dataset: number, channel: number): { value: Frame | null } } };
        const { store } = (window as unknown as { __sonde: Sonde }).__sonde;
        const frame = store?.frame(what, store.view.dataset.value ?? 0, which).value ?? null;
        return frame && { id: frame.id, item: frame.item, rows: frame.rows, cols: frame.cols, values: Array.from(frame.values, Number) };
      },
      [channel, kind],
    );
  }

  async values(channel = 0, from = this.page): Promise<number[] | undefined> {
    return (await this.image(channel, from))?.values;
  }

  /** Waits until the page has received these numbers as its image. */
  async settled(expected: number[], channel = 0, from = this.page): Promise<void> {
    await expect.poll(() => this.values(channel, from)).toEqual(expected);
  }

  /** A field of what a person has set. */
  view(name: string, from = this.page): Promise<unknown> {
    return from.evaluate((field) => (window as unknown as { __sonde: { store: { view: Record<string, { value: unknown }> } } }).__sonde.store.view[field].value, name);
  }

  /** Anything else that the page holds. */
  state(name: string): Promise<unknown> {
    return this.page.evaluate((field) => {
      type Signals = Record<string, { value: unknown }>;
      const { store, session } = (window as unknown as { __sonde: { store: Signals; session: { store: Signals } } }).__sonde;
      return (store[field] ?? session.store[field]).value;
    }, name);
  }

  snapshot(): Promise<unknown> {
    return this.page.evaluate(() => (window as unknown as { __sonde: { store: { snapshot(): unknown } } }).__sonde.store.snapshot());
  }

  /** Until nothing is under way: what was asked for is there, drawn and said. */
  rest(): Promise<void> {
    return atRest(this.page);
  }

  /** What the program has counted so far; from the first call on also how many messages the page has sent before this one. */
  async stats(): Promise<Record<string, number>> {
    return this.page.evaluate(async () => {
      type Session = { request(command: string): Promise<object> };
      const { session } = (window as unknown as { __sonde: { session: Session } }).__sonde;
      const shared = window as unknown as { __sent?: number };
      if (shared.__sent === undefined) {
        shared.__sent = 0;
        const send = WebSocket.prototype.send;
        WebSocket.prototype.send = function (message) {
          ++(shared as { __sent: number }).__sent;
          send.call(this, message);
        };
      }
      // In one go: nothing else is sent in between.
      const sent = shared.__sent;
      return { ...(await session.request("stats")), sent } as Record<string, number>;
    });
  }

  /** Sends a command as it is, and returns the program's reply. */
  request(command: string, args: object = {}): Promise<Record<string, unknown>> {
    return this.page.evaluate(
      ([name, what]) => {
        type Session = { request(command: string, args: object): Promise<Record<string, unknown>> };
        return (window as unknown as { __sonde: { session: Session } }).__sonde.session.request(name, what);
      },
      [command, args] as const,
    );
  }

  /** Types it once the field shows the active detector: words on the page follow at a pace that can be read. */
  async useExpression(text: string): Promise<void> {
    const field = this.page.getByRole("textbox", { name: "Expression" });
    await expect.poll(() => field.inputValue()).toBe(await this.activeWords());
    await field.fill(text);
    await field.press("Enter");
  }

  /** What the page knows the active detector as: as it was typed, else as the program put a shape into words, shortened. */
  private async activeWords(): Promise<string> {
    const channel = (await this.view("active")) as number;
    const detector = ((await this.view("detectors")) as Detector[]).find((one) => one.channel === channel);
    const replies = (await this.state("channels")) as Record<number, { expr?: string }>;
    return detector?.expr ?? shortExpression(replies[channel]?.expr ?? "");
  }

  /** The active detector in the words of the command line, as the program understands it. */
  async detectorWords(): Promise<string> {
    await this.rest();
    const channel = await this.view("active");
    const detector = ((await this.view("detectors")) as Detector[]).find((one) => one.channel === channel);
    if (!detector) throw new Error("there is no active detector");
    const { expr, shape } = detector;
    const { expr: words } = await this.request("set_detector", shape ? { channel, shape: shape.kind, params: toParams(shape) } : { channel, expr });
    return String(words);
  }

  async box(panel: string): Promise<{ x: number; y: number; width: number; height: number }> {
    const box = await this.page.locator(`[data-panel=${panel}] .lines`).boundingBox();
    if (!box) throw new Error(`there is no panel ${panel}`);
    return box;
  }

  /** Where a data pixel's middle lies on the page, in a panel that shows one whole image as large as it fits. */
  async spot(panel: string, [rows, cols]: [number, number], row: number, col: number): Promise<{ x: number; y: number }> {
    const { x, y, width, height } = await this.box(panel);
    const scale = Math.min(width / cols, height / rows);
    return { x: x + width / 2 + (col + 0.5 - cols / 2) * scale, y: y + height / 2 + (row + 0.5 - rows / 2) * scale };
  }

  /** Presses, moves through the places and lets go. */
  async drag(places: { x: number; y: number }[]): Promise<void> {
    const [first, ...rest] = places;
    await this.page.mouse.move(first.x, first.y);
    await this.page.mouse.down();
    for (const { x, y } of rest) await this.page.mouse.move(x, y, { steps: 5 });
    await this.page.mouse.up();
  }
}

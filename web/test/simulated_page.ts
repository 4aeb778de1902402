// SPDX-License-Identifier: Apache-2.0
/** The page with the simulated server behind it: opening, looking, and where things lie on the screen. */
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";

import type { DisplayName } from "../src/model/view";
import { atRest, openSimulated } from "./browser";
import { Pages } from "./pages";
import { simulation, type Simulation } from "./simulated_server";

const dist = fileURLToPath(new URL("../dist", import.meta.url));

export interface Opening {
  viewport?: { width: number; height: number };
  query?: string;
  touch?: boolean;
  scheme?: "dark" | "light";
}

/** A number of screen pixels from the panel's upper left corner. */
export interface Spot {
  x: number;
  y: number;
}

export type PanelId = "image" | "pattern" | "spectrum";

/** One page per test. */
export class SimulatedPage {
  page!: Page;
  what!: Simulation;
  private readonly pages = new Pages();

  async open(change: Partial<Simulation> = {}, { viewport = { width: 1280, height: 800 }, query = "", touch = false, scheme = "dark" }: Opening = {}): Promise<void> {
    await this.pages.release();
    this.page = await this.pages.page({ viewport, hasTouch: touch, colorScheme: scheme });
    this.what = simulation({ scan: [64, 64], ...change });
    await openSimulated(this.page, dist, this.what, query);
  }

  /** A field of what a person has set. */
  view(name: string): Promise<unknown> {
    return this.page.evaluate((field) => (window as unknown as { __sonde: { store: { view: Record<string, { value: unknown }> } } }).__sonde.store.view[field].value, name);
  }

  /** What the server said last of a channel's detector. */
  reply(channel: number): Promise<unknown> {
    return this.page.evaluate((of) => (window as unknown as { __sonde: { store: { channels: { value: Record<number, unknown> } } } }).__sonde.store.channels.value[of], channel);
  }

  /** Sets fields of the panel's display settings, as its controls do. */
  display(panel: DisplayName, change: object): Promise<void> {
    return this.page.evaluate(
      ([name, settings]) => {
        type Display = { value: Record<string, object> };
        const { display } = (window as unknown as { __sonde: { store: { view: { display: Display } } } }).__sonde.store.view;
        display.value = { ...display.value, [name]: { ...display.value[name], ...settings } };
      },
      [panel, change] as const,
    );
  }

  /** The newest numbers of this kind that the page received. */
  values(kind: number, dataset = 0, channel = 0): Promise<number[] | null> {
    return this.page.evaluate(
      ([what, id, which]) => {
        type Store = { frame(kind: number, dataset: number, channel: number): { value: { values: ArrayLike<number> } | null } };
        const frame = (window as unknown as { __sonde: { store: Store } }).__sonde.store.frame(what, id, which).value;
        return frame && Array.from(frame.values);
      },
      [kind, dataset, channel],
    );
  }

  /** Colours along the middle line of a panel's images, as they are on the screen. */
  colours(panel: PanelId): Promise<number[]> {
    return this.pixels(panel, { x: 0, y: -1 }, 0, 1);
  }

  /** The same, once all that was asked for is drawn. */
  async atRest(panel: PanelId): Promise<number[]> {
    await this.rest();
    return this.colours(panel);
  }

  rest(): Promise<void> {
    return atRest(this.page);
  }

  async colourAt(panel: PanelId, spot: Spot): Promise<number[]> {
    return (await this.pixels(panel, { x: Math.floor(spot.x), y: Math.floor(spot.y) }, 1, 1)).slice(0, 3);
  }

  /** Red, green, blue and alpha of a part of a panel's images. A width of 0 is all of it, y -1 the middle. */
  pixels(panel: PanelId, from: Spot, width: number, height: number): Promise<number[]> {
    return this.page.evaluate(
      ([name, x, y, wide, high]) => {
        const canvas = document.querySelector(`[data-panel=${name}] canvas`) as HTMLCanvasElement;
        const copy = document.createElement("canvas");
        copy.width = canvas.width;
        copy.height = canvas.height;
        const context = copy.getContext("2d") as CanvasRenderingContext2D;
        context.drawImage(canvas, 0, 0);
        return Array.from(context.getImageData(x, y < 0 ? canvas.height >> 1 : y, wide || canvas.width, high).data);
      },
      [panel, from.x, from.y, width, height] as const,
    );
  }

  lines(panel: PanelId) {
    return this.page.locator(`[data-panel=${panel}] .lines`);
  }

  async box(panel: PanelId): Promise<{ x: number; y: number; width: number; height: number }> {
    const box = await this.lines(panel).boundingBox();
    if (!box) throw new Error(`there is no panel ${panel}`);
    return box;
  }

  /** Where a data pixel's middle lies in a panel that shows one whole image in the middle, as large as it fits. */
  async spot(panel: PanelId, [rows, cols]: [number, number], row: number, col: number): Promise<Spot> {
    const { width, height } = await this.box(panel);
    const scale = Math.min(width / cols, height / rows);
    return { x: width / 2 + (col + 0.5 - cols / 2) * scale, y: height / 2 + (row + 0.5 - rows / 2) * scale };
  }

  async moveTo(panel: PanelId, spot: Spot): Promise<void> {
    const { x, y } = await this.box(panel);
    await this.page.mouse.move(x + spot.x, y + spot.y);
  }

  readout(title: string): Promise<string> {
    return this.page.locator(`section[aria-label='${title}'] .readout`).first().innerText();
  }
}

export const distinct = (pixels: number[]) => new Set(pixels.filter((_, i) => i % 4 === 0)).size;

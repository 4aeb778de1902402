// SPDX-License-Identifier: Apache-2.0
import { barWidths, drawColourBar, type ColourBar } from "../display/colour_bar";
import type { Placement } from "../display/viewport";
import { drawAnnotations } from "../panels/annotations";
import { stretchOf, tablesOf } from "../panels/contents";
import { Overlay } from "../panels/overlay";
import type { Stage } from "../panels/stage";

export interface PictureParts {
  scaleBar: boolean;
  lines: boolean;
  colourBar: boolean;
}

const PAPER = "#ffffff";

/** What is on the screen as a PNG: colours as shown, scale bar, lines and colour bars if asked for, handles never. */
export function pictureFile(stage: Stage, parts: PictureParts): Promise<Blob> {
  const canvas = document.createElement("canvas");
  canvas.width = stage.base.width;
  canvas.height = stage.base.height;
  const context = canvas.getContext("2d");
  if (!context) return Promise.reject(new Error("this browser has no Canvas2D"));
  context.drawImage(stage.base, 0, 0);
  drawAnnotations(new Overlay(context, stage.pixelRatio), stage, { tools: false, ...parts });
  const picture = parts.colourBar && stage.contents.length > 0 ? withColourBars(canvas, stage) : cut(canvas, stage);
  return new Promise((resolve, reject) => picture.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the browser made no PNG"))), "image/png"));
}

interface Part {
  x: number;
  y: number;
  width: number;
  height: number;
}

function cut(canvas: HTMLCanvasElement, { placements, base }: Stage): HTMLCanvasElement {
  const all = placements.map(visiblePart);
  const x = Math.min(...all.map((part) => part.x));
  const y = Math.min(...all.map((part) => part.y));
  const right = Math.max(...all.map((part) => part.x + part.width));
  const bottom = Math.max(...all.map((part) => part.y + part.height));
  const box = all.length > 0 ? { x, y, width: right - x, height: bottom - y } : { x: 0, y: 0, width: base.width, height: base.height };
  const picture = document.createElement("canvas");
  picture.width = box.width;
  picture.height = box.height;
  picture.getContext("2d")?.drawImage(canvas, -box.x, -box.y);
  return picture;
}

/** The part of the panel that an image covers, in whole pixels. */
function visiblePart(at: Placement): Part {
  const x = Math.round(Math.max(at.box.x, at.x));
  const y = Math.round(Math.max(at.box.y, at.y));
  const right = Math.round(Math.min(at.box.x + at.box.width, at.x + at.cols * at.scale));
  const bottom = Math.round(Math.min(at.box.y + at.box.height, at.y + at.rows * at.rowScale));
  return { x, y, width: Math.max(1, right - x), height: Math.max(1, bottom - y) };
}

/** The images in their lines and columns, each with its own colour bar, or three of them, to its right. */
function withColourBars(canvas: HTMLCanvasElement, stage: Stage): HTMLCanvasElement {
  const unit = stage.pixelRatio;
  const parts = stage.placements.map(visiblePart);
  const bars = stage.contents.map((_, i) => barsOf(stage, i));
  const picture = document.createElement("canvas");
  const context = picture.getContext("2d");
  if (!context) throw new Error("this browser has no Canvas2D");
  const widths = parts.map(({ width }, i) => width + bars[i].reduce((sum, bar) => sum + barWidths(context, bar, unit).all, 0));
  const [lefts, tops] = [order(stage.placements.map(({ box }) => box.x)), order(stage.placements.map(({ box }) => box.y))];
  const gap = 8 * unit;
  const columns = sizes(lefts, widths, gap);
  const lines = sizes(tops, parts.map(({ height }) => height), gap);
  picture.width = Math.ceil(columns.total);
  picture.height = Math.ceil(lines.total);
  context.fillStyle = PAPER;
  context.fillRect(0, 0, picture.width, picture.height);
  parts.forEach(({ x, y, width, height }, i) => {
    const [left, top] = [Math.round(columns.from[lefts[i]]), Math.round(lines.from[tops[i]])];
    context.drawImage(canvas, x, y, width, height, left, top, width, height);
    let right = left + width;
    for (const bar of bars[i]) {
      drawColourBar(context, bar, right, top, height, unit);
      right += barWidths(context, bar, unit).all;
    }
  });
  return picture;
}

function barsOf({ contents, ranges, store }: Stage, index: number): ColourBar[] {
  const content = contents[index];
  const settings = store.view.display.peek()[content.display];
  const stretch = stretchOf(content.display, settings);
  return tablesOf(content, settings).map((colours, k) => ({
    mapping: { ...ranges[index][k], stretch, gamma: settings.gamma },
    colours,
    unit: content.unit,
  }));
}

/** Which of the different values each one is, counted from the smallest. */
function order(values: number[]): number[] {
  const sorted = [...new Set(values)].sort((a, b) => a - b);
  return values.map((value) => sorted.indexOf(value));
}

/** Where columns (or lines) begin when each is as wide as its widest part. */
function sizes(of: number[], widths: number[], gap: number): { from: number[]; total: number } {
  const from: number[] = [];
  let total = 0;
  for (let column = 0; column <= Math.max(...of); ++column) {
    from.push(total);
    total += Math.max(...widths.filter((_, i) => of[i] === column)) + gap;
  }
  return { from, total: total - gap };
}

export function save(name: string, blob: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

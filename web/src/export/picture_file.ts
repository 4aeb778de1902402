// SPDX-License-Identifier: Apache-2.0
import { drawAnnotations } from "../panels/annotations";
import { Overlay } from "../panels/overlay";
import type { Stage } from "../panels/stage";

/** What is on the screen as a PNG: colours as shown, scale bar and lines if wished, handles never. */
export function pictureFile(stage: Stage, options: { scaleBar: boolean; lines: boolean }): Promise<Blob> {
  const canvas = document.createElement("canvas");
  canvas.width = stage.base.width;
  canvas.height = stage.base.height;
  const context = canvas.getContext("2d");
  if (!context) return Promise.reject(new Error("this browser has no Canvas2D"));
  context.drawImage(stage.base, 0, 0);
  drawAnnotations(new Overlay(context, stage.pixelRatio), stage, { tools: false, ...options });
  const box = imageBox(stage);
  const cut = document.createElement("canvas");
  cut.width = box.width;
  cut.height = box.height;
  cut.getContext("2d")?.drawImage(canvas, -box.x, -box.y);
  return new Promise((resolve, reject) => cut.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the browser made no PNG"))), "image/png"));
}

/** The part of the panel that images cover. */
function imageBox({ placements, base }: Stage): { x: number; y: number; width: number; height: number } {
  const edge = (pick: (at: (typeof placements)[number]) => number, join: (...values: number[]) => number) => Math.round(join(...placements.map(pick)));
  if (placements.length === 0) return { x: 0, y: 0, width: base.width, height: base.height };
  const x = edge((at) => Math.max(at.box.x, at.x), Math.min);
  const y = edge((at) => Math.max(at.box.y, at.y), Math.min);
  const right = edge((at) => Math.min(at.box.x + at.box.width, at.x + at.cols * at.scale), Math.max);
  const bottom = edge((at) => Math.min(at.box.y + at.box.height, at.y + at.rows * at.rowScale), Math.max);
  return { x, y, width: Math.max(1, right - x), height: Math.max(1, bottom - y) };
}

export function save(name: string, blob: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

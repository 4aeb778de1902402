// SPDX-License-Identifier: Apache-2.0

/** Gives a canvas a pixel for each element of a picture, in the colours (as they are in memory) that `colour` says. */
export function paint(canvas: HTMLCanvasElement, rows: number, cols: number, colour: (i: number) => number): void {
  canvas.width = cols;
  canvas.height = rows;
  const context = canvas.getContext("2d");
  if (!context) return;
  const image = context.createImageData(cols, rows);
  const pixels = new Uint32Array(image.data.buffer);
  for (let i = 0; i < pixels.length; ++i) pixels[i] = colour(i);
  context.putImageData(image, 0, 0);
}

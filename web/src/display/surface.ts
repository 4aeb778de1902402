// SPDX-License-Identifier: Apache-2.0

/** A canvas that is drawn aside and then shown as a whole. Chromium without a graphics processor copies a canvas that it
 *  draws on itself for every frame of the page, whether it has changed or not; one that shows a finished bitmap costs
 *  nothing until it shows another. Each drawing begins with an empty surface. */
export class Surface {
  readonly context: OffscreenCanvasRenderingContext2D;
  private readonly aside = new OffscreenCanvas(1, 1);
  private readonly shown: ImageBitmapRenderingContext;

  constructor(
    readonly canvas: HTMLCanvasElement,
    alpha = true,
  ) {
    const context = this.aside.getContext("2d", { alpha });
    const shown = canvas.getContext("bitmaprenderer", { alpha });
    if (!context || !shown) throw new Error("this browser has no Canvas2D");
    this.context = context;
    this.shown = shown;
  }

  get width(): number {
    return this.aside.width;
  }
  get height(): number {
    return this.aside.height;
  }

  resize(width: number, height: number): void {
    for (const one of [this.canvas, this.aside]) {
      if (one.width !== width) one.width = width;
      if (one.height !== height) one.height = height;
    }
  }

  show(): void {
    this.shown.transferFromImageBitmap(this.aside.transferToImageBitmap());
  }
}

// SPDX-License-Identifier: Apache-2.0
import { scaleBar, type Calibration } from "../display/scale_bar";
import { toScreen, type Place, type Placement } from "../display/viewport";
import { handles, isEmpty, isPainted, labelAt, outline, type Arc, type Pen, type Point, type Shape } from "../tools/shapes";

/** Lines over an image. All of them have a dark rim, so that they are seen on bright ground as well as on dark. */
const RIM = "rgba(0, 0, 0, 0.65)";
const LIGHT = "#ffffff";

export class Overlay {
  /** `unit` is the size of a CSS pixel in canvas pixels. */
  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly unit: number,
  ) {}

  clear(): void {
    this.context.clearRect(0, 0, this.context.canvas.width, this.context.canvas.height);
  }

  within(at: Placement, draw: () => void): void {
    const { context } = this;
    context.save();
    context.beginPath();
    context.rect(at.box.x, at.box.y, at.box.width, at.box.height);
    context.clip();
    draw();
    context.restore();
  }

  shape(at: Placement, shape: Shape, colour: string, options: { name?: string; handles?: boolean; thick?: boolean } = {}): void {
    if (isEmpty(shape)) return;
    const pen = new PathPen(at);
    outline(shape, pen);
    if (isPainted(shape)) {
      this.context.save();
      this.context.globalAlpha = 0.35;
      this.context.fillStyle = colour;
      this.context.fill(pen.path);
      this.context.restore();
    }
    this.stroke(pen.path, colour, options.thick ? 2 : 1.5);
    if (options.handles) for (const { at: place } of handles(shape)) this.handle(at, place, colour);
    if (options.name) {
      const [row, col] = labelAt(shape);
      const { x, y } = toScreen(at, row, col);
      this.text(options.name, x + 6 * this.unit, y - 6 * this.unit, colour);
    }
  }

  crosshair(at: Placement, { row, col }: Place, colour = LIGHT): void {
    const { x, y } = toScreen(at, row, col);
    const reach = 11 * this.unit;
    const gap = (scale: number) => Math.max(4 * this.unit, scale / 2 + this.unit);
    const path = new Path2D();
    for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
      path.moveTo(x + dx * gap(at.scale), y + dy * gap(at.rowScale));
      path.lineTo(x + dx * (gap(at.scale) + reach), y + dy * (gap(at.rowScale) + reach));
    }
    if (at.scale > 6 * this.unit) path.rect(x - at.scale / 2, y - at.rowScale / 2, at.scale, at.rowScale);
    this.stroke(path, colour, 1.5);
  }

  /** A faint cross through the whole cell: where the pointer is in the other cells. */
  hair(at: Placement, { row, col }: Place): void {
    const { x, y } = toScreen(at, row, col);
    const path = new Path2D();
    path.moveTo(at.box.x, y);
    path.lineTo(at.box.x + at.box.width, y);
    path.moveTo(x, at.box.y);
    path.lineTo(x, at.box.y + at.box.height);
    this.context.save();
    this.context.globalAlpha = 0.4;
    this.stroke(path, LIGHT, 1);
    this.context.restore();
  }

  line(at: Placement, p0: Point, p1: Point, width: number, colour = "#ffd866"): void {
    const a = toScreen(at, ...p0);
    const b = toScreen(at, ...p1);
    // Across the line in data pixels, as the values are averaged.
    const length = Math.hypot(p1[0] - p0[0], p1[1] - p0[1]) || 1;
    const [nx, ny] = [(-(p1[0] - p0[0]) / length) * (width / 2) * at.scale, ((p1[1] - p0[1]) / length) * (width / 2) * at.rowScale];
    const path = new Path2D();
    path.moveTo(a.x, a.y);
    path.lineTo(b.x, b.y);
    if (width > 1) {
      const band = new Path2D();
      band.moveTo(a.x + nx, a.y + ny);
      band.lineTo(b.x + nx, b.y + ny);
      band.lineTo(b.x - nx, b.y - ny);
      band.lineTo(a.x - nx, a.y - ny);
      band.closePath();
      this.context.save();
      this.context.globalAlpha = 0.15;
      this.context.fillStyle = colour;
      this.context.fill(band);
      this.context.restore();
    }
    this.stroke(path, colour, 1.5);
    this.handle(at, p0, colour);
    this.handle(at, p1, colour);
  }

  /** What a brush would paint here: its radius is in data pixels. */
  brush(at: Placement, { row, col }: Place, radius: number): void {
    const { x, y } = toScreen(at, row, col);
    const path = new Path2D();
    path.ellipse(x, y, radius * at.scale, radius * at.rowScale, 0, 0, 2 * Math.PI);
    this.stroke(path, LIGHT, 1);
  }

  /** An image that is not of what was asked for: darkened, with words across its middle. */
  veil(at: Placement, words: string[]): void {
    const { context, unit } = this;
    const { left, right, top, bottom } = visible(at);
    context.fillStyle = "rgba(8, 10, 13, 0.6)";
    context.fillRect(left, top, right - left, bottom - top);
    context.font = this.font();
    const lines = words.flatMap((text) => wrapped(text, right - left - 24 * unit, (part) => context.measureText(part).width));
    context.textAlign = "center";
    context.fillStyle = LIGHT;
    lines.forEach((line, i) => context.fillText(line, (left + right) / 2, (top + bottom) / 2 + (i - (lines.length - 1) / 2) * 17 * unit + 4 * unit));
    context.textAlign = "start";
  }

  ring(at: Placement, { row, col }: Place, radius: number, colour = LIGHT): void {
    const { x, y } = toScreen(at, row, col);
    const path = new Path2D();
    path.arc(x, y, radius * this.unit, 0, 2 * Math.PI);
    this.stroke(path, colour, 1.5);
  }

  handle(at: Placement, [row, col]: Point, colour: string): void {
    const { x, y } = toScreen(at, row, col);
    const size = 4 * this.unit;
    this.context.fillStyle = colour;
    this.context.strokeStyle = RIM;
    this.context.lineWidth = 1.5 * this.unit;
    this.context.beginPath();
    this.context.rect(x - size, y - size, 2 * size, 2 * size);
    this.context.fill();
    this.context.stroke();
  }

  scaleBar(at: Placement, calibration: Calibration): void {
    const { unit, context } = this;
    const bar = scaleBar(calibration, at.scale, Math.min(0.3 * at.box.width, 180 * unit));
    if (!bar) return;
    const image = visible(at);
    const left = image.left + 12 * unit;
    const bottom = image.bottom - 12 * unit;
    context.font = this.font();
    const width = Math.max(bar.pixels, context.measureText(bar.label).width);
    context.fillStyle = "rgba(0, 0, 0, 0.55)";
    context.beginPath();
    context.roundRect(left - 6 * unit, bottom - 22 * unit, width + 12 * unit, 28 * unit, 4 * unit);
    context.fill();
    context.fillStyle = LIGHT;
    context.fillRect(left + (width - bar.pixels) / 2, bottom - 2 * unit, bar.pixels, 3 * unit);
    context.textAlign = "center";
    context.fillText(bar.label, left + width / 2, bottom - 8 * unit);
    context.textAlign = "start";
  }

  label(at: Placement, text: string): void {
    const { unit } = this;
    const image = visible(at);
    this.context.font = this.font();
    const room = image.right - image.left - 16 * unit;
    const short = shortened(text, room, (part) => this.context.measureText(part).width);
    this.text(short, image.left + 8 * unit, image.top + 18 * unit, LIGHT, true);
  }

  private font(): string {
    return `600 ${12 * this.unit}px system-ui, sans-serif`;
  }

  private text(text: string, x: number, y: number, colour: string, boxed = false): void {
    const { context, unit } = this;
    context.font = this.font();
    if (boxed) {
      context.fillStyle = "rgba(0, 0, 0, 0.55)";
      context.beginPath();
      context.roundRect(x - 4 * unit, y - 13 * unit, context.measureText(text).width + 8 * unit, 18 * unit, 3 * unit);
      context.fill();
    } else {
      context.strokeStyle = RIM;
      context.lineWidth = 3 * unit;
      context.lineJoin = "round";
      context.strokeText(text, x, y);
    }
    context.fillStyle = colour;
    context.fillText(text, x, y);
  }

  private stroke(path: Path2D, colour: string, width: number): void {
    const { context, unit } = this;
    context.lineJoin = "round";
    context.strokeStyle = RIM;
    context.lineWidth = (width + 2) * unit;
    context.stroke(path);
    context.strokeStyle = colour;
    context.lineWidth = width * unit;
    context.stroke(path);
  }
}

/** As much of a text as fits. */
function shortened(text: string, width: number, measure: (text: string) => number): string {
  if (measure(text) <= width) return text;
  let length = text.length - 1;
  while (length > 1 && measure(`${text.slice(0, length)}\u2026`) > width) --length;
  return `${text.slice(0, length)}\u2026`;
}

/** Words in lines that are at most so wide; a single word may be wider. */
function wrapped(text: string, width: number, measure: (text: string) => number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const longer = lines.length > 0 ? `${lines[lines.length - 1]} ${word}` : word;
    if (lines.length > 0 && measure(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** The part of the cell that the image covers. */
function visible(at: Placement): { left: number; right: number; top: number; bottom: number } {
  return {
    left: Math.max(at.box.x, at.x),
    right: Math.min(at.box.x + at.box.width, at.x + at.cols * at.scale),
    top: Math.max(at.box.y, at.y),
    bottom: Math.min(at.box.y + at.box.height, at.y + at.rows * at.rowScale),
  };
}

/** Lines in data pixels as a path on the screen. */
class PathPen implements Pen {
  readonly path = new Path2D();

  constructor(private readonly at: Placement) {}

  loop(corners: readonly Point[]): void {
    corners.forEach((corner, i) => this.line(corner, i === 0));
    this.path.closePath();
  }

  arcs(...arcs: Arc[]): void {
    const [{ row, col, a, b = a, phi = 0, from = 0 }] = arcs;
    const [along, across] = [a * Math.cos(from), b * Math.sin(from)];
    this.line([row + along * Math.sin(phi) + across * Math.cos(phi), col + along * Math.cos(phi) - across * Math.sin(phi)], true);
    for (const arc of arcs) this.arc(arc);
    this.path.closePath();
  }

  pixel(at: Point): void {
    const { x, y } = toScreen(this.at, ...at);
    const [wide, high] = [Math.max(this.at.scale, 6), Math.max(this.at.rowScale, 6)];
    this.path.rect(x - wide / 2, y - high / 2, wide, high);
  }

  private line(corner: Point, start: boolean): void {
    const { x, y } = toScreen(this.at, ...corner);
    if (start) this.path.moveTo(x, y);
    else this.path.lineTo(x, y);
  }

  /** Where data pixels are not square the ellipse on the screen has other axes: the singular vectors of the map from the
   *  unit circle. */
  private arc({ row, col, a, b = a, phi = 0, from = 0, to = 2 * Math.PI }: Arc): void {
    const { scale, rowScale } = this.at;
    const [xx, xy] = [scale * a * Math.cos(phi), -scale * b * Math.sin(phi)];
    const [yx, yy] = [rowScale * a * Math.sin(phi), rowScale * b * Math.cos(phi)];
    const [mean, turned] = [Math.hypot((xx + yy) / 2, (yx - xy) / 2), Math.hypot((xx - yy) / 2, (yx + xy) / 2)];
    const [sum, difference] = [Math.atan2(yx - xy, xx + yy), Math.atan2(yx + xy, xx - yy)];
    const shift = (sum - difference) / 2;
    const { x, y } = toScreen(this.at, row, col);
    this.path.ellipse(x, y, mean + turned, Math.abs(mean - turned), (sum + difference) / 2, from + shift, to + shift, to < from);
  }
}

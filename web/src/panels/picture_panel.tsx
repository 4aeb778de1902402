// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

import { barTicks } from "../display/colour_bar";
import { colourTable, type ColourMapName } from "../display/colour_maps";
import { linearMarks } from "../display/marks";
import { paint } from "../display/paint";
import { axisNumber, formatNumber } from "../display/readout";
import { position, symmetricRange, type Mapping } from "../display/stretch";
import { FrameKind, type Frame } from "../protocol/frame";
import type { PanelDescription } from "../protocol/messages";
import { useViewer } from "./context";
import { shownRange } from "./frame_view";
import { axisTitle, Sliders, useSlice, type AxisOptions, type SliderOptions } from "./slices";

export interface PartOptions {
  name: string;
  unit: string;
  channel: number;
}

export interface PictureOptions {
  rows: AxisOptions;
  cols: AxisOptions;
  parts: PartOptions[];
  /** Channels of the pictures that have one range of colours. */
  shares?: number[];
  sliders: SliderOptions[];
}

/** Two axes of an array as a picture with ticks and a colour bar; of complex numbers phase and amplitude. */
export function PicturePanel({ panel }: { panel: PanelDescription }) {
  const { parts, shares } = panel.options as unknown as PictureOptions;
  const { store } = useViewer();
  const frame = (channel: number) => store.frame(FrameKind.image, 0, channel).value;
  const beside = shares?.map(frame).filter((one) => one !== null);
  return (
    <SlicedPictures panel={panel}>
      {(axes) => parts.map((part) => <PartPicture key={part.channel} title={panel.title} part={part} frame={frame(part.channel)} beside={beside} {...axes} />)}
    </SlicedPictures>
  );
}

interface Axes {
  rows: AxisOptions;
  cols: AxisOptions;
  /** How many elements each pixel is the mean of. */
  blocks: [number, number];
}

/** What a panel of pictures has around them: sliders, and what is to be said. */
export function SlicedPictures({ panel, children }: { panel: PanelDescription; children(axes: Axes): ComponentChildren }) {
  const { rows, cols, sliders } = panel.options as unknown as PictureOptions;
  const slice = useSlice(panel);
  const [down, across] = (slice.reply?.one_of ?? [1, 1]) as [number, number];
  return (
    <div class="sliced" ref={slice.place}>
      <Sliders sliders={sliders} slice={slice} />
      {slice.problem && <p class="problem">{slice.problem}</p>}
      <div class="pictures">
        {children({ rows, cols, blocks: [down, across] })}
      </div>
      {down * across > 1 && <p class="hint">{`A pixel is the mean of ${down} \u00d7 ${across} values.`}</p>}
    </div>
  );
}

/** How values become colours: those of both signs from zero on either side, phases that go around on a circle. */
export function mappingOf(frame: Frame, part: PartOptions, beside: Frame[] = [frame]): { mapping: Mapping; colours: ColourMapName } {
  const ranges = beside.map(({ values }) => shownRange(values as Float32Array));
  const low = Math.min(...ranges.map(([least]) => least));
  const high = Math.max(...ranges.map(([, most]) => most));
  const linear = { stretch: "linear", gamma: 1 } as const;
  if (part.name === "phase" && high - low > 1.7 * Math.PI) return { mapping: { low: -Math.PI, high: Math.PI, ...linear }, colours: "phase" };
  if (part.name !== "") return { mapping: { low, high, ...linear }, colours: part.name === "phase" ? "gray" : "magma" };
  const signed = low < 0 && high > 0 && Math.min(-low, high) > 0.05 * Math.max(-low, high);
  return signed ? { mapping: { ...symmetricRange({ low, high }), ...linear }, colours: "RdBu" } : { mapping: { low, high, ...linear }, colours: "viridis" };
}

// In pixels of the screen, where there is room for them.
export const ROOM = { left: 62, right: 96, top: 22, bottom: 40 };
const MOST = { width: 400, height: 330 };

function PartPicture({ title, part, frame, beside, ...axes }: Axes & { title: string; part: PartOptions; frame: Frame | null; beside?: Frame[] | undefined }) {
  const bar = useRef<HTMLCanvasElement>(null);
  const shown = frame && mappingOf(frame, part, beside);
  const table = shown && new Uint32Array(colourTable(shown.colours).buffer);
  useLayoutEffect(() => {
    if (bar.current && table) paint(bar.current, 256, 1, (i) => table[255 - i]);
  }, [frame, shown?.colours]);
  return (
    <AxesPicture
      title={title}
      name={part.name}
      unit={part.unit}
      {...axes}
      picture={frame && shown && table && { frame, range: [shown.mapping.low, shown.mapping.high], colour: (i) => colourAt(table, frame.values[i] as number, shown.mapping), text: (i) => formatNumber(frame.values[i]) }}
      legend={({ width, height }) => (
        <>
          {shown &&
            barTicks(shown.mapping).map(({ at, label }) => (
              <text key={at} class="mark" x={ROOM.left + width + 32} y={ROOM.top + (1 - at) * height + 4}>
                {label}
              </text>
            ))}
          <text class="mark" x={ROOM.left + width + 12} y={ROOM.top - 8}>
            {part.unit}
          </text>
        </>
      )}
      beside={(style) => <canvas ref={bar} class="bar" aria-hidden="true" style={style} />}
    />
  );
}

interface Size {
  width: number;
  height: number;
}

interface Picture {
  /** Whose elements are the pixels; a new one is painted, and one with another range. */
  frame: Frame;
  range: [number, number];
  /** Of an element, as it is in memory. */
  colour(i: number): number;
  text(i: number): string;
}

interface Props extends Axes {
  title: string;
  name: string;
  unit: string;
  picture: Picture | null;
  /** What is written beside the picture, which is so large. */
  legend(size: Size): ComponentChildren;
  /** What is drawn there, at the place of a colour bar. */
  beside(style: Record<string, string>): ComponentChildren;
}

/** Elements of two axes with ticks, and what the pointer is over. */
export function AxesPicture({ title, name, unit, rows, cols, blocks, picture, legend, beside }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [read, setRead] = useState("");
  const frame = picture?.frame;
  useLayoutEffect(() => {
    if (canvas.current && picture) paint(canvas.current, picture.frame.rows, picture.frame.cols, picture.colour);
  }, [frame, picture?.range[0], picture?.range[1]]);

  // Both axes in one scale where they have one unit; otherwise every element is square, as far as that can be looked at.
  const same = rows.unit === cols.unit && rows.unit !== "";
  const ratio = same ? Math.abs((cols.size * cols.step) / (rows.size * rows.step)) : cols.size / rows.size;
  const aspect = Math.min(3, Math.max(1 / 3, ratio || 1));
  const width = Math.min(MOST.width, MOST.height * aspect);
  const height = width / aspect;
  const all = { width: ROOM.left + width + ROOM.right, height: ROOM.top + height + ROOM.bottom };
  const percent = (left: number, top: number, w: number, h: number) => ({
    left: `${(100 * left) / all.width}%`,
    top: `${(100 * top) / all.height}%`,
    width: `${(100 * w) / all.width}%`,
    height: `${(100 * h) / all.height}%`,
  });
  const onMove = (event: PointerEvent) => {
    if (!picture || !frame) return;
    const box = (event.currentTarget as HTMLCanvasElement).getBoundingClientRect();
    const row = Math.min(frame.rows - 1, Math.max(0, Math.floor(((event.clientY - box.top) / box.height) * frame.rows)));
    const col = Math.min(frame.cols - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * frame.cols)));
    const at = (axis: AxisOptions, i: number, block: number) =>
      `${axis.name} ${axisNumber(axis.first + axis.step * Math.min(axis.size - 1, i * block + (block - 1) / 2), Math.abs(axis.step * axis.size))}${axis.unit ? ` ${axis.unit}` : ""}`;
    setRead(`${at(rows, row, blocks[0])}, ${at(cols, col, blocks[1])}: ${picture.text(row * frame.cols + col)}${unit ? ` ${unit}` : ""}`);
  };
  return (
    <figure class="axes" style={{ maxWidth: `${all.width}px` }}>
      <div class="box" style={{ aspectRatio: `${all.width} / ${all.height}` }}>
        <svg viewBox={`0 0 ${all.width} ${all.height}`} aria-hidden="true">
          <rect class="frame" x={ROOM.left} y={ROOM.top} width={width} height={height} />
          <AxisMarks axis={cols} length={width} along={(x) => [ROOM.left + x, ROOM.top + height]} />
          <AxisMarks axis={rows} length={height} along={(y) => [ROOM.left, ROOM.top + y]} upright />
          {legend({ width, height })}
          <text class="mark part" x={ROOM.left} y={ROOM.top - 8}>
            {name}
          </text>
        </svg>
        <canvas ref={canvas} role="img" aria-label={name ? `${title}, ${name}` : title} style={percent(ROOM.left, ROOM.top, width, height)} onPointerMove={onMove} onPointerLeave={() => setRead("")} />
        {beside(percent(ROOM.left + width + 12, ROOM.top, 14, height))}
      </div>
      <figcaption class="hint">{read || "\u00a0"}</figcaption>
    </figure>
  );
}

function colourAt(table: Uint32Array, value: number, mapping: Mapping): number {
  const at = position(value, mapping);
  return Number.isNaN(at) ? 0 : table[Math.round(255 * at)];
}

/** Ticks at round values. The elements of an axis are as wide as its step, their places in their middles. */
function AxisMarks({ axis, length, along, upright }: { axis: AxisOptions; length: number; along(at: number): [number, number]; upright?: boolean }) {
  const { first, step, size } = axis;
  const low = first - step / 2;
  const span = step * size;
  const marks = linearMarks(Math.min(low, low + span), Math.max(low, low + span), Math.max(2, length / 80));
  const [x0, y0] = along(length / 2);
  return (
    <>
      {marks.map((value) => {
        const [x, y] = along(((value - low) / span) * length);
        return (
          <g key={value}>
            <line class="tick" x1={x} y1={y} x2={upright ? x - 5 : x} y2={upright ? y : y + 5} />
            <text class="mark" x={upright ? x - 8 : x} y={upright ? y + 4 : y + 17} text-anchor={upright ? "end" : "middle"}>
              {axisNumber(value, Math.abs(span))}
            </text>
          </g>
        );
      })}
      <text class="mark" text-anchor="middle" {...(upright ? { transform: `translate(13 ${y0}) rotate(-90)` } : { x: x0, y: y0 + 35 })}>
        {axisTitle(axis)}
      </text>
    </>
  );
}

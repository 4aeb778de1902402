// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";

import { linearMarks, logMarks } from "../display/marks";
import { axisNumber } from "../display/readout";
import type { PanelDescription } from "../protocol/messages";
import { Button, Group } from "./controls";
import { axisTitle, Sliders, useSlice, type AxisOptions, type SliderOptions } from "./slices";

interface FigureOptions {
  x: AxisOptions;
  y?: AxisOptions;
  /** Single points of a map, rows downwards, in one scale. */
  marks?: "points";
  /** A line across all of it. */
  reference?: { value: number; label: string };
}

/** Curves whose numbers are asked for. */
interface AskedOptions extends FigureOptions {
  sliders: SliderOptions[];
}

/** Curves whose numbers come with the panel: an axis from end to end, all places, and which axes are logarithmic. */
interface GivenOptions extends FigureOptions {
  x: AxisOptions & { last?: number };
  places: Numbers;
  curves: { name: string; y: Numbers }[];
  log?: { x?: boolean; y?: boolean };
}

type Numbers = (number | null)[];

interface Curve {
  name: string;
  /** Where it is not that of all. */
  x?: Numbers;
  y: Numbers;
}

const WIDTH = 560;
const HEIGHT = 320;
const ROOM = { left: 76, right: 14, top: 12, bottom: 44 };

/** The looks of curves, in their order. */
const LOOKS = ["one", "two", "three", "four", "five", "six", "seven", "eight"];

export function CurvesPanel({ panel }: { panel: PanelDescription }) {
  if (panel.options && "curves" in panel.options) return <GivenCurves title={panel.title} options={panel.options as unknown as GivenOptions} />;
  return panel.options && "panel" in panel.options ? <AskedCurves panel={panel} /> : null;
}

/** What the panel brought along. Points that are no numbers are left out. */
function GivenCurves({ title, options }: { title: string; options: GivenOptions }) {
  const { x, y, places, curves, log, reference } = options;
  const shown = curves.map(({ name, y: values }) => ({ name, x: places, y: values })).filter((curve) => curve.y.some((value) => value !== null && (!log?.y || value > 0)));
  if (shown.length === 0) return null;
  return <CurvesFigure title={title} x={x} y={y} reference={reference} curves={shown} log={{ x: log?.x ?? false, y: log?.y ?? false }} following ends={x.last === undefined ? undefined : [x.first, x.last]} />;
}

/** Curves over one axis, one axis logarithmic or both where their numbers span decades. */
function AskedCurves({ panel }: { panel: PanelDescription }) {
  const options = panel.options as unknown as AskedOptions;
  const slice = useSlice(panel);
  const [asked, setAsked] = useState<{ x?: boolean; y?: boolean }>({});
  const { x, curves = [], of, one_of: oneOf } = (slice.reply ?? {}) as { x?: Numbers; curves?: Curve[]; of?: number; one_of?: number };
  const all = curves.map((curve) => ({ name: curve.name, x: curve.x ?? x ?? [], y: curve.y }));
  const [xs, ys] = [all.flatMap((curve) => curve.x), all.flatMap(({ y }) => y)];
  const points = options.marks === "points";
  const log = { x: !points && (asked.x ?? spansDecades(xs)), y: !points && (asked.y ?? spansDecades(ys)) };
  return (
    <div class="sliced" ref={slice.place}>
      <Sliders sliders={options.sliders} slice={slice} />
      {slice.problem && <p class="problem">{slice.problem}</p>}
      <CurvesFigure title={panel.title} {...options} curves={all} log={log} />
      <div class="choices">
        {!points && (
          <Group label="Logarithmic">
            <Button label="Logarithmic axis from left to right" text="log x" pressed={log.x} disabled={!anyPositive(xs)} onClick={() => setAsked({ ...asked, x: !log.x })} />
            <Button label="Logarithmic axis upwards" text="log y" pressed={log.y} disabled={!anyPositive(ys)} onClick={() => setAsked({ ...asked, y: !log.y })} />
          </Group>
        )}
        <span class="hint">{[of ? `${curves.length} of ${of} curves` : "", oneOf ? `one of ${oneOf} points` : ""].filter(Boolean).join(", ")}</span>
      </div>
    </div>
  );
}

function anyPositive(values: Numbers): boolean {
  return values.some((value) => value !== null && value > 0);
}

/** All above zero, the largest a hundred times the smallest or more. */
export function spansDecades(values: Numbers): boolean {
  const known = values.filter((value): value is number => value !== null);
  return known.length > 1 && known.every((value) => value > 0) && Math.max(...known) >= 99.999 * Math.min(...known);
}

/** From numbers to places between 0 and 1, and the marks between. */
interface Scale {
  /** From one end to the other. */
  span: number;
  at(value: number): number;
  marks: number[];
  text(mark: number): string;
}

/** `least` is what a linear axis spans at least. */
export function scaleOf(values: Numbers, log: boolean, marks: number, least = 0): Scale | null {
  const known = values.filter((value): value is number => value !== null && (!log || value > 0));
  if (known.length === 0) return null;
  let low = Math.min(...known);
  let high = Math.max(...known);
  if (log) {
    [low, high] = [low / 1.15, high * 1.15];
    const span = Math.log(high / low);
    const decades = Math.log10(high / low);
    const all = logMarks(low, high);
    // Over many decades only their beginnings have room.
    const tens = all.filter((mark) => Math.abs(Math.log10(mark) - Math.round(Math.log10(mark))) < 1e-9);
    const every = Math.ceil(decades / 8);
    return { span, at: (value) => Math.log(value / low) / span, marks: decades > 3 ? tens.filter((_, i) => i % every === 0) : all, text: (mark) => axisNumber(mark, mark) };
  }
  const room = high > low ? 0.04 * (high - low) : Math.abs(high) || 1;
  [low, high] = [low - room, high + room];
  const wider = Math.max(0, least - (high - low)) / 2;
  [low, high] = [low - wider, high + wider];
  return { span: high - low, at: (value) => (value - low) / (high - low), marks: linearMarks(low, high, marks), text: (mark) => axisNumber(mark, high - low) };
}

interface FigureProps extends FigureOptions {
  title: string;
  curves: { name: string; x: Numbers; y: Numbers }[];
  log: { x: boolean; y: boolean };
  /** Curves that grow while one looks. */
  following?: boolean;
  /** Of the axis from left to right, where it does not follow from the curves. */
  ends?: [number, number];
}

function CurvesFigure({ title, x: across, y: up, marks, reference, curves, log, following, ends }: FigureProps) {
  const points = marks === "points";
  const [left, right, top, bottom] = [ROOM.left, WIDTH - ROOM.right, ROOM.top, HEIGHT - ROOM.bottom];
  const [xs, ys] = [curves.flatMap(({ x }) => x).concat(ends ?? []), curves.flatMap(({ y }) => y).concat(reference ? [reference.value] : [])];
  // A map has one scale: the shorter side gets more room.
  const ratio = (right - left) / (bottom - top);
  const xScale = scaleOf(xs, log.x, 8, points ? ratio * (scaleOf(ys, false, 7)?.span ?? 0) : 0);
  const yScale = scaleOf(ys, log.y, 7, points ? (scaleOf(xs, false, 8)?.span ?? 0) / ratio : 0);
  if (!xScale || !yScale) return <p class="hint">no finite numbers</p>;
  const px = (value: number) => left + (right - left) * xScale.at(value);
  const py = (value: number) => (points ? top + (bottom - top) * yScale.at(value) : bottom - (bottom - top) * yScale.at(value));
  const draws = (value: number | null, isLog: boolean): value is number => value !== null && (!isLog || value > 0);
  const path = ({ x, y }: { x: Numbers; y: Numbers }) => {
    let text = "";
    let pen = false;
    y.forEach((value, i) => {
      const place = x[i];
      const there = draws(value, log.y) && draws(place, log.x);
      if (there) {
        const at = `${px(place).toFixed(1)} ${py(value).toFixed(1)}`;
        const alone = !pen && !(draws(y[i + 1] ?? null, log.y) && draws(x[i + 1] ?? null, log.x));
        // A line of no length with round ends is a point.
        text += points || alone ? `M${at}h0` : `${pen ? "L" : "M"}${at}`;
      }
      pen = there;
    });
    return text;
  };
  return (
    <figure class={following ? "curves following" : "curves"}>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={title}>
        {xScale.marks.map((mark) => (
          <g key={mark}>
            <line class="grid" x1={px(mark)} x2={px(mark)} y1={top} y2={bottom} />
            <text class="mark" x={px(mark)} y={bottom + 17} text-anchor="middle">
              {xScale.text(mark)}
            </text>
          </g>
        ))}
        {yScale.marks.map((mark) => (
          <g key={mark}>
            <line class="grid" x1={left} x2={right} y1={py(mark)} y2={py(mark)} />
            <text class="mark" x={left - 6} y={py(mark) + 4} text-anchor="end">
              {yScale.text(mark)}
            </text>
          </g>
        ))}
        {reference && <line class="reference" x1={left} x2={right} y1={py(reference.value)} y2={py(reference.value)} />}
        <rect class="frame" x={left} y={top} width={right - left} height={bottom - top} />
        {curves.map((curve, i) => (
          <path key={i} class={`curve ${LOOKS[i % LOOKS.length]}${points ? " points" : ""}`} d={path(curve)} />
        ))}
        <text class="mark" x={(left + right) / 2} y={HEIGHT - 8} text-anchor="middle">
          {axisTitle(across)}
        </text>
        <text class="mark" text-anchor="middle" transform={`translate(13 ${(top + bottom) / 2}) rotate(-90)`}>
          {up && (points ? axisTitle(up) : up.unit)}
        </text>
      </svg>
      <figcaption>
        {curves.map(
          ({ name }, i) =>
            name && (
              <span key={i} class={`name ${LOOKS[i % LOOKS.length]}`}>
                {name}
              </span>
            ),
        )}
        {reference && <span class="name reference">{reference.label}</span>}
      </figcaption>
    </figure>
  );
}

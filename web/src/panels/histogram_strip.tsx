// SPDX-License-Identifier: Apache-2.0
import { effect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { bars, histogram as count, percentile } from "../display/histogram";
import { position, type Range } from "../display/stretch";
import { formatNumber } from "../display/readout";
import { Surface } from "../display/surface";
import type { ScanStore } from "../model/scan_store";
import type { Stage } from "./stage";
import { NumberField } from "./controls";
import { requestPaint } from "./painter";
import { displayName, stretchOf, tablesOf } from "./contents";
import { useScan } from "./scan";
import { legible, useLegible } from "./legible";

const HEIGHT = 44;
const EMPTY = count(new Float32Array(0));

/** How often which values occur, over the colours they are shown in, with a handle at either end of the range. */
export function HistogramStrip({ stage }: { stage: Stage }) {
  const { store, actions } = useScan();
  const canvas = useRef<HTMLCanvasElement>(null);
  const name = displayName(store, stage.panel);
  const settings = store.view.display.value[name];
  const read = useLegible(() => ({ range: stage.range.value, counts: countsOf(stage), unit: stage.shown?.unit ?? "" }), [stage]);
  // A range that is set by hand follows the hand.
  const range = settings.contrast === "fixed" ? stage.range.value : read.range;
  const counts = read.counts;
  const span = shownSpan(counts, range);
  const fix = (change: Partial<Range>) => {
    const next = { ...stage.range.peek(), ...change };
    actions.display(name, { contrast: "fixed", symmetric: false, low: Math.min(next.low, next.high), high: Math.max(next.low, next.high) });
  };

  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    // Asking the page for a size or a colour makes it lay itself out anew: only when one may have changed.
    let colour = "";
    const surface = new Surface(element);
    const paint = () => {
      draw(surface, colour, stage, store);
      surface.show();
    };
    const measure = () => {
      surface.resize(Math.max(1, element.clientWidth), HEIGHT);
      colour = getComputedStyle(element).color;
      requestPaint(paint);
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    const scheme = matchMedia("(prefers-color-scheme: light)");
    scheme.addEventListener("change", measure);
    // Bars that follow every image of a drag cannot be read, and would take its time.
    const values = legible(() => [stage.range.value, countsOf(stage)]);
    const stop = effect(() => {
      void [values.shown.value, store.view.display.value];
      requestPaint(paint);
    });
    return () => {
      stop();
      values.stop();
      observer.disconnect();
      scheme.removeEventListener("change", measure);
    };
  }, [stage]);

  const taken = useRef<"low" | "high" | null>(null);
  const valueAt = (event: PointerEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return span.low + ((event.clientX - box.left) / box.width) * (span.high - span.low);
  };
  const down = (event: PointerEvent) => {
    const value = valueAt(event);
    taken.current = Math.abs(value - range.low) < Math.abs(value - range.high) ? "low" : "high";
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    fix({ [taken.current]: value });
  };
  const move = (event: PointerEvent) => {
    if (taken.current) fix({ [taken.current]: valueAt(event) });
  };
  const keys = (end: "low" | "high") => (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    fix({ [end]: range[end] + by * (event.shiftKey ? 0.1 : 0.01) * (span.high - span.low) });
  };
  const place = (value: number) => `${(100 * Math.min(1, Math.max(0, (value - span.low) / (span.high - span.low || 1)))).toFixed(3)}%`;

  return (
    <div class="histogram">
      <NumberField bare label="Lowest value shown" value={round(range.low)} digits="all" onChange={(low) => fix({ low })} />
      <div class="bars" onPointerDown={down} onPointerMove={move} onPointerUp={() => (taken.current = null)} onDblClick={() => actions.display(name, { contrast: "auto" })}>
        <canvas ref={canvas} height={HEIGHT} aria-hidden="true" />
        {(["low", "high"] as const).map((end) => (
          <div
            key={end}
            class="grip"
            role="slider"
            tabIndex={0}
            aria-label={`${end === "low" ? "lower" : "upper"} end of the range`}
            aria-valuemin={span.low}
            aria-valuemax={span.high}
            aria-valuenow={range[end]}
            aria-valuetext={formatNumber(round(range[end]))}
            style={{ left: place(range[end]) }}
            onKeyDown={keys(end)}
          />
        ))}
      </div>
      <NumberField bare label="Highest value shown" value={round(range.high)} digits="all" onChange={(high) => fix({ high })} />
      <span class="unit">{read.unit}</span>
      <span class="unseen">{settings.contrast === "auto" ? "automatic range" : "fixed range"}</span>
    </div>
  );
}

function countsOf(stage: Stage): typeof EMPTY {
  return stage.shown?.pictures[0]?.histogram.value ?? EMPTY;
}

/** Whole numbers as they are; of others five digits are enough for an end of a range. */
function round(value: number): number {
  return Math.abs(value) >= 1e4 ? Math.round(value) : Number(value.toPrecision(5));
}

/** The values along the strip: a few hot pixels must not squeeze all others into one bar. */
function shownSpan(of: typeof EMPTY, range: Range): Range {
  if (of.finite === 0) return range;
  const [least, most] = [percentile(of, 0.05), percentile(of, 99.95)];
  const high = Math.max(range.high, Math.min(of.high, most + 0.25 * (most - least)));
  const low = Math.min(range.low, Math.max(of.low, least - 0.25 * (most - least)));
  return high > low ? { low, high } : { low: low - 0.5, high: high + 0.5 };
}

function draw(surface: Surface, colour: string, stage: Stage, store: ScanStore): void {
  const display = stage.shown?.display ?? stage.panel;
  const settings = store.view.display.peek()[display];
  const range = stage.range.peek();
  const counts = countsOf(stage);
  const { width, context } = surface;
  const span = shownSpan(counts, range);
  const bar = 8;
  const heights = bars(counts, Math.ceil(width / 2), span.low, span.high);
  context.fillStyle = colour;
  context.beginPath();
  heights.forEach((height, i) => context.rect(2 * i, (1 - height) * (HEIGHT - bar - 2), 2, height * (HEIGHT - bar - 2)));
  context.fill();
  // Of red, green and blue the first: the histogram counts its values.
  const [colourTable] = stage.shown ? tablesOf(stage.shown, settings) : [];
  if (!colourTable) return;
  const table = new Uint32Array(colourTable.buffer, colourTable.byteOffset, 256);
  const mapping = { ...range, stretch: stretchOf(display, settings), gamma: settings.gamma };
  const pixels = context.createImageData(width, bar);
  const colours = new Uint32Array(pixels.data.buffer);
  for (let x = 0; x < width; ++x) {
    const value = span.low + ((x + 0.5) / width) * (span.high - span.low);
    const colour = table[Math.round(255 * position(value, mapping))];
    for (let y = 0; y < bar; ++y) colours[y * width + x] = colour;
  }
  context.putImageData(pixels, 0, HEIGHT - bar);
}

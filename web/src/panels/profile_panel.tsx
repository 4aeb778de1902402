// SPDX-License-Identifier: Apache-2.0
import { effect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { axisNumber } from "../display/readout";
import { scaleBarLength } from "../display/scale_bar";
import type { ProfileLine } from "../model/view";
import { toFloat } from "../protocol/frame";
import type { PanelDescription } from "../protocol/messages";
import { Button, NumberField } from "./controls";
import { useScan } from "./scan";

/** What is to be different of a line. */
type Change = (now: ProfileLine) => Partial<ProfileLine>;

/** Values along a line, with the width of its peak at half height. */
export function ProfilePanel({ panel }: { panel: PanelDescription }) {
  const { store } = useScan();
  return store.view.profile.value && <Profile title={panel.title} line={store.view.profile.value} />;
}

function Profile({ title, line }: { title: string; line: ProfileLine }) {
  const { store, actions } = useScan();
  const canvas = useRef<HTMLCanvasElement>(null);
  const reply = store.profileReply.value;
  // What is shown may be a moment old.
  const change = (by: Change) => {
    const now = store.view.profile.peek();
    if (now) actions.setProfile({ ...now, ...by(now) });
  };

  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const draw = () => {
      const frame = store.profile.value;
      const { length, unit, value_unit } = store.profileReply.value ?? {};
      plot(element, frame ? toFloat(frame.values) : new Float32Array(0), length ?? frame?.cols ?? 1, unit ?? "px", value_unit ?? "");
    };
    const stop = effect(draw);
    const observer = new ResizeObserver(draw);
    observer.observe(element);
    return () => {
      stop();
      observer.disconnect();
    };
  }, []);

  const number = (value: number | null | undefined) => (value === null || value === undefined || !Number.isFinite(value) ? "none" : `${Number(value.toPrecision(4))} ${reply?.unit ?? "px"}`);
  return (
    <section class="panel profile" aria-label={title}>
      <header>
        <h2>{title}</h2>
        <span class="spring" />
        <LineEnds line={line} onChange={change} />
        <NumberField label="width" unit="px" value={line.width} least={1} step={1} onChange={(width) => change(() => ({ width }))} />
        <Button quiet label="Remove the line" icon="close" onClick={() => actions.setProfile(null)} />
      </header>
      <div class="plot">
        <canvas ref={canvas} role="img" aria-label={`Profile of length ${number(reply?.length)}, width at half height ${number(reply?.fwhm)}`} />
      </div>
      <p class="readout">{`length ${number(reply?.length)}   FWHM ${number(reply?.fwhm)}`}</p>
    </section>
  );
}

/** Where the line begins and ends, to type. */
function LineEnds({ line, onChange }: { line: ProfileLine; onChange(change: Change): void }) {
  const end = (name: "p0" | "p1", label: string) => {
    const [row, col] = line[name];
    return (
      <span class="pair">
        <NumberField label={`${label} row`} value={row} step={1} onChange={(now) => onChange((one) => ({ [name]: [now, one[name][1]] }))} />
        <NumberField label="col" value={col} step={1} onChange={(now) => onChange((one) => ({ [name]: [one[name][0], now] }))} />
      </span>
    );
  };
  return (
    <>
      {end("p0", "from")}
      {end("p1", "to")}
    </>
  );
}

function ticks(low: number, high: number, count: number): number[] {
  if (!(high > low)) return [low];
  const step = scaleBarLength(((high - low) / count) * 2);
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, i) => (first + i) * step);
}

function plot(canvas: HTMLCanvasElement, values: Float32Array, length: number, unit: string, valueUnit: string): void {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  const context = canvas.getContext("2d");
  if (!context || values.length < 2) return;
  const style = getComputedStyle(canvas);
  context.scale(ratio, ratio);
  context.font = "11px system-ui, sans-serif";
  const finite = values.filter((value) => Number.isFinite(value));
  const low = finite.reduce((a, b) => Math.min(a, b), Infinity);
  const high = finite.reduce((a, b) => Math.max(a, b), -Infinity);
  const span = high > low ? high - low : 1;
  const labels = ticks(low, high, 5).map((tick) => ({ tick, label: axisNumber(tick, span) }));
  const widest = Math.max(0, ...labels.map(({ label }) => context.measureText(label).width));
  const box = { left: Math.max(62, Math.ceil(widest) + 12), top: valueUnit ? 22 : 10, right: width - 14, bottom: height - 30 };
  const x = (at: number) => box.left + (at / length) * (box.right - box.left);
  const y = (value: number) => box.bottom - ((value - low) / span) * (box.bottom - box.top);
  context.strokeStyle = style.getPropertyValue("--line");
  context.fillStyle = style.getPropertyValue("--muted");
  context.lineWidth = 1;
  context.textAlign = "right";
  for (const { tick, label } of labels) {
    context.beginPath();
    context.moveTo(box.left, y(tick));
    context.lineTo(box.right, y(tick));
    context.stroke();
    context.fillText(label, box.left - 6, y(tick) + 4);
  }
  context.textAlign = "center";
  for (const tick of ticks(0, length, 6)) context.fillText(axisNumber(tick, length), x(tick), box.bottom + 15);
  context.textAlign = "right";
  context.fillText(unit, box.right, box.bottom + 28);
  context.fillText(valueUnit, box.left - 6, box.top - 9);
  context.strokeStyle = style.getPropertyValue("--accent");
  context.lineWidth = 1.5;
  context.beginPath();
  values.forEach((value, i) => {
    if (Number.isFinite(value)) context.lineTo(x((i / (values.length - 1)) * length), y(value));
  });
  context.stroke();
}

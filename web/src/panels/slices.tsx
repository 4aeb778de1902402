// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import type { RefObject } from "preact";

import { axisNumber } from "../display/readout";
import type { PanelDescription, Reply } from "../protocol/messages";
import { useViewer } from "./context";

/** An axis of an array, as the page of a result describes it. */
export interface AxisOptions {
  name: string;
  unit: string;
  size: number;
  first: number;
  step: number;
}

/** An axis whose element is chosen. */
export interface SliderOptions extends AxisOptions {
  /** Its number among the axes of the array. */
  axis: number;
  places?: number[];
}

/** "theta (rad)". */
export function axisTitle({ name, unit }: AxisOptions): string {
  return unit ? `${name} (${unit})`.trim() : name;
}

function elementText(slider: SliderOptions, at: number): string {
  const { places, unit, first, step, size } = slider;
  if (!places && step === 1 && first === 0) return `${at} of ${size - 1}`;
  const value = places?.[at] ?? first + at * step;
  const ends = [places?.[0] ?? first, places?.[size - 1] ?? first + (size - 1) * step];
  return `${axisNumber(value, Math.abs(ends[1] - ends[0]))}${unit ? ` ${unit}` : ""}`;
}

interface Slice {
  /** Of the panel: nothing is asked for before it is seen. */
  place: RefObject<HTMLDivElement>;
  /** The newest reply. */
  reply: Reply | null;
  problem: string | null;
  index: number[];
  choose(axis: number, at: number): void;
}

/** Asks the server for the numbers of a panel while it is in sight: at once, and for every place of its sliders. One
 *  request is under way; while it is, only the newest one counts. */
export function useSlice(panel: PanelDescription): Slice {
  const { store, session } = useViewer();
  const place = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState(false);
  const [index, setIndex] = useState<number[]>([]);
  const [reply, setReply] = useState<Reply | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const flight = useRef({ busy: false, again: false, index });
  const page = store.page.value;
  const number = Number(panel.options?.panel);
  // Of a result that settings make anew, how often they have.
  const made = store.panels.value.find(({ type }) => type === "adjust")?.options?.made;

  useEffect(() => {
    if (!place.current) return;
    const watcher = new IntersectionObserver((entries) => entries.some(({ isIntersecting }) => isIntersecting) && setSeen(true), { rootMargin: "200px" });
    watcher.observe(place.current);
    return () => watcher.disconnect();
  }, []);

  useEffect(() => {
    if (!seen) return;
    const now = flight.current;
    now.index = index;
    if (now.busy) {
      now.again = true;
      return;
    }
    const ask = async () => {
      now.busy = true;
      do {
        now.again = false;
        try {
          setReply(await session.request("show", { panel: number, index: now.index }));
          setProblem(null);
        } catch (failure) {
          setProblem((failure as Error).message);
        }
      } while (now.again);
      now.busy = false;
    };
    void ask();
    // A page that comes again is that of a new connection, which has sent nothing yet.
  }, [seen, index, page, made]);

  const choose = (axis: number, at: number) =>
    setIndex((before) => {
      const next = [...before];
      for (let i = 0; i <= axis; ++i) next[i] ??= 0;
      next[axis] = at;
      return next;
    });
  return { place, reply, problem, index, choose };
}

export function Sliders({ sliders, slice }: { sliders: SliderOptions[]; slice: Slice }) {
  return (
    <>
      {sliders.map((slider) => (
        <label key={slider.axis} class="slider">
          <span>{slider.name || `axis ${slider.axis + 1}`}</span>
          <input
            type="range"
            min={0}
            max={slider.size - 1}
            value={slice.index[slider.axis] ?? 0}
            onInput={(event) => slice.choose(slider.axis, Number(event.currentTarget.value))}
          />
          <output class="hint">{elementText(slider, slice.index[slider.axis] ?? 0)}</output>
        </label>
      ))}
    </>
  );
}

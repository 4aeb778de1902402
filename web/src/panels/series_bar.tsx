// SPDX-License-Identifier: Apache-2.0
import { useEffect } from "preact/hooks";

import { nextItem } from "../model/playback";
import type { PanelDescription } from "../protocol/messages";
import { Button, NumberField } from "./controls";
import { useScan } from "./scan";

/** The items of a series: slider, playing once, in a loop, or to and fro. */
export function SeriesBar({ panel }: { panel: PanelDescription }) {
  const { store, actions } = useScan();
  const items = store.dataset.value?.items ?? [];
  const { item, fps, loop, boomerang } = store.view;
  const playing = store.playing.value;
  const rate = fps.value;
  const shown = items[item.value];
  const name = shown ? `${shown.label}${shown.error ? " (failed)" : ""}` : "";

  useEffect(() => {
    if (!playing) return;
    let direction: 1 | -1 = 1;
    const timer = setInterval(() => {
      // Slower data come when they come; the rate is an upper limit.
      if (!actions.session.latest.idle) return;
      const next = nextItem(item.peek(), items.length, direction, loop.peek(), boomerang.peek());
      if (!next) return actions.setPlaying(false);
      direction = next.direction;
      actions.setItem(next.item);
    }, 1000 / rate);
    return () => clearInterval(timer);
  }, [playing, rate, items.length]);

  if (items.length < 2) return null;
  const ready = store.ready.value.length;
  return (
    <div class="series" role="group" aria-label={panel.title}>
      <Button label="Previous item" icon="previous" keys="," onClick={() => actions.chooseItem(item.value - 1)} />
      <Button label={playing ? "Pause" : "Play"} icon={playing ? "pause" : "play"} filled keys="Space" pressed={playing} onClick={() => actions.setPlaying(!store.playing.peek())} />
      <Button label="Next item" icon="next" keys="." onClick={() => actions.chooseItem(item.value + 1)} />
      <input
        type="range"
        aria-label="Item of the series"
        aria-valuetext={name}
        min={0}
        max={items.length - 1}
        value={item.value}
        onInput={(event) => actions.chooseItem(Number(event.currentTarget.value))}
      />
      <span class="readout">{`${item.value + 1} / ${items.length}   ${name}`}</span>
      {ready > 0 && ready < items.length && <span class="hint">{`${ready} ready`}</span>}
      <NumberField label="per second" value={rate} least={0.5} most={60} step={1} onChange={(value) => (fps.value = value)} />
      <Button label="Loop" icon="loop" pressed={loop.value} onClick={() => (loop.value = !loop.value)} />
      <Button label="To and fro" icon="boomerang" pressed={boomerang.value} onClick={() => (boomerang.value = !boomerang.value)} />
    </div>
  );
}

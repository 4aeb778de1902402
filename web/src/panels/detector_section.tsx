// SPDX-License-Identifier: Apache-2.0
import { useLayoutEffect, useRef } from "preact/hooks";

import { formatNumber } from "../display/readout";
import { CHANNEL_COLOURS, nameOf, PRESETS, shapeOf } from "../model/detectors";
import { MOST_CHANNELS } from "../model/view";
import type { Shape, ShapeKind } from "../tools/shape";
import { Button, Group, Section } from "./controls";
import { useViewer } from "./context";
import type { IconName } from "./icons";
import { useLegible } from "./legible";
import { ShapeNumbers } from "./shape_numbers";

const KINDS: { kind: ShapeKind & IconName; label: string }[] = [
  { kind: "circle", label: "Circle" },
  { kind: "annulus", label: "Annulus" },
  { kind: "segment", label: "Segment of an annulus" },
  { kind: "rect", label: "Rectangle" },
  { kind: "polygon", label: "Polygon" },
  { kind: "point", label: "Point" },
  { kind: "brush", label: "Free mask, painted" },
];

/** Detectors: which there are, and the active one as preset, shape, numbers or words. */
export function DetectorSection() {
  const { store, actions } = useViewer();
  const { detectors, active, detector, channels, centre } = useLegible(() => ({
    detectors: store.view.detectors.value,
    active: store.view.active.value,
    detector: store.activeDetector.value,
    channels: store.channels.value,
    centre: store.centre.value,
  }));
  const reply = channels[active];
  const shape = detector && shapeOf(detector, centre);
  // What is shown may be a moment old.
  const reshape = (change: Partial<Shape>) => actions.setDetector({ shape: { ...(actions.activeShape() ?? shape), ...change } as Shape });
  return (
    <Section title="Detectors">
      <ul class="channels" aria-label="Detectors">
        {detectors.map((one) => (
          <li key={one.channel} class={one.channel === active ? "chosen" : undefined}>
            <button type="button" class="channel" aria-pressed={one.channel === active} aria-label={`Detector ${one.channel + 1}, ${nameOf(one)}`} onClick={() => actions.activate(one.channel)}>
              <span class="swatch" style={{ background: CHANNEL_COLOURS[one.channel] }}>
                {one.channel + 1}
              </span>
              <span class="name">{nameOf(one)}</span>
              <span class="area">{areaText(channels[one.channel]?.area)}</span>
            </button>
            {detectors.length > 1 && <Button quiet label={`Remove detector ${one.channel + 1}`} icon="close" onClick={() => actions.removeDetector(one.channel)} />}
          </li>
        ))}
      </ul>
      <div class="line">
        <Group label="Presets">
          {PRESETS.map(({ name, label, help, key }) => (
            <Button key={name} label={help} text={label} keys={key.toUpperCase()} pressed={detector?.expr === name} onClick={() => actions.setDetector({ expr: name })} />
          ))}
        </Group>
        <Button label="Add a detector" icon="plus" disabled={detectors.length >= MOST_CHANNELS} onClick={() => actions.addDetector()} />
      </div>
      <div class="line">
        <Group label="Shape">
          {KINDS.map(({ kind, label }) => (
            <Button key={kind} label={label} icon={kind} pressed={shape?.kind === kind && detector?.shape !== null} onClick={() => actions.chooseShape(kind)} />
          ))}
        </Group>
      </div>
      <div class="line">
        <Group label="First moments">
          <Button label="Centre of mass, rows" text="CoM row" pressed={detector?.expr === "com-row"} onClick={() => actions.setDetector({ expr: "com-row" })} />
          <Button label="Centre of mass, columns" text="CoM col" pressed={detector?.expr === "com-col"} onClick={() => actions.setDetector({ expr: "com-col" })} />
        </Group>
      </div>
      {shape && <ShapeNumbers shape={shape} perPixel={store.dataset.value?.pixel_mrad} onChange={reshape} />}
      <Expression text={detector?.expr ?? reply?.expr ?? ""} />
      {reply?.error ? (
        <p class="problem" role="alert">
          {reply.error}
          {reply.hint && <span class="hint"> {reply.hint}</span>}
        </p>
      ) : (
        reply?.path && <p class="hint" title={reply.because}>{`${reply.path}${reply.compute_us !== undefined ? `, ${(reply.compute_us / 1000).toFixed(2)} ms` : ""}`}</p>
      )}
    </Section>
  );
}

function areaText(area: number | undefined): string {
  return area === undefined ? "" : `${formatNumber(area)} px`;
}

/** The detector in words. What is being typed is never replaced: Enter sets it; Escape, or leaving the field, lets go of it. */
function Expression({ text }: { text: string }) {
  const { actions } = useViewer();
  const field = useRef<HTMLInputElement>(null);
  const typing = useRef(false);
  const show = () => {
    typing.current = false;
    if (field.current) field.current.value = text;
  };
  useLayoutEffect(() => {
    if (!typing.current) show();
  }, [text]);
  return (
    <label class="expression">
      <span>Expression</span>
      <input
        type="text"
        ref={field}
        spellcheck={false}
        onInput={() => (typing.current = true)}
        onBlur={show}
        onKeyDown={(event) => {
          const expr = event.currentTarget.value.trim();
          if (event.key === "Escape") show();
          if (event.key !== "Enter" || expr === "") return;
          typing.current = false;
          actions.setDetector({ expr });
        }}
      />
    </label>
  );
}

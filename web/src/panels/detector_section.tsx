// SPDX-License-Identifier: Apache-2.0
import { useLayoutEffect, useRef } from "preact/hooks";

import { formatNumber } from "../display/readout";
import { colourOf, isEmptyMask, MOMENTS, momentOf, nameOf, offeredShapes, PRESETS, shapeOf } from "../model/detectors";
import type { ChannelReply } from "../model/scan_store";
import { MOST_CHANNELS } from "../model/view";
import type { PanelDescription } from "../protocol/messages";
import { toolsOf, type Shape } from "../tools/shapes";
import { shortExpression } from "../tools/short_expression";
import { Button, Group, Section } from "./controls";
import { useScan } from "./scan";
import { useLegible } from "./legible";
import { ShapeNumbers } from "./shape_numbers";

/** Detectors: which there are, and the active one as preset, shape, numbers or words. */
export function DetectorSection({ panel }: { panel: PanelDescription }) {
  const { store, actions } = useScan();
  const { detectors, active, detector, channels, failed, arrangement, centre } = useLegible(() => ({
    detectors: store.view.detectors.value,
    active: store.view.active.value,
    detector: store.activeDetector.value,
    channels: store.channels.value,
    failed: store.failed.value,
    arrangement: store.view.arrangement.value,
    centre: store.centre.value,
  }));
  const reply = channels[active];
  const failure = failed[active];
  const empty = detector !== null && isEmptyMask(detector);
  const shape = detector && shapeOf(detector, centre);
  // What is shown may be a moment old.
  const reshape = (change: Partial<Shape>) => actions.setDetector({ shape: { ...(actions.activeShape() ?? shape), ...change } as Shape });
  return (
    <Section title={panel.title}>
      <ul class="channels" aria-label="Detectors">
        {detectors.map((one) => (
          <li key={one.channel} class={one.channel === active ? "chosen" : undefined}>
            <button type="button" class="channel" aria-pressed={one.channel === active} title={nameOf(one)} onClick={() => actions.activate(one.channel)}>
              <span class="unseen">Detector </span>
              <span class="swatch" style={{ background: colourOf(one.channel, { detectors, arrangement }) }}>
                {one.channel + 1}
              </span>
              <span class="name">{nameOf(one)}</span>
              <span class="area">{isEmptyMask(one) ? "empty" : areaText(channels[one.channel]?.area)}</span>
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
          {offeredShapes(store.shared.page.value).map(({ kind, help }) => (
            <Button key={kind} label={toolsOf({ kind }).label} tip={help} icon={kind} pressed={shape?.kind === kind && detector?.shape !== null} onClick={() => actions.chooseShape(kind)} />
          ))}
        </Group>
      </div>
      <div class="line moments">
        <Group label="First moments">
          {MOMENTS.map(({ name, text, help }) => (
            <Button key={name} label={help} text={text} pressed={detector !== null && momentOf(detector) === name} onClick={() => actions.setDetector({ expr: name })} />
          ))}
        </Group>
        <Button label="the centre of mass as row, column, length and direction, beside each other" text="All four" onClick={() => actions.showMoments()} />
      </div>
      {shape && <ShapeNumbers shape={shape} perPixel={store.dataset.value?.pixel_mrad} onChange={reshape} />}
      <Expression text={failure?.expr ?? detector?.expr ?? (empty ? "" : shortExpression(reply?.expr ?? ""))} onLeave={() => actions.dismissFailure(active)} />
      {failure ? (
        <p class="problem" role="alert">
          {failure.message}
          {failure.hint && <span class="hint"> {failure.hint}</span>}
        </p>
      ) : (
        reply?.path && !empty && <p class="hint" title={reply.because}>{`${reply.path}${timeText(reply)}`}</p>
      )}
    </Section>
  );
}

/** An image that was made before took no time now. */
function timeText({ cached, compute_us }: ChannelReply): string {
  if (cached) return ", cached";
  return compute_us === undefined ? "" : `, ${(compute_us / 1000).toFixed(2)} ms`;
}

function areaText(area: number | undefined): string {
  return area === undefined ? "" : `${formatNumber(area)} px`;
}

/** The detector in words. What is being typed is never replaced: Enter sets it, where it is another one; Escape, or leaving
 *  the field, lets go of it. */
function Expression({ text, onLeave }: { text: string; onLeave(): void }) {
  const { actions } = useScan();
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
          if (event.key === "Escape") {
            show();
            onLeave();
          }
          // Its digits are rounded: entered as it stands it would be another detector.
          if (event.key !== "Enter" || expr === "" || expr === text) return;
          typing.current = false;
          actions.setDetector({ expr });
        }}
      />
    </label>
  );
}

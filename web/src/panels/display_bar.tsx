// SPDX-License-Identifier: Apache-2.0
import { COLOUR_MAPS } from "../display/colour_maps";
import { GAMMA_RANGE, type Stretch } from "../display/stretch";
import { Button, Group, NumberField, Select } from "./controls";
import { displayName, isStretched } from "./contents";
import { useScan } from "./scan";
import type { Stage } from "./stage";

const STRETCH_TEXTS: { name: Stretch; text: string; label: string }[] = [
  { name: "linear", text: "Lin", label: "Linear" },
  { name: "log", text: "Log", label: "Logarithmic" },
  { name: "power", text: "Pow", label: "Power" },
];

/** How the values of one panel become colours. */
export function DisplayBar({ stage }: { stage: Stage }) {
  const { store, actions } = useScan();
  const name = displayName(store, stage.panel);
  const settings = store.view.display.value[name];
  const set = (change: Partial<typeof settings>) => actions.display(name, change);
  const angle = name === "angle";
  const fixed = settings.contrast === "fixed";
  // Red, green and blue are the colours then.
  const rgb = stage.panel === "image" && store.view.arrangement.value === "rgb";
  return (
    <div class="display-bar">
      {isStretched(name) && (
        <Group label="Scale">
          {STRETCH_TEXTS.map(({ name: stretch, text, label }) => (
            <Button key={stretch} label={label} text={text} pressed={settings.stretch === stretch} keys={stretch === "log" ? "L" : undefined} onClick={() => set({ stretch })} />
          ))}
        </Group>
      )}
      {isStretched(name) && settings.stretch === "power" && (
        <NumberField label="&gamma;" value={settings.gamma} least={GAMMA_RANGE[0]} most={GAMMA_RANGE[1]} step={0.05} onChange={(gamma) => set({ gamma })} />
      )}
      {!rgb && <Select hiddenLabel label="Colour map" value={settings.map} options={(angle ? (["phase"] as const) : COLOUR_MAPS).map((map) => ({ name: map, text: map }))} onChange={(map) => set({ map })} />}
      <Group label="Display">
        {!rgb && <Button label="Reverse the colours" icon="reversed" pressed={settings.reversed} onClick={() => set({ reversed: !settings.reversed })} />}
        <Button label="Range symmetric about zero" icon="symmetric" disabled={angle} pressed={settings.symmetric} onClick={() => set({ symmetric: !settings.symmetric })} />
        <Button label="Interpolate between pixels" icon="smooth" disabled={angle} pressed={settings.smooth} onClick={() => set({ smooth: !settings.smooth })} />
        <Button
          disabled={angle}
          label={fixed ? "Range is fixed; make it automatic" : "Keep this range"}
          icon={fixed ? "lock" : "unlock"}
          pressed={fixed}
          keys={fixed ? "Alt+A" : undefined}
          onClick={() => set(fixed ? { contrast: "auto" } : { contrast: "fixed", ...stage.range.peek() })}
        />
      </Group>
    </div>
  );
}

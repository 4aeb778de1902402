// SPDX-License-Identifier: Apache-2.0
import { COLOUR_MAPS } from "../display/colour_maps";
import { GAMMA_RANGE, type Stretch } from "../display/stretch";
import { Button, Group, NumberField, Select } from "./controls";
import { useViewer } from "./context";
import type { Stage } from "./stage";

const STRETCH_TEXTS: { name: Stretch; text: string; label: string }[] = [
  { name: "linear", text: "Lin", label: "Linear" },
  { name: "log", text: "Log", label: "Logarithmic" },
  { name: "power", text: "Pow", label: "Power" },
];

/** How the values of one panel become colours. */
export function DisplayBar({ stage }: { stage: Stage }) {
  const { store, actions } = useViewer();
  const { panel } = stage;
  const settings = store.view.display.value[panel];
  const set = (change: Partial<typeof settings>) => actions.display(panel, change);
  const fixed = settings.contrast === "fixed";
  return (
    <div class="display-bar">
      <Group label="Scale">
        {STRETCH_TEXTS.map(({ name, text, label }) => (
          <Button key={name} label={label} text={text} pressed={settings.stretch === name} keys={name === "log" ? "L" : undefined} onClick={() => set({ stretch: name })} />
        ))}
      </Group>
      {settings.stretch === "power" && (
        <NumberField label="&gamma;" value={settings.gamma} least={GAMMA_RANGE[0]} most={GAMMA_RANGE[1]} step={0.05} onChange={(gamma) => set({ gamma })} />
      )}
      <Select hiddenLabel label="Colour map" value={settings.map} options={COLOUR_MAPS.map((name) => ({ name, text: name }))} onChange={(map) => set({ map })} />
      <Group label="Display">
        <Button label="Reverse the colours" icon="reversed" pressed={settings.reversed} onClick={() => set({ reversed: !settings.reversed })} />
        <Button label="Range symmetric about zero" icon="symmetric" pressed={settings.symmetric} onClick={() => set({ symmetric: !settings.symmetric })} />
        <Button label="Interpolate between pixels" icon="smooth" pressed={settings.smooth} onClick={() => set({ smooth: !settings.smooth })} />
        <Button
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

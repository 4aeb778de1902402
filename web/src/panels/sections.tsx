// SPDX-License-Identifier: Apache-2.0
import { nameOf, offeredShapes, RGB } from "../model/detectors";
import type { View } from "../model/view";
import type { PanelDescription } from "../protocol/messages";
import { numbersOf, toolsOf, type Shape } from "../tools/shapes";
import { Button, Check, Group, NumberField, Section, Select } from "./controls";
import { displayName } from "./contents";
import { useScan } from "./scan";
import { describePlace } from "./actions";
import { ShapeNumbers } from "./shape_numbers";

/** The bright-field disk, which presets and `auto` refer to. */
export function CentreSection({ panel }: { panel: PanelDescription }) {
  const { store, actions } = useScan();
  const dataset = store.dataset.value;
  const centre = store.centre.value;
  const { angleUnit } = store.view;
  const set = (change: object) => {
    // Where none was found: the middle of the detector.
    const [rows, cols] = dataset?.detector ?? [1, 1];
    const { row, col, radius } = { row: (rows - 1) / 2, col: (cols - 1) / 2, radius: Math.min(rows, cols) / 8, ...store.centre.peek(), ...change };
    actions.setCentre(row, col, radius);
  };
  return (
    <Section title={panel.title}>
      <div class="numbers">
        <NumberField label="row" value={centre?.row} step={0.5} onChange={(row) => set({ row })} />
        <NumberField label="col" value={centre?.col} step={0.5} onChange={(col) => set({ col })} />
        <NumberField label="radius" value={centre?.radius} least={0.5} step={0.5} onChange={(radius) => set({ radius })} />
        <Button label="Find the centre" text="Find" keys="C" onClick={() => void actions.findCentre()} />
      </div>
      {dataset?.pixel_mrad && centre?.radius && <p class="hint">{`convergence ${(centre.radius * dataset.pixel_mrad).toFixed(2)} mrad, ${dataset.pixel_mrad.toFixed(3)} mrad per pixel`}</p>}
      {dataset?.pixel_mrad && dataset.pixel_per_angstrom && (
        <Group label="Unit of the diffraction panel">
          {(["mrad", "1/A"] as const).map((name) => (
            <Button key={name} label={name === "mrad" ? "Angles in mrad" : "Spatial frequencies in 1/\u00c5"} text={name === "mrad" ? "mrad" : "1/\u00c5"} pressed={angleUnit.value === name} onClick={() => (angleUnit.value = name)} />
          ))}
        </Group>
      )}
    </Section>
  );
}

/** Which patterns are summed, averaged or searched for their largest value. */
export function RegionSection({ panel }: { panel: PanelDescription }) {
  const { store, actions } = useScan();
  const { region, reduction, patternSource } = store.view;
  const regions = offeredShapes(store.shared.page.value).filter(({ kind }) => toolsOf({ kind }).region);
  return (
    <Section title={panel.title}>
      <div class="line">
        <Group label="Region">
          <Button label="The whole scan" text="All" pressed={region.value === null} onClick={() => actions.chooseRegion(null)} />
          {regions.map(({ kind, help }) => (
            <Button key={kind} label={toolsOf({ kind }).label} tip={help} icon={kind} pressed={region.value?.kind === kind} onClick={() => actions.chooseRegion(kind)} />
          ))}
        </Group>
        <Group label="Pattern of the region">
          {(["sum", "mean", "max"] as const).map((name) => (
            <Button key={name} label={`${name} of the region's patterns`} text={name} pressed={patternSource.value === "region" && reduction.value === name} onClick={() => actions.setReduction(name)} />
          ))}
        </Group>
      </div>
      {region.value && <ShapeNumbers shape={region.value} onChange={(change) => actions.setRegion({ ...region.peek(), ...change } as Shape)} />}
      {region.value && numbersOf(region.value).length === 0 && <p class="hint">{`middle at ${describePlace(region.value)}`}</p>}
    </Section>
  );
}

const ARRANGEMENTS: { name: View["arrangement"]; text: string; label: string }[] = [
  { name: "single", text: "Single", label: "The active detector's image" },
  { name: "grid", text: "Grid", label: "Images of all detectors" },
  { name: "rgb", text: "RGB", label: "Three images as red, green and blue" },
];

/** Which images are side by side, and how contrast is set. */
export function ArrangementSection({ panel }: { panel: PanelDescription }) {
  const { store, actions } = useScan();
  const { arrangement, linked, display, detectors } = store.view;
  const focus = store.focus.value;
  const name = displayName(store, focus);
  const settings = display.value[name];
  const titles = { image: "real space", pattern: "diffraction", spectrum: "FFT" };
  return (
    <Section title={panel.title}>
      <div class="line">
        <Group label="Images">
          {ARRANGEMENTS.map(({ name, text, label }) => (
            <Button key={name} label={label} text={text} keys={name === "grid" ? "G" : undefined} pressed={arrangement.value === name} onClick={() => (arrangement.value = name)} />
          ))}
        </Group>
        <Button label="Fourier transform of the active image" text="FFT" keys="F" pressed={store.view.spectrumOn.value} onClick={() => actions.setSpectrum(!store.view.spectrumOn.value)} />
      </div>
      {arrangement.value === "rgb" && (
        <p class="hint">
          {detectors.value.slice(0, 3).map((one, i) => (
            <span key={one.channel}>
              {RGB[i].name}: <b class="swatch" style={{ background: RGB[i].colour }}>{one.channel + 1}</b> {nameOf(one)}{" "}
            </span>
          ))}
        </p>
      )}
      <div class="numbers">
        <NumberField label="from" unit="%" value={settings.lowPercent} least={0} most={100} step={0.5} onChange={(lowPercent) => actions.display(name, { lowPercent, contrast: "auto" })} />
        <NumberField label="to" unit="%" value={settings.highPercent} least={0} most={100} step={0.5} onChange={(highPercent) => actions.display(name, { highPercent, contrast: "auto" })} />
        <Button label={`Automatic contrast of ${titles[focus]}`} text="Auto" keys="Alt+A" pressed={settings.contrast === "auto"} onClick={() => actions.display(name, { contrast: "auto" })} />
      </div>
      <p class="hint">{`contrast of ${titles[focus]}, in percentiles`}</p>
      <Check label="Same contrast for images of one detector" checked={linked.value} onChange={(on) => (linked.value = on)} />
    </Section>
  );
}

/** Several data sets under one detector. */
export function CompareSection({ panel }: { panel: PanelDescription }) {
  const { store, actions } = useScan();
  const { compared, comparison, starred } = store.view;
  const all = store.datasets.value;
  if (all.length < 2) return store.shared.can("open") ? <OpenSection title={panel.title} /> : null;
  const listed = store.listed.value;
  const hidden = all.filter(({ id }) => store.view.hidden.value.includes(id));
  const tick = (id: number, on: boolean) => actions.setCompared(on ? [...compared.value, id] : compared.value.filter((one) => one !== id));
  return (
    <Section title={panel.title}>
      <ul class="datasets">
        {listed.map((dataset, i) => (
          <li key={dataset.id}>
            <Check label={`Compare ${dataset.label}`} checked={compared.value.includes(dataset.id)} onChange={(on) => tick(dataset.id, on)} />
            <button type="button" class="quiet name" aria-pressed={dataset.id === store.view.dataset.value} title={dataset.source} onClick={() => actions.chooseDataset(dataset.id)}>
              {dataset.label}
            </button>
            <Button quiet label={`Star ${dataset.label}`} icon="star" filled={starred.value.includes(dataset.id)} pressed={starred.value.includes(dataset.id)} onClick={() => actions.toggle("starred", dataset.id)} />
            <Button quiet label={`Move ${dataset.label} up`} icon="up" disabled={i === 0} onClick={() => actions.reorder(dataset.id, -1)} />
            <Button quiet label={`Move ${dataset.label} down`} icon="down" disabled={i === listed.length - 1} onClick={() => actions.reorder(dataset.id, 1)} />
            <Button quiet label={`Hide ${dataset.label}`} icon="hide" onClick={() => actions.toggle("hidden", dataset.id)} />
          </li>
        ))}
      </ul>
      {hidden.map((dataset) => (
        <Button key={dataset.id} label={`Show ${dataset.label} again`} text={`Show ${dataset.label}`} onClick={() => actions.toggle("hidden", dataset.id)} />
      ))}
      <Select
        label="Comparison"
        value={comparison.value}
        options={[
          { name: "side", text: "side by side" },
          { name: "difference", text: "first \u2212 second" },
          { name: "ratio", text: "first / second" },
        ]}
        onChange={(name) => (comparison.value = name)}
      />
      <OpenField />
    </Section>
  );
}

function OpenSection({ title }: { title: string }) {
  return (
    <Section title={title} open={false}>
      <OpenField />
    </Section>
  );
}

/** A further file, below those that the program was started with. */
function OpenField() {
  const { actions } = useScan();
  return (
    <label class="expression">
      <span>Open another file</span>
      <input
        type="text"
        spellcheck={false}
        placeholder="path"
        onKeyDown={(event) => {
          const path = event.currentTarget.value.trim();
          if (event.key === "Enter" && path !== "") void actions.open(path);
        }}
      />
    </label>
  );
}

/** What the program knows of the data and what it chose by itself, with reasons. */
export function DataSection({ panel }: { panel: PanelDescription }) {
  const { store } = useScan();
  const dataset = store.dataset.value;
  if (!dataset?.scan || !dataset.detector) return null;
  const facts: [string, string][] = [
    ["scan", dataset.scan.join(" \u00d7 ")],
    ["detector", dataset.detector.join(" \u00d7 ")],
  ];
  if (dataset.dtype) facts.push(["type", dataset.dtype]);
  if (dataset.layout) facts.push(["layout", dataset.layout]);
  if (dataset.det_bin && dataset.det_bin > 1) facts.push(["detector binning", String(dataset.det_bin)]);
  if (dataset.scan_bin && dataset.scan_bin > 1) facts.push(["scan binning", String(dataset.scan_bin)]);
  if (dataset.scan_step_nm) facts.push(["scan step", `${dataset.scan_step_nm.map((step) => Number(step.toPrecision(4))).join(" \u00d7 ")} nm`]);
  if (dataset.bad_pixels?.length) facts.push(["bad pixels", String(dataset.bad_pixels.length)]);
  return (
    <Section title={panel.title} open={false}>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
        {dataset.choices?.map(({ what, value, because }) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd>
              {String(value)} <span class="hint">{because}</span>
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

// SPDX-License-Identifier: Apache-2.0
import { formatBytes, formatDuration } from "../display/readout";
import type { PanelDescription } from "../protocol/messages";
import type { Dataset, HeldItem, Memory } from "../protocol/scans";
import { Button, Select } from "./controls";
import { useScan } from "./scan";

/** Which data are shown. */
export function DatasetChoice({ panel }: { panel: PanelDescription }) {
  const { store, actions } = useScan();
  const datasets = store.listed.value;
  const current = store.view.dataset.value;
  if (datasets.length < 2 || current === null) return <span class="title">{store.dataset.value?.label ?? store.shared.page.value?.title}</span>;
  const options = datasets.map(({ id, label, error }) => ({ name: String(id), text: error ? `${label} (failed)` : label }));
  return <Select hiddenLabel label={panel.title} value={String(current)} options={options} onChange={(id) => actions.chooseDataset(Number(id))} />;
}

/** How far loading is; else what is held of the memory. */
export function MemoryPanel() {
  const { store } = useScan();
  const dataset = store.dataset.value;
  return dataset?.loading ? <Progress dataset={dataset} /> : <MemoryLine />;
}

function Progress({ dataset }: { dataset: Dataset }) {
  const { stage, fraction, bytes_per_s: rate, remaining_s: rest } = dataset.loading ?? { stage: "", fraction: 0 };
  const percent = Math.round(100 * fraction);
  const text = [`${stage || "loading"} ${percent} %`, rate ? `${formatBytes(rate)}/s` : "", rest ? `${formatDuration(rest)} left` : ""].filter(Boolean).join(", ");
  return (
    <span class="loading">
      <progress value={fraction} max={1} aria-label={`Loading ${dataset.label}`} />
      <span class="hint">{text}</span>
    </span>
  );
}

/** What is held against the budget; behind it, what each item holds. */
function MemoryLine() {
  const { store, actions } = useScan();
  const memory = store.memory.value;
  const dataset = store.dataset.value;
  if (memory?.resident === undefined) return null;
  const text = `memory ${formatBytes(memory.resident)}${memory.budget ? ` of ${formatBytes(memory.budget)}` : ""}`;
  const item = store.view.item.value;
  const several = (dataset?.items?.length ?? 0) > 1;
  return (
    <span class="memory">
      {memory.items?.length ? (
        <details class="held">
          <summary class="hint">{text}</summary>
          <HeldItems memory={memory} items={memory.items} />
        </details>
      ) : (
        <span class="hint">{text}</span>
      )}
      {dataset && !dataset.error && !dataset.waiting && (
        <Button quiet label={several ? "Release this item's memory" : "Release the data set's memory"} text="Release" onClick={() => void actions.release(dataset, several ? item : undefined)} />
      )}
    </span>
  );
}

function HeldItems({ memory, items }: { memory: Memory; items: HeldItem[] }) {
  const { store, actions } = useScan();
  return (
    <div class="popover">
      <ul aria-label="Memory by item">
        {items.map(({ dataset: id, item, label, resident }) => {
          const dataset = store.datasets.value.find((one) => one.id === id);
          return (
            <li key={`${id}/${item}`}>
              <span class="name">{label}</span>
              <span class="hint">{formatBytes(resident)}</span>
              {dataset && <Button quiet label={`Release the memory of ${label}`} text="Release" onClick={() => void actions.release(dataset, item)} />}
            </li>
          );
        })}
      </ul>
      {memory.process !== undefined && <p class="hint">{`the program in all ${formatBytes(memory.process)}${memory.peak ? `, at most ${formatBytes(memory.peak)} of data` : ""}`}</p>}
    </div>
  );
}

// SPDX-License-Identifier: Apache-2.0
import { formatBytes, formatDuration } from "../display/readout";
import type { Dataset, HeldItem, Memory } from "../protocol/messages";
import { Button, Select } from "./controls";
import { useViewer } from "./context";

/** Which data are shown, what they hold of the memory, and the connection. */
export function TopBar() {
  const { store } = useViewer();
  const page = store.page.value;
  return (
    <header class="top">
      <h1>sonde</h1>
      <DatasetChoice title={page?.title ?? ""} />
      <span class="spring" />
      {store.dataset.value?.loading ? <Progress dataset={store.dataset.value} /> : <MemoryLine />}
      <ConnectionState />
      {page?.view === "stem" && (
        <>
          <Button label="Export" icon="export" keys="E" onClick={() => (store.dialog.value = "export")} />
          <Button label="Help" icon="help" keys="?" onClick={() => (store.dialog.value = "help")} />
        </>
      )}
    </header>
  );
}

function DatasetChoice({ title }: { title: string }) {
  const { store, actions } = useViewer();
  const datasets = store.listed.value;
  const current = store.view.dataset.value;
  if (datasets.length < 2 || current === null) return <span class="title">{store.dataset.value?.label ?? title}</span>;
  const options = datasets.map(({ id, label, error }) => ({ name: String(id), text: error ? `${label} (failed)` : label }));
  return <Select hiddenLabel label="Data set" value={String(current)} options={options} onChange={(id) => actions.chooseDataset(Number(id))} />;
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
  const { store, actions } = useViewer();
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
  const { store, actions } = useViewer();
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

function ConnectionState() {
  const { store } = useViewer();
  const { status } = store.status.value;
  const text = { open: "connected", connecting: "connecting", lost: "no connection", closed: "closed" }[status];
  return (
    <span class={`connection ${status}`} role="status">
      <span class="dot" aria-hidden="true" />
      {text}
    </span>
  );
}

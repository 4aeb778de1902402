// SPDX-License-Identifier: Apache-2.0
import { formatBytes, formatDuration } from "../display/readout";
import type { PanelDescription } from "../protocol/messages";

interface Bar {
  name: string;
  depth?: number;
  value: number;
  note?: string;
  parts?: { name: string; value: number }[];
  fractions?: { of: string; value: number }[];
  limit?: number;
}

// Panels whose numbers and words came with the page: facts, bars, tables and texts.

interface FactsOptions {
  facts?: { name: string; value: string }[];
}

export function Facts({ panel }: { panel: PanelDescription }) {
  const { facts = [] } = (panel.options ?? {}) as FactsOptions;
  return (
    <dl class="facts wide">
      {facts.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function amount(value: number, unit: string): string {
  if (unit === "B") return formatBytes(value);
  if (unit !== "s") return `${Number(value.toPrecision(4))} ${unit}`;
  if (value >= 60) return formatDuration(value);
  if (value >= 1) return `${Number(value.toPrecision(4))} s`;
  return value >= 1e-3 ? `${Number((value * 1e3).toPrecision(4))} ms` : `${Number((value * 1e6).toPrecision(4))} \u00b5s`;
}

interface ChartOptions {
  unit?: string;
  bars?: Bar[];
}

export function Chart({ panel }: { panel: PanelDescription }) {
  const { unit = "", bars = [] } = (panel.options ?? {}) as ChartOptions;
  const most = Math.max(1e-300, ...bars.flatMap(({ value, limit }) => [value, limit ?? 0]));
  const width = (value: number) => `${((100 * value) / most).toFixed(3)}%`;
  return (
    <ul class="chart">
      {bars.map((bar, i) => (
        <li key={i}>
          <span class="name" style={{ paddingLeft: `${1.2 * (bar.depth ?? 0)}em` }}>
            {bar.name}
          </span>
          <span class="track" aria-hidden="true">
            {bar.limit !== undefined && <span class="limit" style={{ width: width(bar.limit) }} />}
            {(bar.parts?.length ? bar.parts : [{ name: "steady", value: bar.value }]).map((part) => (
              <span key={part.name} class={`part ${part.name}`} title={`${part.name} ${amount(part.value, unit)}`} style={{ width: width(part.value) }} />
            ))}
          </span>
          <span class="value">
            {amount(bar.value, unit)}
            {bar.limit !== undefined && ` of ${amount(bar.limit, unit)}`}
            <span class="hint">
              {[bar.note ?? "", ...(bar.fractions ?? []).map(({ of, value }) => `${Math.round(100 * value)} % of ${of}`)].filter(Boolean).map((text) => ` ${text}`)}
            </span>
          </span>
        </li>
      ))}
    </ul>
  );
}

type Entry = string | number | boolean | null;
interface TableOptions {
  columns?: string[];
  rows?: Entry[][];
  failed?: number[];
}

export function Table({ panel }: { panel: PanelDescription }) {
  const { columns = [], rows = [], failed = [] } = (panel.options ?? {}) as TableOptions;
  const text = (entry: Entry) => (typeof entry === "boolean" ? (entry ? "yes" : "no") : entry === null ? "" : String(entry));
  return (
    <div class="table">
      <table>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i} class={failed.includes(i) ? "failed" : undefined}>
              {row.map((entry, j) => (
                <td key={j} class={typeof entry === "number" ? "number" : undefined}>
                  {text(entry)}
                  {j === 0 && failed.includes(i) && <strong> failed</strong>}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function TextPanel({ panel }: { panel: PanelDescription }) {
  return <pre class="text">{String(panel.options?.text ?? "")}</pre>;
}

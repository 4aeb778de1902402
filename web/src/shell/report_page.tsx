// SPDX-License-Identifier: Apache-2.0
import { formatBytes, formatDuration } from "../display/readout";
import { useViewer } from "../panels/context";
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

/** A report of a command, in the order in which the server lists its panels. */
export function ReportPage() {
  const { store } = useViewer();
  return (
    <main class="report">
      {store.page.value?.panels.map((panel) => (
        <section key={panel.id} class="panel" aria-label={panel.title}>
          <header>
            <h2>{panel.title}</h2>
          </header>
          <Body panel={panel} />
        </section>
      ))}
    </main>
  );
}

function Body({ panel: { type, options = {} } }: { panel: PanelDescription }) {
  if (type === "facts") return <Facts facts={(options.facts ?? []) as { name: string; value: string }[]} />;
  if (type === "chart") return <Chart unit={String(options.unit ?? "")} bars={(options.bars ?? []) as Bar[]} />;
  if (type === "table") return <Table {...(options as unknown as TableOptions)} />;
  return <p class="hint">{`This page cannot show a panel of type "${type}".`}</p>;
}

function Facts({ facts }: { facts: { name: string; value: string }[] }) {
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

function Chart({ unit, bars }: { unit: string; bars: Bar[] }) {
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

function Table({ columns = [], rows = [], failed = [] }: TableOptions) {
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

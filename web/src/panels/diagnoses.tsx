// SPDX-License-Identifier: Apache-2.0
import type { PanelDescription } from "../protocol/messages";

/** One thing that may be wrong; cause and fix where it is. */
export interface Diagnosis {
  name: string;
  /** Absent where it is unknown. */
  value?: number;
  threshold: number;
  verdict: "good" | "suspect" | "unknown";
  cause?: string;
  fix?: string;
}

/** Suspects first, what is not known last; each kind as it came. */
export function bySeverity(diagnoses: Diagnosis[]): Diagnosis[] {
  const order = ["suspect", "good", "unknown"];
  return [...diagnoses].sort((a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict));
}

/** What may be wrong with a run: value against threshold, and of suspects the cause and what to do. */
export function DiagnosesPanel({ panel }: { panel: PanelDescription }) {
  const { diagnoses = [] } = (panel.options ?? {}) as { diagnoses?: Diagnosis[] };
  const number = (value: number) => String(Number(value.toPrecision(3)));
  return (
    <ul class="diagnoses">
      {bySeverity(diagnoses).map(({ name, value, threshold, verdict, cause, fix }) => (
        <li key={name}>
          <span class={`chip ${verdict}`}>{verdict}</span>
          <span class="name">{name.replaceAll("_", " ")}</span>
          <span class="hint">{value === undefined ? "" : `${number(value)}, limit ${number(threshold)}`}</span>
          {cause && <p>{cause}</p>}
          {fix && <p class="fix">{fix}</p>}
        </li>
      ))}
    </ul>
  );
}

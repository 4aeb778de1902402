// SPDX-License-Identifier: Apache-2.0
import type { PanelDescription } from "../protocol/messages";
import { Button, CarefulButton } from "./controls";
import { useViewer } from "./context";

interface RunOptions {
  /** In a word: "running", "converged". Absent before the first step. */
  state?: string;
  over?: boolean;
  because?: string;
  done?: number;
  total?: number;
  /** What is counted: "iteration", or of many "iterations". */
  unit?: string;
  units?: string;
  note?: string;
  facts?: { name: string; value: string }[];
  paused?: boolean;
  stopping?: boolean;
  /** Whether work that is stopped keeps what it has. */
  keeps?: boolean;
}

/** "iteration 5 of 20, gd", "solving: 5 of 20 points". */
export function howFar({ done, total, units, note }: RunOptions, unit: string): string {
  if (!done) return note ?? "";
  const count = `${done}${total ? ` of ${total}` : ""}`;
  if (units) return `${note ? `${note}: ` : ""}${count} ${units}`;
  return `${unit} ${count}${note ? `, ${note}` : ""}`;
}

/** How far work is, its last numbers, and what can be asked of it. */
export function RunBar({ panel }: { panel: PanelDescription }) {
  const { store, session } = useViewer();
  const run = (panel.options ?? {}) as RunOptions;
  const ended = store.ended.value;
  const over = run.over === true || ended;
  const can = (command: string) => !over && store.can(command);
  const unit = run.unit ?? "step";
  const state = run.over ? run.state : ended ? "ended" : run.stopping ? "ending" : run.paused ? "paused" : run.state ? "running" : `waiting for the first ${unit}`;
  return (
    <>
      <strong role="status">{state}</strong>
      <span>{howFar(run, unit)}</span>
      <progress value={run.done ?? 0} max={run.total || Math.max(1, run.done ?? 1)} aria-label="Progress" />
      <dl class="numbers">
        {run.facts?.map(({ name, value }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <span class="spring" />
      {can("pause") && <Button label={run.paused ? "Go on" : `Pause between two ${unit}s`} text={run.paused ? "Resume" : "Pause"} onClick={() => session.send(run.paused ? "resume" : "pause")} />}
      {can("restart") && <CarefulButton label="Begin again with the settings as they are; what was reached is lost" text="Restart" question="Begin again?" onClick={() => session.send("restart")} />}
      {can("stop") && run.keeps === false && <CarefulButton label="End the work now; files that are not complete are removed" text="Stop" question="Stop the work?" onClick={() => session.send("stop")} />}
      {can("stop") && run.keeps !== false && <Button label="End the run now and write its result" text="Stop and save" disabled={run.stopping} onClick={() => session.send("stop")} />}
      {over && run.because && <span class="hint">{run.because}</span>}
    </>
  );
}

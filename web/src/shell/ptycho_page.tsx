// SPDX-License-Identifier: Apache-2.0
import { Button, CarefulButton } from "../panels/controls";
import { useViewer } from "../panels/context";
import { Diagnoses } from "../panels/diagnoses";
import { ErrorCurves } from "../panels/error_curves";
import { FrameView } from "../panels/frame_view";
import { MoveArrows, movesInWords } from "../panels/move_arrows";
import { RunSettingsPanel } from "../panels/run_settings";
import { FrameKind } from "../protocol/frame";
import type { RunState } from "../protocol/messages";

/** A reconstruction while it works: object, probe, errors, and what a person can do about it. */
export function PtychoPage() {
  const { store } = useViewer();
  const run = store.run.value ?? {};
  const settings = store.settings.value;
  const phase = store.frame(FrameKind.image, 0, 0).value;
  const amplitude = store.frame(FrameKind.image, 0, 1).value;
  const modes = Array.from({ length: 16 }, (_, channel) => store.frame(FrameKind.probe, 0, channel).value).filter((frame) => frame !== null);
  const calibration = run.pixel_nm ? { perPixel: run.pixel_nm, unit: "nm" } : undefined;
  const ofProbe = run.probe_pixel_nm ? { perPixel: run.probe_pixel_nm, unit: "nm" } : undefined;
  return (
    <main class="ptycho">
      <RunBar run={run} />
      <section class="panel object" aria-label="Object">
        <FrameView label="Phase" frame={phase} colours="gray" calibration={calibration} unit="rad">
          {run.moves && phase && <MoveArrows moves={run.moves} rows={phase.rows} cols={phase.cols} />}
        </FrameView>
        <FrameView label="Amplitude" frame={amplitude} colours="gray" calibration={calibration} />
        {run.moves && <p class="hint moves">{movesInWords(run.moves)}</p>}
      </section>
      <section class="panel probe" aria-label="Probe">
        <header>
          <h2>Probe</h2>
          <span class="hint">amplitude</span>
        </header>
        <div class="modes">
          {modes.map((frame) => (
            <FrameView key={frame.channel} label={modes.length > 1 ? `Mode ${frame.channel + 1}` : "Probe"} frame={frame} colours="magma" calibration={ofProbe} />
          ))}
        </div>
      </section>
      <section class="panel errors" aria-label="Errors">
        <header>
          <h2>Errors</h2>
        </header>
        {run.curves && <ErrorCurves curves={run.curves} floor={run.floor ?? 0} iterations={run.iterations ?? 1} />}
      </section>
      <aside>
        <section class="panel" aria-label="Diagnoses">
          <header>
            <h2>Diagnoses</h2>
            <span class="hint">{suspectsInWords(run)}</span>
          </header>
          <Diagnoses diagnoses={run.diagnoses ?? []} />
        </section>
        {settings && settings.settings.length > 0 && (
          <section class="panel" aria-label="Settings">
            <header>
              <h2>Settings</h2>
              <span class="hint">from the next iteration on</span>
            </header>
            <RunSettingsPanel {...settings} over={isOver(run)} />
          </section>
        )}
      </aside>
    </main>
  );
}

function isOver({ outcome }: RunState): boolean {
  return outcome !== undefined && outcome !== "running";
}

function suspectsInWords({ diagnoses }: RunState): string {
  if (!diagnoses) return "";
  const count = diagnoses.filter(({ verdict }) => verdict === "suspect").length;
  return count === 0 ? "nothing stands out" : `${count} suspect`;
}

function RunBar({ run }: { run: RunState }) {
  const { actions } = useViewer();
  const over = isOver(run);
  const last = run.curves?.R_I.at(-1);
  const free = run.curves?.R_free.at(-1);
  const facts: [string, string][] = [];
  if (last !== undefined) facts.push(["R_I", last.toFixed(4)]);
  if (last !== undefined && run.floor) facts.push(["of its floor", `${(last / run.floor).toFixed(2)} \u00d7`]);
  if (free !== null && free !== undefined) facts.push(["R_free", free.toFixed(4)]);
  if (run.power_total !== undefined) facts.push(["power", `\u00d7 ${run.power_total.toFixed(3)}`]);
  if (run.seconds !== undefined) facts.push(["each", run.seconds >= 1 ? `${run.seconds.toFixed(2)} s` : `${(1000 * run.seconds).toFixed(0)} ms`]);
  const state = over ? run.outcome : run.stopping ? "ending" : run.paused ? "paused" : run.iteration ? "running" : "waiting for the first iteration";
  return (
    <section class="panel run" aria-label="Run">
      <strong role="status">{state}</strong>
      <span>{run.iteration ? `iteration ${run.iteration} of ${run.iterations ?? "?"}${run.engine ? `, ${run.engine}` : ""}` : ""}</span>
      <progress value={run.iteration ?? 0} max={run.iterations ?? 1} aria-label="Iterations" />
      <dl class="numbers">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <span class="spring" />
      {!over && <Button label={run.paused ? "Go on" : "Pause between two iterations"} text={run.paused ? "Resume" : "Pause"} onClick={() => actions.tellRun(run.paused ? "resume" : "pause")} />}
      {!over && <CarefulButton label="Begin again with the settings as they are; what was reached is lost" text="Restart" question="Begin again?" onClick={() => actions.tellRun("restart")} />}
      {!over && <Button label="End the run now and write its result" text="Stop and save" disabled={run.stopping} onClick={() => actions.tellRun("stop")} />}
      {over && run.because && <span class="hint">{run.because}</span>}
    </section>
  );
}

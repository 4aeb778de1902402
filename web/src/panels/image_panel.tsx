// SPDX-License-Identifier: Apache-2.0
import { useComputed } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import type { PanelName, Tool } from "../model/view";
import { FrameKind } from "../protocol/frame";
import { Button, Group } from "./controls";
import { useViewer } from "./context";
import { useScan } from "./scan";
import { DisplayBar } from "./display_bar";
import { Gestures } from "./gestures";
import { HistogramStrip } from "./histogram_strip";
import type { IconName } from "./icons";
import { ReadoutLine } from "./readout_line";
import { Stage } from "./stage";

const TOOLS: Record<PanelName, { tool: Tool; icon: IconName; label: string }[]> = {
  image: [
    { tool: "move", icon: "probe", label: "Move the probe" },
    { tool: "region", icon: "region", label: "Draw and move the region" },
    { tool: "line", icon: "line", label: "Line profile" },
    { tool: "pan", icon: "pan", label: "Pan" },
  ],
  pattern: [
    { tool: "move", icon: "move", label: "Move and change the detector" },
    { tool: "centre", icon: "centre", label: "Move the centre of the beam" },
    { tool: "line", icon: "line", label: "Line profile" },
    { tool: "pan", icon: "pan", label: "Pan" },
  ],
  spectrum: [
    { tool: "pan", icon: "pan", label: "Pan" },
    { tool: "line", icon: "line", label: "Line profile" },
  ],
};

const HELP: Record<PanelName, string> = {
  image: "Arrow keys move the probe, with Shift by ten.",
  pattern: "W, A, S and D move the detector, with Shift by ten; plus and minus change its radius.",
  spectrum: "R shows all of it again.",
};

interface Props {
  name: PanelName;
  title: string;
  children?: ComponentChildren;
}

/** Images with everything that belongs to them: tools, read-out, histogram, colours. */
export function ImagePanel({ name, title, children }: Props) {
  const { drawing } = useViewer();
  const { store, actions, stages } = useScan();
  const base = useRef<HTMLCanvasElement>(null);
  const lines = useRef<HTMLCanvasElement>(null);
  const [stage, setStage] = useState<Stage | null>(null);

  useEffect(() => {
    if (!base.current || !lines.current) return;
    const made = new Stage(store, name, base.current, lines.current, drawing);
    new Gestures(made, actions);
    stages.set(name, made);
    setStage(made);
    return () => {
      stages.delete(name);
      made.dispose();
    };
  }, []);

  const tool = store.tool.value[name];
  const focused = store.focus.value === name;
  return (
    <section class={focused ? "panel focused" : "panel"} aria-label={title} onFocusIn={() => (store.focus.value = name)}>
      <header>
        <h2>{title}</h2>
        {children}
        <Group label={`Tools of ${title}`}>
          {TOOLS[name].map((one) => (
            <Button key={one.tool} label={one.label} icon={one.icon} pressed={tool === one.tool} onClick={() => actions.setTool(name, one.tool)} />
          ))}
          <Button label="Show all of it" icon="reset" keys="R" onClick={() => actions.resetZoom(name)} />
        </Group>
      </header>
      <div class={`images tool-${tool}`} data-panel={name}>
        <canvas ref={base} aria-hidden="true" />
        <canvas ref={lines} class="lines" tabIndex={0} role="application" aria-label={`${title}. ${HELP[name]}`} />
        {stage && <Waiting stage={stage} />}
        <p class="unseen" role="status">
          {stage?.earlier.value}
        </p>
      </div>
      {stage && (
        <footer>
          <ReadoutLine stage={stage} />
          <HistogramStrip stage={stage} />
          <DisplayBar stage={stage} />
        </footer>
      )}
    </section>
  );
}

/** Says why there is no image. */
function Waiting({ stage }: { stage: Stage }) {
  const { store, actions } = useScan();
  // An image that has come is followed by others: only that there is one matters.
  const there = useComputed(() => {
    const dataset = store.dataset.value;
    if (!dataset || stage.panel === "spectrum") return stage.panel === "spectrum";
    const kind = stage.panel === "image" ? FrameKind.image : FrameKind.pattern;
    return store.frame(kind, dataset.id, stage.panel === "image" ? store.view.active.value : 0).value !== null;
  });
  if (there.value) return null;
  const dataset = store.dataset.value;
  const failed = stage.panel === "image" ? store.failed.value[store.view.active.value] : undefined;
  const broken = store.problem.value;
  if (broken)
    return (
      <div class="waiting problem" role={stage.panel === "image" ? "alert" : undefined}>
        <p>{broken}</p>
        <Button label="Try to load it again" text="Try again" onClick={() => actions.scan.sendItem()} />
      </div>
    );
  if (dataset?.waiting) return <p class="waiting">{`Waiting for the first scan in ${dataset.source ?? dataset.label}`}</p>;
  if (failed) return <p class="waiting problem">{failed.message}</p>;
  return <p class="waiting">{dataset?.loading ? "Loading" : store.shared.status.value.status === "open" ? "" : "Waiting for the server"}</p>;
}

// SPDX-License-Identifier: Apache-2.0
import { useComputed, useSignal } from "@preact/signals";

import { fromStateFile, renumbered, toStateFile } from "../model/state_file";
import { Button, Check, Select } from "../panels/controls";
import { Dialog } from "../panels/dialog";
import { useScan } from "../panels/scan";
import type { PanelDescription } from "../protocol/messages";
import { pictureFile, save } from "./picture_file";

type What = "image" | "pattern" | "spectrum" | "profile" | "series" | "snapshot";

const SCREEN = { name: "screen", text: "PNG as on the screen" };
/** Exact numbers come from the server, pictures from the screen. */
const VALUES = [
  { name: "tiff", text: "TIFF, exact values" },
  { name: "npy", text: "NPY, exact values" },
  { name: "csv", text: "CSV, exact values" },
  { name: "png", text: "PNG by the program" },
];

const FORMATS: Record<What, { name: string; text: string }[]> = {
  image: [SCREEN, ...VALUES],
  pattern: [SCREEN, ...VALUES],
  spectrum: [SCREEN, ...VALUES],
  profile: [
    { name: "csv", text: "CSV" },
    { name: "npy", text: "NPY" },
    { name: "json", text: "JSON" },
  ],
  series: [
    { name: "zip", text: "PNG sequence (ZIP)" },
    { name: "tiff", text: "TIFF of many pages" },
    { name: "npy", text: "NPY" },
  ],
  snapshot: [{ name: "html", text: "HTML" }],
};

const NAMES: Record<What, string> = {
  image: "Image of the active detector",
  pattern: "Diffraction pattern",
  spectrum: "FFT",
  profile: "Line profile",
  series: "Images of the whole series",
  snapshot: "Everything that is shown, as one page",
};

export function ExportPanel({ panel }: { panel: PanelDescription }) {
  return (
    <Dialog id={panel.id} title={panel.title}>
      <Choices />
    </Dialog>
  );
}

function Choices() {
  const { store, actions, stages } = useScan();
  const what = useSignal<What>("image");
  const format = useSignal("screen");
  const scaleBar = useSignal(true);
  const colourBar = useSignal(true);
  const lines = useSignal(false);
  const busy = useSignal(false);
  const formats = FORMATS[what.value];
  // A format that what was chosen does not have gives way to the first that it has.
  const chosen = useComputed(() => (FORMATS[what.value].find(({ name }) => name === format.value) ?? FORMATS[what.value][0]).name);
  const there = (name: What) =>
    (name !== "spectrum" || store.view.spectrumOn.value) &&
    (name !== "profile" || store.view.profile.value !== null) &&
    (name !== "series" || (store.dataset.value?.items?.length ?? 0) > 1);

  const attempt = async (work: () => Promise<void>) => {
    busy.value = true;
    try {
      await work();
    } catch (problem) {
      actions.session.confusion(problem);
    }
    busy.value = false;
  };
  const run = () =>
    attempt(async () => {
      // What is set now: what is drawn may be a moment older.
      const [of, as] = [what.peek(), chosen.peek()];
      if (as === "screen") {
        const stage = stages.get(of as "image" | "pattern" | "spectrum");
        if (stage) save(`${of}.png`, await pictureFile(stage, { scaleBar: scaleBar.peek(), lines: lines.peek(), colourBar: colourBar.peek() }));
        return;
      }
      // The diffraction panel shows one of two patterns.
      const source = of === "pattern" && store.view.patternSource.peek() === "region" ? "region" : of;
      const file = await actions.session.requestFile({ what: source, format: as, channel: store.view.active.peek() });
      save(file.name, new Blob([file.bytes], { type: file.type }));
    });
  const saveState = () =>
    attempt(async () => {
      const { state } = await actions.session.request("save_state", { view: toStateFile(store.snapshot()) });
      save("sonde-view.json", new Blob([JSON.stringify(state, null, 1)], { type: "application/json" }));
    });
  const loadState = (file: File) =>
    attempt(async () => {
      const { view, numbers } = await actions.session.request("load_state", { state: JSON.parse(await file.text()) as unknown });
      store.apply(renumbered(fromStateFile(view), numbers as number[]));
      actions.scan.sendAll();
      store.shared.dialog.value = null;
    });

  return (
    <>
      <Select label="What" value={what.value} options={(Object.keys(NAMES) as What[]).filter(there).map((name) => ({ name, text: NAMES[name] }))} onChange={(name) => (what.value = name)} />
      <Select label="As" value={chosen.value} options={formats} onChange={(name) => (format.value = name)} />
      {chosen.value === "screen" && (
        <div class="line">
          <Check label="Scale bar" checked={scaleBar.value} onChange={(on) => (scaleBar.value = on)} />
          <Check label="Colour bar" checked={colourBar.value} onChange={(on) => (colourBar.value = on)} />
          <Check label="Lines and names" checked={lines.value} onChange={(on) => (lines.value = on)} />
        </div>
      )}
      <div class="line">
        <button type="button" class="primary" disabled={busy.value} onClick={() => void run()}>
          Save file
        </button>
      </div>
      <hr />
      <p class="hint">
        The state holds every control of this page. <code>sonde stem image --state</code> makes its images again on the command line.
      </p>
      <div class="line">
        <Button label="Save the state" text="Save state" disabled={busy.value} onClick={() => void saveState()} />
        <label class="button">
          Load state
          <input
            class="unseen"
            type="file"
            accept="application/json,.json"
            onChange={(event) => {
              const [file] = event.currentTarget.files ?? [];
              if (file) void loadState(file);
            }}
          />
        </label>
      </div>
    </>
  );
}

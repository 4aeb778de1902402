// SPDX-License-Identifier: Apache-2.0
import { delays } from "../measure/delays";
import { PRESETS } from "../model/detectors";
import type { Actions } from "./actions";
import { displayName } from "./contents";
import { atKey } from "./painter";

export interface Stroke {
  key: string;
  shift: boolean;
  alt: boolean;
}

interface Binding {
  /** As KeyboardEvent.key, letters in lower case. */
  keys: string[];
  /** For the help page; a key that another binding's line speaks of has neither. */
  shown?: string;
  help?: string;
  alt?: boolean;
  /** Only while this says so; the next binding with the key gets it otherwise. */
  when?(actions: Actions): boolean;
  run(actions: Actions, stroke: Stroke): void;
}

const far = ({ shift }: Stroke) => (shift ? 10 : 1);
const inPattern = ({ store }: Actions) => store.focus.peek() === "pattern";
const focused = ({ store }: Actions) => displayName(store, store.focus.peek());
const auto = (actions: Actions) => actions.display(focused(actions), { contrast: "auto" });

/** The only list of keys: what they do, and what the help says of them. */
export const BINDINGS: Binding[] = [
  { keys: ["ArrowUp"], shown: "\u2191 \u2193 \u2190 \u2192", help: "move the probe (Shift: by ten)", run: (actions, stroke) => actions.stepCursor(-far(stroke), 0) },
  { keys: ["ArrowDown"], run: (actions, stroke) => actions.stepCursor(far(stroke), 0) },
  { keys: ["ArrowLeft"], run: (actions, stroke) => actions.stepCursor(0, -far(stroke)) },
  { keys: ["ArrowRight"], run: (actions, stroke) => actions.stepCursor(0, far(stroke)) },
  { keys: ["w"], shown: "W A S D", help: "move the detector (Shift: by ten); A in the diffraction panel", run: (actions, stroke) => actions.moveDetector(-far(stroke), 0) },
  { keys: ["s"], run: (actions, stroke) => actions.moveDetector(far(stroke), 0) },
  // A has two meanings: with the detector in hand it is one of W, A, S and D.
  { keys: ["a"], alt: true, run: auto },
  { keys: ["a"], when: inPattern, run: (actions, stroke) => actions.moveDetector(0, -far(stroke)) },
  { keys: ["d"], run: (actions, stroke) => actions.moveDetector(0, far(stroke)) },
  { keys: ["+", "="], shown: "+ \u2212", help: "radius of the detector", run: (actions) => actions.growDetector(1) },
  { keys: ["-", "_"], run: (actions) => actions.growDetector(-1) },
  { keys: ["]"], shown: "[ ]", help: "inner radius of the detector", run: (actions) => actions.hollowDetector(1) },
  { keys: ["["], run: (actions) => actions.hollowDetector(-1) },
  ...PRESETS.map(({ key, label, name, help }) => ({ keys: [key], shown: key.toUpperCase(), help: `${label}, ${help}`, run: (actions: Actions) => actions.setDetector({ expr: name }) })),
  { keys: ["c"], shown: "C", help: "find the centre of the beam", run: (actions) => void actions.findCentre() },
  { keys: [","], shown: ", .", help: "previous and next item of the series", run: (actions) => actions.chooseItem(actions.store.view.item.peek() - 1) },
  { keys: ["."], run: (actions) => actions.chooseItem(actions.store.view.item.peek() + 1) },
  { keys: [" "], shown: "Space", help: "play and pause", run: (actions) => actions.setPlaying(!actions.store.playing.peek()) },
  {
    keys: ["l"],
    shown: "L",
    help: "logarithmic or linear scale",
    run: (actions) => {
      const name = focused(actions);
      const { stretch } = actions.store.view.display.peek()[name];
      actions.display(name, { stretch: stretch === "log" ? "linear" : "log" });
    },
  },
  { keys: ["a"], shown: "A", help: "automatic contrast (in the diffraction panel Alt+A)", run: auto },
  { keys: ["f"], shown: "F", help: "Fourier transform of the image", run: (actions) => actions.setSpectrum(!actions.store.view.spectrumOn.peek()) },
  {
    keys: ["g"],
    shown: "G",
    help: "images of all detectors as a grid",
    run: ({ store }) => (store.view.arrangement.value = store.view.arrangement.peek() === "grid" ? "single" : "grid"),
  },
  { keys: ["r"], shown: "R", help: "show all of the image again", run: (actions) => actions.resetZoom(actions.store.focus.peek()) },
  { keys: ["e"], shown: "E", help: "export", run: ({ store }) => (store.shared.dialog.value = "export") },
  { keys: ["?"], shown: "?", help: "this help", run: ({ store }) => (store.shared.dialog.value = "keys") },
];

export function bindingFor(stroke: Stroke, actions: Actions): Binding | undefined {
  const key = stroke.key.length === 1 ? stroke.key.toLowerCase() : stroke.key;
  return BINDINGS.find((one) => one.keys.includes(key) && (one.alt ?? false) === stroke.alt && (one.when?.(actions) ?? true));
}

/** Elements that use keys themselves: fields all of them, buttons the space bar. */
export function takesKey(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof Element)) return false;
  if (target.closest("dialog, select, textarea")) return true;
  if (target instanceof HTMLInputElement) {
    if (target.type === "checkbox") return key === " ";
    if (target.type === "range") return key.startsWith("Arrow");
    return true;
  }
  return key === " " && target.closest("button, summary, a") !== null;
}

export function listen(actions: Actions): () => void {
  const down = (event: KeyboardEvent) => {
    // A dialog closes by itself once it has the focus, but keys may come before it is there.
    const { dialog } = actions.store.shared;
    if (event.key === "Escape" && dialog.peek() !== null) {
      dialog.value = null;
      return event.preventDefault();
    }
    if (event.ctrlKey || event.metaKey || takesKey(event.target, event.key)) return;
    const stroke = { key: event.key, shift: event.shiftKey, alt: event.altKey };
    const binding = bindingFor(stroke, actions);
    if (!binding) return;
    event.preventDefault();
    delays.during(event, () => atKey(() => binding.run(actions, stroke)));
  };
  window.addEventListener("keydown", down);
  return () => window.removeEventListener("keydown", down);
}

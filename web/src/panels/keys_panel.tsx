// SPDX-License-Identifier: Apache-2.0
import { useLayoutEffect } from "preact/hooks";

import type { PanelDescription } from "../protocol/messages";
import { Dialog } from "./dialog";
import { BINDINGS, listen } from "./keyboard";
import { useScan } from "./scan";

const POINTER: [string, string][] = [
  ["Wheel, two fingers", "zoom"],
  ["Right or middle button", "pan"],
  ["Double click", "show all of it again"],
  ["Drag a square", "change a shape or a line"],
  ["Shift and click", "add or remove a corner of a polygon; wipe out a free mask"],
];

/** The keys of the page: listens to them, and lists them when asked. */
export function KeysPanel({ panel }: { panel: PanelDescription }) {
  const { actions } = useScan();
  useLayoutEffect(() => listen(actions), []);
  return (
    <Dialog id={panel.id} title="Keys and pointer">
      <dl class="keys">
        {BINDINGS.filter(({ shown }) => shown).map(({ shown, help }) => (
          <div key={shown}>
            <dt>
              {shown?.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{help}</dd>
          </div>
        ))}
        {POINTER.map(([what, does]) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

// SPDX-License-Identifier: Apache-2.0
import { ScanSession } from "../model/scan_session";
import { ScanStore } from "../model/scan_store";
import type { PanelName } from "../model/view";
import { Actions } from "./actions";
import { useViewer, type Viewer } from "./context";
import type { Stage } from "./stage";

/** What the panels of a page of scans have in common. */
export class Scan {
  readonly store: ScanStore;
  readonly actions: Actions;
  /** The panels that are on the page, for exports. */
  readonly stages = new Map<PanelName, Stage>();

  constructor({ session, store }: Viewer) {
    this.store = new ScanStore(store);
    this.actions = new Actions(new ScanSession(session, this.store));
    Object.assign(window.__sonde ?? {}, { store: this.store, actions: this.actions, renderer: () => this.stages.get("image")?.renderer.name });
  }
}

export function useScan(): Scan {
  return useViewer().part(Scan);
}

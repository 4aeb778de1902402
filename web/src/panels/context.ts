// SPDX-License-Identifier: Apache-2.0
import { createContext } from "preact";
import { useContext } from "preact/hooks";

import type { Drawing } from "../display/renderer";
import type { Store } from "../model/store";
import type { Actions } from "./actions";
import type { Stage } from "./stage";
import type { PanelName } from "../model/view";

export interface Viewer {
  store: Store;
  actions: Actions;
  /** The panels that are on the page, for exports. */
  stages: Map<PanelName, Stage>;
  drawing: Drawing;
}

export const ViewerContext = createContext<Viewer | null>(null);

export function useViewer(): Viewer {
  const viewer = useContext(ViewerContext);
  if (!viewer) throw new Error("a panel outside of the page");
  return viewer;
}

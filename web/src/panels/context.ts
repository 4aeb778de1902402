// SPDX-License-Identifier: Apache-2.0
import { createContext } from "preact";
import { useContext } from "preact/hooks";

import type { Drawing } from "../display/renderer";
import type { Session } from "../model/session";
import type { Store } from "../model/store";

/** What every panel can use. */
export class Viewer {
  private parts = new Map<unknown, unknown>();

  constructor(
    readonly session: Session,
    readonly drawing: Drawing,
  ) {}

  get store(): Store {
    return this.session.store;
  }

  /** What panels of some kinds have in common: made for the first one that is drawn, for as long as the page lives. Drawing
   *  follows a page's message in the same task, so no message after it is missed. */
  part<T>(Part: new (viewer: Viewer) => T): T {
    let found = this.parts.get(Part) as T | undefined;
    if (!found) this.parts.set(Part, (found = new Part(this)));
    return found;
  }
}

export const ViewerContext = createContext<Viewer | null>(null);

export function useViewer(): Viewer {
  const viewer = useContext(ViewerContext);
  if (!viewer) throw new Error("a panel outside of the page");
  return viewer;
}

// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";

import type { Connection } from "../protocol/connection";
import { FrameKind, type Frame } from "../protocol/frame";
import type { Dataset, PageMessage } from "../protocol/messages";
import { Session } from "./session";
import { Store } from "./store";

const series = (errors: (string | undefined)[], change: Partial<Dataset> = {}): Dataset => ({
  id: 0,
  label: "tilts",
  loading: null,
  items: errors.map((error, i) => ({ label: `tilt ${i}`, held: !error, error })),
  scan: [6, 8],
  detector: [16, 16],
  ...change,
});

/** A session whose commands are kept, in a page that shows these data sets. */
function opened(datasets: Dataset[]) {
  const store = new Store();
  const session = new Session(store, (run) => run());
  const sent: string[] = [];
  const connection = { connect: () => {}, send: (command: string) => sent.push(command) };
  session.start(connection as unknown as Connection);
  (globalThis as { document?: unknown }).document ??= {};
  session.page({ type: "page", protocol: "sonde.view.v1", client: 1, title: "", view: "stem", panels: [], actions: [], state: { datasets } } as PageMessage);
  const tell = (...now: Dataset[]) => session.event({ type: "event", event: "datasets", datasets: now });
  return { store, session, sent, tell };
}

describe("a folder without a scan", () => {
  const waiting: Dataset = { id: 0, label: "tilts", source: "/data/tilts", loading: null, waiting: true, items: [] };
  it("is asked for nothing until its first scan is there", () => {
    const { store, sent, tell } = opened([waiting]);
    expect(sent).toEqual([]);
    tell(series([undefined]));
    expect(sent).toContain("set_detector");
    expect(store.view.cursor.value).toEqual({ row: 3, col: 4 });
  });
});

describe("an item that cannot be shown", () => {
  it("is told while it is chosen, and what stood there goes", () => {
    const { store, session, tell } = opened([series([undefined, undefined])]);
    const frame = { id: 0, kind: FrameKind.image, dataset: 0, item: 0, channel: 0 } as Frame;
    session.frame(frame);
    tell(series([undefined, "b.h5: not found"]));
    expect(store.problem.value).toBeNull();
    expect(store.frame(FrameKind.image, 0).value).toEqual(frame);
    store.view.item.value = 1;
    expect(store.problem.value).toBe("b.h5: not found");
    expect(store.frame(FrameKind.image, 0).value).toBeNull();
    store.view.item.value = 0;
    expect(store.problem.value).toBeNull();
  });

  it("is not tried again and again", () => {
    const { store, sent, tell } = opened([series([undefined, undefined])]);
    store.view.item.value = 1;
    tell(series([undefined, "b.h5: not found"], { loading: { item: 1, stage: "opening", fraction: 0 } }));
    expect(store.problem.value).toBeNull();
    sent.length = 0;
    tell(series([undefined, "b.h5: not found"]));
    expect(store.problem.value).toBe("b.h5: not found");
    expect(sent).toEqual([]);
  });

  it("keeps nothing from a page that is loaded anew", () => {
    const { sent } = opened([series(["a.h5: not found", undefined])]);
    expect(sent).toContain("set_detector");
  });
});

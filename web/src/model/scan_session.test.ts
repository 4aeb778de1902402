// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";

import type { Connection } from "../protocol/connection";
import { FrameKind, type Frame } from "../protocol/frame";
import type { PageMessage } from "../protocol/messages";
import type { Dataset } from "../protocol/scans";
import { ScanSession } from "./scan_session";
import { ScanStore } from "./scan_store";
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
  const session = new Session(new Store(), () => {});
  const store = new ScanStore(session.store);
  const scan = new ScanSession(session, store);
  const sent: string[] = [];
  const connection = { connect: () => {}, send: (command: string) => sent.push(command) };
  session.start(connection as unknown as Connection);
  (globalThis as { document?: unknown }).document ??= {};
  session.page({ type: "page", protocol: "sonde.view.v1", client: 1, title: "", view: "stem", panels: [], actions: [], state: { datasets } } as PageMessage);
  const tell = (...now: Dataset[]) => session.event({ type: "event", event: "datasets", datasets: now });
  return { store, session, scan, sent, tell };
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

describe("a detector that is refused", () => {
  const bf = { channel: 0, expr: "bf", shape: null };
  /** A page that has the image of bf, and asks for nonsense. */
  function refused(held: boolean) {
    const { store, session, scan, sent } = opened([series([undefined])]);
    // Ids count what was sent.
    const id = sent.indexOf("set_detector") + 1;
    session.frame({ id, kind: FrameKind.image, dataset: 0, item: 0, channel: 0 } as Frame);
    session.reply({ type: "reply", id, command: "set_detector", channel: 0 });
    store.held.value = held;
    store.view.detectors.value = [{ ...bf, expr: "nonsense" }];
    scan.sendDetector(0);
    session.failure({ type: "error", id: sent.length, command: "set_detector", kind: "usage", message: "no" });
    return { store, scan };
  }
  it("gives way to the one that is shown, and is told without a banner", () => {
    const { store } = refused(false);
    expect(store.view.detectors.value).toEqual([bf]);
    expect(store.failed.value).toEqual({ 0: { expr: "nonsense", message: "no", hint: undefined } });
    expect(store.shared.note.value).toBeNull();
  });
  it("stays under the hand that holds it, which may still bring it back", () => {
    const { store, scan } = refused(true);
    expect(store.view.detectors.value).toEqual([{ ...bf, expr: "nonsense" }]);
    store.held.value = false;
    scan.settleFailed();
    expect(store.view.detectors.value).toEqual([bf]);
  });
  it("is asked for again when the centre is given that it lacked", () => {
    const { store, session, scan, sent } = opened([series([undefined])]);
    session.failure({ type: "error", id: sent.indexOf("set_detector") + 1, command: "set_detector", kind: "bad_input", message: "no disk" });
    expect(store.failed.value).toHaveProperty("0");
    const before = sent.length;
    scan.sendCentre(7, 8, 3);
    session.reply({ type: "reply", id: sent.length, command: "set_centre" });
    expect(sent.slice(before)).toEqual(["set_centre", "set_detector"]);
  });
  it("asks for nothing of a mask that is empty", () => {
    const { store, session, scan, sent } = opened([series([undefined])]);
    session.frame({ id: sent.indexOf("set_detector") + 1, kind: FrameKind.image, dataset: 0, item: 0, channel: 0 } as Frame);
    const before = sent.length;
    store.view.detectors.value = [{ channel: 0, expr: null, shape: { kind: "brush", runs: [] } }];
    scan.sendDetector(0);
    expect(sent.length).toBe(before);
  });
});

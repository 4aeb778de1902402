// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";

import type { Connection } from "../protocol/connection";
import type { Frame } from "../protocol/frame";
import type { Failure, PageMessage, Reply } from "../protocol/messages";
import { Session } from "./session";
import { Store } from "./store";

const PAGE: PageMessage = { type: "page", protocol: "sonde.view.v1", client: 1, title: "", view: "panels", panels: [{ id: "a", type: "text", title: "A" }], actions: [], state: null };
const refusal = (id: number, command: string): Failure => ({ type: "error", id, command, kind: "usage", message: "no", hint: "else" });

/** A session that shows a page; ids count what was sent. */
function opened() {
  const session = new Session(new Store(), () => {});
  let id = 0;
  session.start({ connect: () => {}, send: () => ++id } as unknown as Connection);
  (globalThis as { document?: unknown }).document ??= {};
  session.page(PAGE);
  return { session, store: session.store };
}

it("keeps the newest options of panels and the newest frame of each kind and channel", () => {
  const { session, store } = opened();
  session.event({ type: "event", event: "panel/a", options: { text: "new" } });
  expect(store.panels.value).toEqual([{ ...PAGE.panels[0], options: { text: "new" } }]);
  const frame = (channel: number, rows: number) => ({ id: 0, kind: 100, dataset: 0, channel, rows }) as Frame;
  for (const one of [frame(0, 1), frame(1, 2), frame(0, 3)]) session.frame(one);
  expect([0, 1].map((channel) => store.frame(100, 0, channel).value?.rows)).toEqual([3, 2]);
});

it("hands over what comes by name, and the page that is there already", () => {
  const { session } = opened();
  const heard: unknown[] = [];
  session.handle({
    page: ({ panels }) => heard.push(panels.length),
    replies: { show: ({ id }) => heard.push(id) },
    events: { moved: ({ to }) => heard.push(to) },
    frames: { 100: ({ rows }) => heard.push(rows) },
  });
  session.reply({ type: "reply", id: 7, command: "show" } as Reply);
  session.reply({ type: "reply", id: 8, command: "hide" } as Reply);
  session.event({ type: "event", event: "moved", to: "there" });
  session.frame({ id: 0, kind: 100, dataset: 0, channel: 0, rows: 5 } as Frame);
  expect(heard).toEqual([1, 7, "there", 5]);
});

it("says a refusal in a banner unless it is said elsewhere, or whoever asked gets it", async () => {
  const { session, store } = opened();
  session.handle({ failures: { quiet: () => true } });
  session.failure(refusal(1, "quiet"));
  const asked = session.request("show");
  session.failure(refusal(1, "show"));
  await expect(asked).rejects.toThrow("no");
  expect(store.note.value).toBeNull();
  session.failure(refusal(2, "show"));
  expect(store.note.value).toEqual({ text: "no", hint: "else", serious: true });
  store.note.value = null;
  const attempt = session.attempt("set", {});
  session.failure(refusal(2, "set"));
  await attempt;
  expect(store.note.peek()).toMatchObject({ text: "no" });
});

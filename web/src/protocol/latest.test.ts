// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";

import { Latest, PATIENCE } from "./latest";

function setup() {
  const clock = { now: 0 };
  const looks: { run: () => void; at: number }[] = [];
  const latest = new Latest(
    (run, ms) => looks.push({ run, at: clock.now + ms }),
    () => clock.now,
  );
  const sent: string[] = [];
  let id = 0;
  const send = (what: string) => () => {
    sent.push(what);
    return ++id;
  };
  const passes = (ms: number) => {
    clock.now += ms;
    for (const { run } of looks.splice(0, looks.filter(({ at }) => at <= clock.now).length)) run();
  };
  return { latest, sent, send, looks, passes };
}

describe("Latest", () => {
  it("sends the first request at once", () => {
    const { latest, sent, send } = setup();
    latest.ask("a", send("1"));
    expect(sent).toEqual(["1"]);
  });

  it("keeps only the newest request while one is under way", () => {
    const { latest, sent, send } = setup();
    for (const what of ["1", "2", "3", "4"]) latest.ask("a", send(what));
    expect(sent).toEqual(["1"]);
    latest.done(1);
    expect(sent).toEqual(["1", "4"]);
  });

  it("sends the next as soon as the answer is there", () => {
    const { latest, sent, send } = setup();
    latest.ask("a", send("1"));
    latest.done(1);
    latest.ask("a", send("2"));
    expect(sent).toEqual(["1", "2"]);
  });

  it("loses patience with an answer that does not come", () => {
    const { latest, sent, send, looks, passes } = setup();
    latest.ask("a", send("1"));
    passes(500);
    for (const what of ["2", "3"]) latest.ask("a", send(what));
    expect(looks.length).toBe(1);
    passes(PATIENCE - 501);
    expect(sent).toEqual(["1"]);
    passes(1);
    expect(sent).toEqual(["1", "3"]);
    // The newer one is waited for as long.
    latest.ask("a", send("4"));
    passes(PATIENCE - 1);
    expect(sent).toEqual(["1", "3"]);
    latest.done(2);
    expect(sent).toEqual(["1", "3", "4"]);
  });

  it("lets keys go their own ways", () => {
    const { latest, sent, send } = setup();
    latest.ask("a", send("a1"));
    latest.ask("b", send("b1"));
    latest.ask("a", send("a2"));
    expect(sent).toEqual(["a1", "b1"]);
  });

  it("takes an answer for the end of everything sent before", () => {
    const { latest, sent, send } = setup();
    latest.ask("a", send("a1"));
    latest.ask("b", send("b1"));
    latest.ask("a", send("a2"));
    latest.done(2);
    expect(sent).toEqual(["a1", "b1", "a2"]);
  });

  it("sends again after the connection was lost", () => {
    const { latest, sent, send } = setup();
    latest.ask("a", send("1"));
    latest.ask("a", send("2"));
    latest.reset();
    expect(sent).toEqual(["1", "2"]);
    expect(latest.idle).toBe(false);
    latest.done(2);
    expect(latest.idle).toBe(true);
  });
});

// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";

import { Latest } from "./latest";

function setup() {
  const frames: (() => void)[] = [];
  const latest = new Latest((run) => frames.push(run));
  const sent: string[] = [];
  let id = 0;
  const send = (what: string) => () => {
    sent.push(what);
    return ++id;
  };
  const nextFrame = () => frames.splice(0).forEach((run) => run());
  return { latest, sent, send, nextFrame };
}

describe("Latest", () => {
  it("sends the first wish at once", () => {
    const { latest, sent, send } = setup();
    latest.wish("a", send("1"));
    expect(sent).toEqual(["1"]);
  });

  it("keeps only the newest wish while one is under way", () => {
    const { latest, sent, send, nextFrame } = setup();
    for (const what of ["1", "2", "3", "4"]) latest.wish("a", send(what));
    nextFrame();
    expect(sent).toEqual(["1"]);
    latest.done(1);
    expect(sent).toEqual(["1", "4"]);
  });

  it("sends at most one of a key in an animation frame", () => {
    const { latest, sent, send, nextFrame } = setup();
    latest.wish("a", send("1"));
    latest.done(1);
    latest.wish("a", send("2"));
    expect(sent).toEqual(["1"]);
    nextFrame();
    expect(sent).toEqual(["1", "2"]);
  });

  it("lets keys go their own ways", () => {
    const { latest, sent, send } = setup();
    latest.wish("a", send("a1"));
    latest.wish("b", send("b1"));
    latest.wish("a", send("a2"));
    expect(sent).toEqual(["a1", "b1"]);
  });

  it("takes an answer for the end of everything sent before", () => {
    const { latest, sent, send, nextFrame } = setup();
    latest.wish("a", send("a1"));
    latest.wish("b", send("b1"));
    latest.wish("a", send("a2"));
    latest.done(2);
    nextFrame();
    expect(sent).toEqual(["a1", "b1", "a2"]);
  });

  it("sends again after the connection was lost", () => {
    const { latest, sent, send, nextFrame } = setup();
    latest.wish("a", send("1"));
    latest.wish("a", send("2"));
    nextFrame();
    latest.reset();
    expect(sent).toEqual(["1", "2"]);
    expect(latest.idle).toBe(false);
    latest.done(2);
    expect(latest.idle).toBe(true);
  });
});

// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";

import { encodeFrame } from "../../test/encode_frame";
import { Connection, retryDelay, type Listener, type Socket } from "./connection";
import type { Frame } from "./frame";

const PAGE = JSON.stringify({ type: "page", protocol: "sonde.view.v1", client: 1, title: "t", view: "stem", panels: [], actions: [], state: null });

class FakeSocket implements Socket {
  binaryType = "";
  sent: string[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number; reason: string }) => void) | null = null;
  send(text: string) {
    this.sent.push(text);
  }
  close(code = 1006, reason = "") {
    this.onclose?.({ code, reason });
  }
  receive(data: unknown) {
    this.onmessage?.({ data });
  }
}

function connected() {
  const sockets: FakeSocket[] = [];
  const waiting: { run: () => void; ms: number }[] = [];
  const seen = { status: [] as string[], frames: [] as Frame[], problems: [] as string[], refused: [] as [number, string][], pages: 0 };
  const listener: Listener = {
    status: (status) => seen.status.push(status),
    refused: (code, reason) => seen.refused.push([code, reason]),
    page: () => ++seen.pages,
    reply: () => {},
    failure: () => {},
    event: () => {},
    frame: (frame) => seen.frames.push(frame),
    confusion: (problem) => seen.problems.push(problem.message),
  };
  const connection = new Connection(
    () => {
      sockets.push(new FakeSocket());
      return sockets[sockets.length - 1];
    },
    listener,
    "the secret",
    (run, ms) => waiting.push({ run, ms }),
  );
  connection.connect();
  return { connection, sockets, waiting, seen };
}

const image = (id: number) => encodeFrame({ id, rows: 1, cols: 1, values: new Uint8Array([id]) });

describe("Connection", () => {
  it("sends nothing before the server has introduced itself", () => {
    const { connection, sockets } = connected();
    expect(connection.send("stats")).toBeNull();
    sockets[0].receive(PAGE);
    expect(connection.send("set_position", { row: 3, col: 5 })).toBe(1);
    expect(JSON.parse(sockets[0].sent[0])).toEqual({ id: 1, command: "set_position", row: 3, col: 5 });
  });

  it("shows its secret before anything else", () => {
    const { sockets } = connected();
    sockets[0].onopen?.();
    sockets[0].receive(PAGE);
    expect(sockets[0].sent).toEqual(['{"secret":"the secret"}']);
  });

  it("tells why the server does not let it in, and tries again", () => {
    const { sockets, waiting, seen } = connected();
    sockets[0].close(1008, "no secret of this server");
    expect(seen.refused).toEqual([[1008, "no secret of this server"]]);
    waiting[0].run();
    sockets[1].close(1006);
    expect(seen.refused.length).toBe(1);
  });

  it("refuses what the server would close the connection for", () => {
    const { connection, sockets } = connected();
    sockets[0].receive(PAGE);
    // 64 KiB in all.
    const rest = JSON.stringify({ text: "", id: 1, command: "open" }).length;
    expect(() => connection.send("open", { text: "x".repeat(65536 - rest + 1) })).toThrow("65 KiB, at most 64");
    expect(sockets[0].sent).toEqual([]);
    expect(connection.send("open", { text: "x".repeat(65536 - rest) })).toBe(1);
  });

  it("drops a frame that is older than one already shown", () => {
    const { sockets, seen } = connected();
    sockets[0].receive(PAGE);
    for (const id of [2, 1, 3]) sockets[0].receive(image(id));
    expect(seen.frames.map((frame) => frame.id)).toEqual([2, 3]);
  });

  it("shows frames that nobody asked for", () => {
    const { sockets, seen } = connected();
    sockets[0].receive(PAGE);
    for (const id of [5, 0]) sockets[0].receive(image(id));
    expect(seen.frames.map((frame) => frame.id)).toEqual([5, 0]);
  });

  it("opens anew when it is lost, and ids go on growing", () => {
    const { connection, sockets, waiting, seen } = connected();
    sockets[0].receive(PAGE);
    connection.send("stats");
    sockets[0].close();
    expect(connection.send("stats")).toBeNull();
    expect(waiting.map(({ ms }) => ms)).toEqual([250]);
    waiting[0].run();
    sockets[1].receive(PAGE);
    expect(connection.send("stats")).toBe(2);
    expect(seen.status).toEqual(["connecting", "open", "lost", "lost", "open"]);
  });

  it("ignores what an earlier socket still delivers", () => {
    const { sockets, waiting, seen } = connected();
    sockets[0].receive(PAGE);
    sockets[0].close();
    waiting[0].run();
    sockets[0].receive(image(1));
    expect(seen.frames).toEqual([]);
  });

  it("reports what is no message and goes on", () => {
    const { sockets, seen } = connected();
    sockets[0].receive('{"type":"page","protocol":"other"}');
    sockets[0].receive(new ArrayBuffer(3));
    sockets[0].receive(PAGE);
    expect(seen.problems).toEqual([
      "the server speaks other, this page sonde.view.v1; load the page again",
      "a frame of 3 bytes has no header of 64",
    ]);
    expect(seen.pages).toBe(1);
  });

  it("waits longer from attempt to attempt, at most five seconds", () => {
    expect([1, 2, 3, 4, 5, 6, 20].map(retryDelay)).toEqual([250, 500, 1000, 2000, 4000, 5000, 5000]);
  });
});

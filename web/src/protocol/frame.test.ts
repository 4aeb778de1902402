// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";

import { encodeFrame } from "../../test/encode_frame";
import { decodeFrame, toFloat } from "./frame";

describe("decodeFrame", () => {
  it("reads every field at the place that the protocol gives it", () => {
    const bytes = new Uint8Array(64 + 12);
    // Written by hand, byte by byte, from docs/viewer-protocol.md.
    bytes.set([0x53, 0x4e, 0x44, 0x31, 1, 0, 2, 0, 17, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 1, 5, 7, 0], 0);
    bytes.set([0, 0, 128, 63, 0, 0, 32, 65, 0, 0, 0, 0, 0, 0, 0x45, 0x40, 9, 0, 0, 0, 12, 0, 0, 0, 0xef, 0xbe, 0xad, 0xde], 32);
    bytes.set([1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 0x10, 0x27], 64);
    const frame = decodeFrame(bytes.buffer);
    expect(frame).toMatchObject({ kind: 2, id: 17, dataset: 3, item: 4, rows: 2, cols: 3, channel: 7 });
    expect(frame).toMatchObject({ preview: true, final: false, cached: true, low: 1, high: 10, sum: 42 });
    expect(frame).toMatchObject({ computeUs: 9, maskHash: 0xdeadbeef });
    expect(Array.from(frame.values as Uint16Array)).toEqual([1, 2, 3, 4, 5, 10000]);
  });

  it.each([
    ["no header", new ArrayBuffer(10), "a frame of 10 bytes has no header of 64"],
    ["another magic", new ArrayBuffer(64), "a binary message that is not a frame (no SND1)"],
  ])("refuses %s", (_, buffer, message) => {
    expect(() => decodeFrame(buffer)).toThrow(message);
  });

  it("refuses a payload that is not rows times columns", () => {
    const whole = encodeFrame({ rows: 2, cols: 2, values: new Uint16Array(4) });
    expect(() => decodeFrame(whole.slice(0, 70))).toThrow("a frame of 2 x 2 with 8 bytes of payload, 70 in all");
  });

  it.each([new Uint8Array([255]), new Uint16Array([65535]), new Uint32Array([4294967295]), new Float32Array([1.5])])(
    "keeps the largest value of each type (%o)",
    (values) => {
      expect(decodeFrame(encodeFrame({ rows: 1, cols: 1, values })).values).toEqual(values);
    },
  );

  it("keeps 64-bit counts exact, and near for display", () => {
    const exact = 2n ** 60n + 1n;
    const frame = decodeFrame(encodeFrame({ rows: 1, cols: 2, values: new BigUint64Array([exact, 7n]) }));
    expect(frame.values[0]).toBe(exact);
    expect(Array.from(toFloat(frame.values))).toEqual([2 ** 60, 7]);
  });
});

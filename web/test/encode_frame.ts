// SPDX-License-Identifier: Apache-2.0
import type { Frame, Values } from "../src/protocol/frame";

type Encodable = Partial<Frame> & Pick<Frame, "rows" | "cols" | "values">;

function typeOf(values: Values): number {
  if (values instanceof Uint8Array) return 0;
  if (values instanceof Uint16Array) return 1;
  if (values instanceof Uint32Array) return 2;
  return values instanceof Float32Array ? 3 : 4;
}

/** A binary message as the server writes it, from docs/viewer-protocol.md. */
export function encodeFrame(frame: Encodable): ArrayBuffer {
  const { values } = frame;
  const bytes = new ArrayBuffer(64 + values.byteLength);
  const head = new DataView(bytes);
  const u32 = (at: number, value: number) => head.setUint32(at, value, true);
  u32(0, 0x31444e53);
  head.setUint16(4, 1, true);
  head.setUint16(6, frame.kind ?? 2, true);
  u32(8, frame.id ?? 0);
  u32(12, frame.dataset ?? 0);
  u32(16, frame.item ?? 0);
  u32(20, frame.rows);
  u32(24, frame.cols);
  head.setUint8(28, typeOf(values));
  head.setUint8(29, (frame.preview ? 1 : 0) | (frame.final ? 2 : 0) | (frame.cached ? 4 : 0));
  head.setUint16(30, frame.channel ?? 0, true);
  head.setFloat32(32, frame.low ?? 0, true);
  head.setFloat32(36, frame.high ?? 0, true);
  head.setFloat64(40, frame.sum ?? 0, true);
  u32(48, frame.computeUs ?? 0);
  u32(52, values.byteLength);
  u32(56, frame.maskHash ?? 0);
  new Uint8Array(bytes, 64).set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
  return bytes;
}

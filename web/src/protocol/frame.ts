// SPDX-License-Identifier: Apache-2.0
/** Numbers as they were received; read-out uses these, never what is on the screen. */
export type Values = Uint8Array | Uint16Array | Uint32Array | Float32Array | BigUint64Array;

export const FrameKind = {
  pattern: 1,
  image: 2,
  spectrum: 3,
  reducedPattern: 4,
  mask: 5,
  profile: 6,
  strip: 7,
  file: 8,
} as const;

/** A binary message of `sonde.view.v1`: rows x cols numbers, row-major. */
export interface Frame {
  kind: number;
  /** Of the command that asked for it; 0: nobody asked. */
  id: number;
  dataset: number;
  item: number;
  rows: number;
  cols: number;
  channel: number;
  preview: boolean;
  final: boolean;
  cached: boolean;
  low: number;
  high: number;
  sum: number;
  computeUs: number;
  maskHash: number;
  values: Values;
}

export const HEADER_BYTES = 64;
const MAGIC = 0x31444e53; // "SND1"
const ELEMENT_BYTES = [1, 2, 4, 4, 8];

function elements(type: number, buffer: ArrayBuffer, count: number): Values {
  // The header is 64 bytes long so that the payload is aligned for every type: no copy is made.
  switch (type) {
    case 0:
      return new Uint8Array(buffer, HEADER_BYTES, count);
    case 1:
      return new Uint16Array(buffer, HEADER_BYTES, count);
    case 2:
      return new Uint32Array(buffer, HEADER_BYTES, count);
    case 3:
      return new Float32Array(buffer, HEADER_BYTES, count);
    default:
      return new BigUint64Array(buffer, HEADER_BYTES, count);
  }
}

/** Throws an Error that says what is wrong with a message that is not a frame. */
export function decodeFrame(buffer: ArrayBuffer): Frame {
  if (buffer.byteLength < HEADER_BYTES) throw new Error(`a frame of ${buffer.byteLength} bytes has no header of 64`);
  const head = new DataView(buffer, 0, HEADER_BYTES);
  const u16 = (at: number) => head.getUint16(at, true);
  const u32 = (at: number) => head.getUint32(at, true);
  if (u32(0) !== MAGIC) throw new Error("a binary message that is not a frame (no SND1)");
  if (u16(4) !== 1) throw new Error(`frame version ${u16(4)}, expected 1`);
  const type = head.getUint8(28);
  if (type >= ELEMENT_BYTES.length) throw new Error(`frame element type ${type}, expected 0 to 4`);
  const rows = u32(20);
  const cols = u32(24);
  const bytes = u32(52);
  if (bytes !== rows * cols * ELEMENT_BYTES[type] || buffer.byteLength !== HEADER_BYTES + bytes)
    throw new Error(`a frame of ${rows} x ${cols} with ${bytes} bytes of payload, ${buffer.byteLength} in all`);
  const flags = head.getUint8(29);
  return {
    kind: u16(6),
    id: u32(8),
    dataset: u32(12),
    item: u32(16),
    rows,
    cols,
    channel: u16(30),
    preview: (flags & 1) !== 0,
    final: (flags & 2) !== 0,
    cached: (flags & 4) !== 0,
    low: head.getFloat32(32, true),
    high: head.getFloat32(36, true),
    sum: head.getFloat64(40, true),
    computeUs: u32(48),
    maskHash: u32(56),
    values: elements(type, buffer, rows * cols),
  };
}

/** What a frame shows: of two frames with the same key the one with the greater id is newer. */
export function frameKey(frame: Frame): string {
  return `${frame.kind}/${frame.dataset}/${frame.channel}`;
}

/** As numbers for display. Counts beyond 2^24 lose digits here, and only here. */
export function toFloat(values: Values): Float32Array {
  if (values instanceof Float32Array) return values;
  if (!(values instanceof BigUint64Array)) return new Float32Array(values);
  // Two halves are much quicker than a BigInt for each value.
  const halves = new Uint32Array(values.buffer, values.byteOffset, 2 * values.length);
  const numbers = new Float32Array(values.length);
  for (let i = 0; i < numbers.length; ++i) numbers[i] = halves[2 * i] + halves[2 * i + 1] * 4294967296;
  return numbers;
}

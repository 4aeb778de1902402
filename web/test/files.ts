// SPDX-License-Identifier: Apache-2.0
/** Readers of what the viewer exports, written from the formats' descriptions and for nothing else. */
import { inflateSync } from "node:zlib";

/** Images of TIFF 6.0, little-endian, one channel, not compressed: one array per page. */
export function readTiff(bytes: Uint8Array): { rows: number; cols: number; values: number[] }[] {
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (data.getUint16(0, true) !== 0x4949 || data.getUint16(2, true) !== 42) throw new Error("no little-endian TIFF");
  const pages = [];
  for (let at = data.getUint32(4, true); at !== 0; ) {
    const tags = new Map<number, number[]>();
    const count = data.getUint16(at, true);
    for (let i = 0; i < count; ++i) tags.set(data.getUint16(at + 2 + 12 * i, true), entry(data, at + 2 + 12 * i));
    pages.push(page(data, tags));
    at = data.getUint32(at + 2 + 12 * count, true);
  }
  return pages;
}

/** The numbers of a directory entry of type SHORT or LONG; of others nothing is needed. */
function entry(data: DataView, at: number): number[] {
  const [type, count] = [data.getUint16(at + 2, true), data.getUint32(at + 4, true)];
  const size = type === 3 ? 2 : 4;
  if (type !== 3 && type !== 4) return [];
  const from = count * size <= 4 ? at + 8 : data.getUint32(at + 8, true);
  return Array.from({ length: count }, (_, i) => (size === 2 ? data.getUint16(from + 2 * i, true) : data.getUint32(from + 4 * i, true)));
}

function page(data: DataView, tags: Map<number, number[]>): { rows: number; cols: number; values: number[] } {
  const one = (tag: number, otherwise: number) => tags.get(tag)?.[0] ?? otherwise;
  const [cols, rows, bits] = [one(256, 0), one(257, 0), one(258, 1)];
  if (one(259, 1) !== 1 || one(277, 1) !== 1) throw new Error("compressed, or of several channels");
  const format = one(339, 1);
  const values: number[] = [];
  (tags.get(273) ?? []).forEach((from, strip) => {
    const end = from + (tags.get(279)?.[strip] ?? 0);
    for (let at = from; at < end; at += bits / 8) {
      if (format === 3) values.push(data.getFloat32(at, true));
      else values.push(bits === 8 ? data.getUint8(at) : bits === 16 ? data.getUint16(at, true) : data.getUint32(at, true));
    }
  });
  return { rows, cols, values };
}

/** The files of an archive whose entries are stored as they are, by the directory at its end (ZIP64, as it is written). */
export function readZip(bytes: Uint8Array): Map<string, Uint8Array> {
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const u16 = (at: number) => data.getUint16(at, true);
  const u64 = (at: number) => Number(data.getBigUint64(at, true));
  let end = bytes.length - 56;
  while (end >= 0 && data.getUint32(end, true) !== 0x06064b50) --end;
  if (end < 0) throw new Error("no directory of an archive");
  const files = new Map<string, Uint8Array>();
  let at = u64(end + 48);
  for (let i = 0; i < u64(end + 32); ++i) {
    if (u16(at + 10) !== 0) throw new Error("compressed");
    const [name, extra, comment] = [u16(at + 28), u16(at + 30), u16(at + 32)];
    // What has no room in 32 bits stands in the first extra field, in this order.
    let wide = at + 46 + name + 4;
    const number = (field: number) => {
      const value = data.getUint32(at + field, true);
      if (value !== 0xffffffff) return value;
      wide += 8;
      return u64(wide - 8);
    };
    const [size, , header] = [number(24), number(20), number(42)];
    const from = header + 30 + u16(header + 26) + u16(header + 28);
    files.set(new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + name)), bytes.subarray(from, from + size));
    at += 46 + name + extra + comment;
  }
  return files;
}

/** A PNG of eight bits per channel, not interlaced: rows of `channels` numbers per pixel. */
export function readPng(bytes: Uint8Array): { rows: number; cols: number; channels: number; values: Uint8Array } {
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [cols, rows] = [data.getUint32(16), data.getUint32(20)];
  const channels = { 0: 1, 2: 3, 6: 4 }[data.getUint8(25)];
  if (data.getUint8(24) !== 8 || !channels || data.getUint8(28) !== 0) throw new Error("a PNG of another kind");
  const parts: Uint8Array[] = [];
  for (let at = 8; at < bytes.length; at += 12 + data.getUint32(at))
    if (data.getUint32(at + 4) === 0x49444154) parts.push(bytes.subarray(at + 8, at + 8 + data.getUint32(at)));
  const packed = inflateSync(Buffer.concat(parts));
  const width = cols * channels;
  const values = new Uint8Array(rows * width);
  for (let r = 0; r < rows; ++r) {
    const filter = packed[r * (width + 1)];
    for (let i = 0; i < width; ++i) {
      const left = i >= channels ? values[r * width + i - channels] : 0;
      const up = r > 0 ? values[(r - 1) * width + i] : 0;
      const corner = i >= channels && r > 0 ? values[(r - 1) * width + i - channels] : 0;
      values[r * width + i] = packed[r * (width + 1) + 1 + i] + predicted(filter, left, up, corner);
    }
  }
  return { rows, cols, channels, values };
}

function predicted(filter: number, left: number, up: number, corner: number): number {
  switch (filter) {
    case 1:
      return left;
    case 2:
      return up;
    case 3:
      return (left + up) >> 1;
    case 4: {
      const [a, b, c] = [left, up, corner].map((value) => Math.abs(left + up - corner - value));
      return a <= b && a <= c ? left : b <= c ? up : corner;
    }
    default:
      return 0;
  }
}

// SPDX-License-Identifier: Apache-2.0
import tables from "virtual:colour-maps";

export const COLOUR_MAPS = ["gray", "viridis", "cividis", "inferno", "magma", "RdBu", "phase"] as const;
export type ColourMapName = (typeof COLOUR_MAPS)[number];

/** 256 colours, four bytes each (red, green, blue, 255). */
export type ColourTable = Uint8Array;

function gray(): ColourTable {
  return Uint8Array.from({ length: 1024 }, (_, i) => (i % 4 === 3 ? 255 : i >> 2));
}

function fromHex(text: string): ColourTable {
  return Uint8Array.from({ length: 1024 }, (_, i) =>
    i % 4 === 3 ? 255 : parseInt(text.slice(6 * (i >> 2) + 2 * (i % 4), 6 * (i >> 2) + 2 * (i % 4) + 2), 16),
  );
}

/** A circle of even lightness in Oklab, for angles: the ends meet. */
function phase(): ColourTable {
  const table = new Uint8Array(1024);
  const encoded = (linear: number) => {
    const v = Math.min(1, Math.max(0, linear));
    return Math.round(255 * (v <= 0.0031308 ? 12.92 * v : 1.055 * v ** (1 / 2.4) - 0.055));
  };
  for (let i = 0; i < 256; ++i) {
    const hue = (2 * Math.PI * i) / 256;
    const a = 0.12 * Math.cos(hue);
    const b = 0.12 * Math.sin(hue);
    const l = (0.74 + 0.3963377774 * a + 0.2158037573 * b) ** 3;
    const m = (0.74 - 0.1055613458 * a - 0.0638541728 * b) ** 3;
    const s = (0.74 - 0.0894841775 * a - 1.291485548 * b) ** 3;
    table[4 * i] = encoded(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s);
    table[4 * i + 1] = encoded(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s);
    table[4 * i + 2] = encoded(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s);
    table[4 * i + 3] = 255;
  }
  return table;
}

const made = new Map<string, ColourTable>();

export function colourTable(name: ColourMapName, reversed = false): ColourTable {
  const key = `${name}${reversed ? "-reversed" : ""}`;
  let table = made.get(key);
  if (!table) {
    table = name === "gray" ? gray() : name === "phase" ? phase() : fromHex(tables[name]);
    if (reversed) {
      const pixels = new Uint32Array(table.buffer.slice(0));
      table = new Uint8Array(pixels.reverse().buffer);
    }
    made.set(key, table);
  }
  return table;
}

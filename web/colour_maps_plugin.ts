// SPDX-License-Identifier: Apache-2.0
import * as chromatic from "d3-scale-chromatic";
import type { Plugin } from "vite";

const NAME = "virtual:colour-maps";

function sampled(colour: (t: number) => string): string {
  const level = (value: number) => Math.round(value).toString(16).padStart(2, "0");
  return Array.from({ length: 256 }, (_, i) => {
    const text = colour(i / 255);
    if (text.startsWith("#")) return text.slice(1);
    const parts = /rgb\((\d+), *(\d+), *(\d+)\)/.exec(text);
    if (!parts) throw new Error(`colour "${text}" is neither #rrggbb nor rgb(...)`);
    return parts.slice(1).map((part) => level(Number(part))).join("");
  }).join("");
}

/** The module `virtual:colour-maps`: maps of d3-scale-chromatic as 256 colours each, sampled while building, so that
 *  the page carries tables and no library. */
export function colourMaps(): Plugin {
  return {
    name: "colour-maps",
    resolveId: (id) => (id === NAME ? `\0${NAME}` : undefined),
    load: (id) =>
      id === `\0${NAME}`
        ? `export default ${JSON.stringify({
            viridis: sampled(chromatic.interpolateViridis),
            cividis: sampled(chromatic.interpolateCividis),
            inferno: sampled(chromatic.interpolateInferno),
            magma: sampled(chromatic.interpolateMagma),
            RdBu: sampled(chromatic.interpolateRdBu),
          })};`
        : undefined,
  };
}

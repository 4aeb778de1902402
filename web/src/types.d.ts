// SPDX-License-Identifier: Apache-2.0
declare module "virtual:colour-maps" {
  /** 256 colours each, six hexadecimal digits per colour. */
  const tables: Record<"viridis" | "cividis" | "inferno" | "magma" | "RdBu", string>;
  export default tables;
}

declare module "d3-scale-chromatic" {
  type Interpolator = (t: number) => string;
  export const interpolateViridis: Interpolator;
  export const interpolateCividis: Interpolator;
  export const interpolateInferno: Interpolator;
  export const interpolateMagma: Interpolator;
  export const interpolateRdBu: Interpolator;
}

declare module "*.css";

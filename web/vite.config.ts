// SPDX-License-Identifier: Apache-2.0
import { defineConfig } from "vitest/config";

import { colourMaps } from "./colour_maps_plugin";

export default defineConfig({
  base: "/",
  plugins: [colourMaps()],
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  build: {
    target: "es2022",
    // The server allows nothing inline and nothing from elsewhere, so every asset is a file of its own.
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: false,
  },
  worker: { format: "es" },
  test: { include: ["src/**/*.test.ts"], environment: "node" },
});

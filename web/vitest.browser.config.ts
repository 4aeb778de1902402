// SPDX-License-Identifier: Apache-2.0
import { defineConfig } from "vitest/config";

import { colourMaps } from "./colour_maps_plugin";

/** Tests in a browser, of what `npm run build` made. One at a time: they share the processor with the browser. */
export default defineConfig({
  plugins: [colourMaps()],
  test: { include: ["test/**/*.test.ts"], environment: "node", fileParallelism: false, testTimeout: 120_000, hookTimeout: 120_000 },
});

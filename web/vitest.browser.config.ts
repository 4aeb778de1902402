// SPDX-License-Identifier: Apache-2.0
import { defineConfig } from "vitest/config";

import { colourMaps } from "./colour_maps_plugin";

/** Tests in a browser, of what `npm run build` made. One at a time: they share the processor with the browser; and in one
 *  process, so that they share the browser too. Nothing is measured by these limits: they only end what hangs, also on a
 *  machine that does much else. */
export default defineConfig({
  plugins: [colourMaps()],
  test: { include: ["**/*.test.ts"], environment: "node", fileParallelism: false, pool: "forks", isolate: false, testTimeout: 400_000, hookTimeout: 400_000, expect: { poll: { timeout: 120_000 } } },
});

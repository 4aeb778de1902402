// SPDX-License-Identifier: Apache-2.0
import { histogram } from "../display/histogram";

// Answers {id, values} with {id, histogram}.
self.onmessage = ({ data }: MessageEvent<{ id: number; values: Float32Array }>) => {
  const result = histogram(data.values);
  (self as unknown as Worker).postMessage({ id: data.id, histogram: result }, [result.counts.buffer]);
};

// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/blocks.h"

#include <algorithm>

#include "sonde/instruments/stem/load/dataset_state.h"

namespace sonde::stem {

void for_each_block(const Dataset& dataset, std::size_t block_bytes,
                    const std::function<void(const Array&, Index)>& body) {
  if (dataset.layout() == LayoutChoice::frame && dataset.array().device().is_cpu()) return body(dataset.array(), 0);
  const Dataset::State& state = dataset.state();
  const ScanGrid& scan = state.settings.scan;
  const DetectorGrid& detector = state.settings.detector;
  const std::size_t row_bytes =
      static_cast<std::size_t>(scan.out_cols * detector.out_pixels()) * size_bytes(dataset.dtype());
  const Index step = std::max<Index>(1, static_cast<Index>(block_bytes / std::max<std::size_t>(1, row_bytes)));
  for (Index row = 0; row < scan.out_rows; row += step) {
    const Index last = std::min(row + step, scan.out_rows);
    PassSettings part = state.settings;
    part.stage = "decoding";
    part.destination = Destination::frames;
    part.scan.region.row_first = scan.region.row_first + row * scan.bin;
    part.scan.region.row_last = std::min(scan.region.row_last, scan.region.row_first + last * scan.bin);
    part.scan.out_rows = last - row;
    Array frames =
        make_frames(Device::cpu(), (last - row) * scan.out_cols, detector.out_rows, detector.out_cols, dataset.dtype());
    {
      const std::lock_guard lock(state.reading);
      (void)run_pass(*state.source, part, frames);
    }
    body(frames, row * scan.out_cols);
  }
}

}  // namespace sonde::stem

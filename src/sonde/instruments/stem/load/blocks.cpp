// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/blocks.h"

#include <algorithm>

#include "sonde/instruments/stem/load/dataset_state.h"

namespace sonde::stem {

Array read_rows(const Dataset& dataset, Index first, Index last) {
  const Dataset::State& state = dataset.state();
  PassSettings part = part_of(state.settings, {first, last, 0, state.settings.scan.out_cols});
  part.stage = "decoding";
  part.destination = Destination::frames;
  const DetectorGrid& detector = part.detector;
  Array frames =
      make_frames(Device::cpu(), part.scan.positions(), detector.out_rows, detector.out_cols, dataset.dtype());
  const std::lock_guard lock(state.reading);
  (void)run_pass(*state.source, part, frames);
  return frames;
}

void for_each_block(const Dataset& dataset, std::size_t block_bytes,
                    const std::function<void(const Array&, Index)>& body) {
  if (dataset.layout() == LayoutChoice::frame && dataset.array().device().is_cpu()) return body(dataset.array(), 0);
  const ScanGrid& scan = dataset.state().settings.scan;
  const std::size_t row_bytes =
      static_cast<std::size_t>(scan.out_cols * dataset.state().settings.detector.out_pixels()) *
      size_bytes(dataset.dtype());
  const Index step = std::max<Index>(1, static_cast<Index>(block_bytes / std::max<std::size_t>(1, row_bytes)));
  for (Index row = 0; row < scan.out_rows; row += step)
    body(read_rows(dataset, row, std::min(row + step, scan.out_rows)), row * scan.out_cols);
}

}  // namespace sonde::stem

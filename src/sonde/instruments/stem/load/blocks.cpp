// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/stem/load/dataset_state.h"

namespace sonde::stem {
namespace {

/// Floats that were neither summed nor divided on their way.
bool holds_stored_values(const Dataset& dataset) {
  return dataset.dtype() == DType::f32 && dataset.acquisition().stored == DType::f32 && dataset.det_bin() == 1 &&
         dataset.scan_bin() == 1;
}

}  // namespace

Array read_rows(const Dataset& dataset, Index first, Index last, NotFinite not_finite) {
  const Dataset::State& state = dataset.state();
  PassSettings part = part_of(state.settings, {first, last, 0, state.settings.scan.out_cols});
  part.stage = "decoding";
  part.keep_not_finite = not_finite == NotFinite::kept && holds_stored_values(dataset);
  const DetectorGrid& detector = part.detector;
  Array frames =
      make_frames(Device::cpu(), part.scan.positions(), detector.out_rows, detector.out_cols, dataset.dtype());
  const std::lock_guard lock(state.reading);
  decode_frames(*state.source, part, state.resident, frames);
  return frames;
}

namespace {

/// What the budget leaves for a block of host memory beside the data set and the pass that fills the block. A row is
/// the least that is decoded at once.
std::size_t room_for_blocks(const Dataset& dataset, std::size_t row_bytes) {
  const Dataset::State& state = dataset.state();
  constexpr std::size_t any = std::numeric_limits<std::size_t>::max();
  if (!state.array.empty() && !state.array.device().is_cpu()) return any;  // the budget is that of the device
  const std::size_t room = state.budget.available_bytes();
  if (row_bytes > room)
    throw Error(ErrorKind::budget,
                fmt::format("{}: a row of the scan takes {}, the budget leaves {}", dataset.acquisition().path,
                            format_bytes(static_cast<double>(row_bytes)), format_bytes(static_cast<double>(room))))
        .hint("give " + setting("det_bin") + ", a smaller " + setting("scan_region") + ", or more " +
              setting("memory"));
  const std::size_t pass = state.estimate.working_bytes;
  return room > pass ? room - pass : 0;
}

}  // namespace

void for_each_block(const Dataset& dataset, std::size_t block_bytes, NotFinite not_finite,
                    const std::function<void(const Array&, Index)>& body) {
  const bool as_held = not_finite == NotFinite::zero || !holds_stored_values(dataset);
  if (as_held && dataset.layout() == LayoutChoice::frame && dataset.array().device().is_cpu())
    return body(dataset.array(), 0);
  const ScanGrid& scan = dataset.state().settings.scan;
  const std::size_t row_bytes =
      static_cast<std::size_t>(scan.out_cols * dataset.state().settings.detector.out_pixels()) *
      size_bytes(dataset.dtype());
  block_bytes = std::min(block_bytes, room_for_blocks(dataset, row_bytes));
  const Index step = std::max<Index>(1, static_cast<Index>(block_bytes / std::max<std::size_t>(1, row_bytes)));
  for (Index row = 0; row < scan.out_rows; row += step)
    body(read_rows(dataset, row, std::min(row + step, scan.out_rows), not_finite), row * scan.out_cols);
}

}  // namespace sonde::stem

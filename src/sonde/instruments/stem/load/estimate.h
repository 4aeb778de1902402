// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sonde/engine/array/dtype.h"
#include "sonde/engine/base/choice.h"
#include "sonde/engine/base/index.h"
#include "sonde/engine/device/device.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/engine/memory/memory_plan.h"
#include "sonde/instruments/stem/load/load_options.h"

namespace sonde::stem {

/// The sizes that decide how much memory a load takes.
struct LoadSizes {
  Index scan_rows = 0, scan_cols = 0;  ///< after region and scan bin
  Index rows = 0, cols = 0;            ///< stored detector
  Index frames = 0;                    ///< stored frames
  DType stored = DType::u16;
  std::size_t stored_bytes = 0;  ///< of all frames, compressed as they are
  std::size_t largest_batch_bytes = 0;
  std::size_t reading_bytes = 0;       ///< Source::reading_bytes on all workers
  std::size_t useful_cache_bytes = 0;  ///< of the source
  std::size_t beside_bytes = 0;        ///< of operations that run beside the load
  bool electrons = false;              ///< stored frames are lists of electrons
  int workers = 1;
  /// An element type that the resident values are known to need; without it counts are assumed to fit u16.
  std::optional<DType> needed{};
};

/// "pixel-major", "frame-major", "compressed", "on file".
[[nodiscard]] std::string_view layout_name(LayoutChoice layout);

/// What a load will hold. Before decoding the true maximum is unknown: counts are assumed to fit u16. The load chooses
/// again when a sample or the exact maximum says otherwise.
struct LoadEstimate {
  Index det_bin = 1;
  Index rows = 0, cols = 0;  ///< resident detector
  DType dtype = DType::u16;  ///< asked for, known to be needed, or assumed
  LayoutChoice layout = LayoutChoice::pixel;
  std::size_t resident_bytes = 0;        ///< the scan itself, padding included
  std::size_t cache_bytes = 0;           ///< what the source may keep of decoded chunks
  std::size_t index_bytes = 0;           ///< where the frames are in the files
  std::size_t working_bytes = 0;         ///< what a pass over the frames takes while it runs
  std::size_t predicted_peak_bytes = 0;  ///< with cache, ring buffers, index, moments and scratch
  std::string because;                   ///< of bin and layout together

  /// The same line by line.
  [[nodiscard]] MemoryPlan memory() const;
};

/// Peak memory for one detector bin and layout: a pure function of sizes.
///   resident   planes: Q ceil64(R E); frames: R Q E; compressed: stored bytes; file: nothing
///   others     3 largest batches, at most the stored bytes + 24 B per stored frame + moments 8 B (5 Q + 4 R) + scratch
///   of every worker
///              + what reading needs; without a cache
[[nodiscard]] LoadEstimate estimate_load(const LoadSizes& sizes, Index det_bin, Edge edge, Index scan_bin,
                                         LayoutChoice layout, ResultType dtype);

/// The smallest detector bin of 1, 2, 4, 8, 16 (or `det_bin` when given) and the layout (the given one; automatic
/// prefers pixel-major, then compressed; lists of electrons stay what they are, compressed) whose predicted peak fits
/// the budget; what is left of it may become the source's cache. Throws Error(budget) naming the smallest need when
/// nothing fits.
[[nodiscard]] Choice<LoadEstimate> choose_load(const LoadSizes& sizes, std::optional<Index> det_bin, Edge edge,
                                               Index scan_bin, LayoutChoice layout, ResultType dtype,
                                               std::size_t budget_bytes);

/// Resident bytes as float32 for detector bins 1, 2, 4, 8: Ry Rx (Q / b^2) 4, the table `info` prints.
[[nodiscard]] std::vector<std::pair<Index, double>> float32_table(const LoadSizes& sizes);

}  // namespace sonde::stem

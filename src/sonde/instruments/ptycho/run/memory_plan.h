// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/instruments/ptycho/model/measurement.h"

namespace sonde::ptycho {

/// One engine of a run, as far as memory asks.
struct EngineSize {
  std::string name;  ///< of the table of engines
  Index batch = 1;   ///< frames that are held at once (lsqml)
};

/// What memory depends on.
struct RunSizes {
  Index frames = 0, rows = 0, cols = 0;  ///< patterns as the engines see them
  std::size_t stored_pattern_bytes = 0;  ///< of all patterns as they are read from the file
  bool refitted = false;                 ///< cropped or padded: a second copy while loading
  AmplitudeStorage storage = AmplitudeStorage::f32;
  std::size_t count_bytes = 2;  ///< of one count as read, for `counts` storage
  bool masked = false;
  Index modes = 1, slices = 1, object_rows = 0, object_cols = 0;
  Index components = 0;  ///< by which the probe varies along the scan ([opr])
  bool potential = false;
  bool fractional = false;  ///< probes between pixels are shifted through their spectrum
  std::size_t real_bytes = 4;
  Index threads = 1;
  Index starts = 1;  ///< first objects that are tried: a second reconstruction is held meanwhile
  std::vector<EngineSize> engines;
};

/// Bytes by what they are for. `loading` is held only while patterns are read, the engines' memory only while the
/// largest of them works.
struct MemoryPlan {
  struct Line {
    std::string what;
    std::size_t bytes = 0;
    std::string how;  ///< the product that gives the bytes
  };
  std::vector<Line> lines;
  std::size_t loading_bytes = 0, lasting_bytes = 0;
  std::size_t peak_bytes = 0;  ///< the larger of loading and computing

  /// With the head-room of a tenth that a budget must have.
  [[nodiscard]] std::size_t needed_bytes() const { return peak_bytes + peak_bytes / 10; }
  /// A table for people, one line each, ending in the sum.
  [[nodiscard]] std::string text() const;
};

/// Of one amplitude as it is stored.
[[nodiscard]] std::size_t amplitude_bytes(const RunSizes& sizes);

/// A pure function of the sizes (specification 10.7).
[[nodiscard]] MemoryPlan plan_memory(const RunSizes& sizes);

/// Throws Error(budget) with what is missing and what would help when the plan with its head-room does not fit.
void require_memory(const MemoryPlan& plan, const RunSizes& sizes, const Budget& budget);

}  // namespace sonde::ptycho

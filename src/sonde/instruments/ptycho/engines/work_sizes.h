// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "sonde/engine/base/index.h"
#include "sonde/engine/memory/encoding.h"
#include "sonde/engine/memory/tier.h"
#include "sonde/instruments/ptycho/engines/batch_settings.h"

namespace sonde::ptycho {

/// Scan and estimate as far as the memory of an engine depends on them.
struct WorkSizes {
  Index frames = 0, rows = 0, cols = 0;  ///< patterns as the engines see them
  Index modes = 1, slices = 1, object_rows = 0, object_cols = 0;
  bool potential = false;
  bool fractional = false;  ///< probes between pixels are shifted through their spectrum
  std::size_t real_bytes = 4;
  Index threads = 1;
  Tier wave_tier = Tier::host;  ///< of exit waves, for engines that keep them
  Encoding wave_encoding = Encoding::raw;

  [[nodiscard]] std::size_t complex_bytes() const { return 2 * real_bytes; }
  [[nodiscard]] std::size_t pixels() const { return static_cast<std::size_t>(rows * cols); }
  [[nodiscard]] std::size_t object_pixels() const {
    return static_cast<std::size_t>(slices * object_rows * object_cols);
  }
  /// The waves of a frame, one of each mode, which are as large as the probe.
  [[nodiscard]] std::size_t wave_bytes() const { return static_cast<std::size_t>(modes) * pixels() * complex_bytes(); }
  /// All exit waves as they are kept.
  [[nodiscard]] std::size_t kept_bytes() const {
    return static_cast<std::size_t>(frames) * wave_bytes() / (wave_encoding == Encoding::raw ? 1 : real_bytes / 2);
  }
};

/// Which frames see the same estimate: each by itself, groups whose probes do not meet, batches, or all.
enum class Together { one, group, batch, all };

/// How an iteration goes through the frames.
struct Passes {
  Together together = Together::all;
  BatchSettings batch{};      ///< of Together::batch
  bool sums_of_scan = false;  ///< sums are made of all frames at once, be it beside those of batches

  /// Frames that see the same estimate, at most; `most_batch` limits batches.
  [[nodiscard]] Index most_together(Index frames, Index most_batch) const;
};

/// The frames of one batch, and the room that their sums take in the bands of a pass.
struct BatchSizes {
  Index frames = 1;                  ///< at most
  Index tiles = 0, tile_pixels = 0;  ///< of the bands: how many, and the pixels of one slice in all of them
};

/// Bytes, and the words for what they are.
struct MemoryNeed {
  std::size_t bytes = 0;
  std::string how;
};

/// What BatchSums of a pass hold: object and probe with their weights, once added up and once in the tile of every
/// band.
[[nodiscard]] std::size_t sums_bytes(const WorkSizes& sizes, const BatchSizes& batch);

}  // namespace sonde::ptycho

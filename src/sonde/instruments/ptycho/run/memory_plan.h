// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/base/choice.h"
#include "sonde/engine/base/index.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/engine/memory/encoding.h"
#include "sonde/engine/memory/memory_plan.h"
#include "sonde/engine/memory/tier.h"
#include "sonde/instruments/ptycho/engines/engine.h"
#include "sonde/instruments/ptycho/model/measurement.h"

namespace sonde::ptycho {

/// One engine of a run, as far as memory asks.
struct EngineSize {
  std::string name;  ///< of the table of engines
  std::shared_ptr<const EngineSetup> setup;
  Index tiles = 0, tile_pixels = 0;                      ///< as in BatchSizes
  bool batch_chosen = false;                             ///< by a person, so that a plan does not change it
  Index most_batch = std::numeric_limits<Index>::max();  ///< frames of a batch, whatever its settings say

  /// Of `frames` frames in all.
  [[nodiscard]] BatchSizes batch(Index frames) const {
    return {setup->passes().most_together(frames, most_batch), tiles, tile_pixels};
  }
};

/// What memory depends on.
struct RunSizes : WorkSizes {
  bool refitted = false;        ///< patterns are cropped or padded while loading
  std::size_t block_bytes = 0;  ///< of the patterns that are read at a time, in all forms they pass through
  AmplitudeStorage storage = AmplitudeStorage::f32;
  std::size_t count_bytes = 2;   ///< of one count as read, for `counts` storage
  bool counts_are_whole = true;  ///< read as an unsigned type, so that `counts` keeps them
  Tier pattern_tier = Tier::host;
  Index processes = 1;     ///< that share the scan; all sizes are those of one
  Index whole_pixels = 0;  ///< of a slice of the object of all processes
  bool masked = false;
  Index components = 0;      ///< by which the probe varies along the scan ([opr])
  bool moves = false;        ///< positions are corrected
  Index starts = 1;          ///< first objects that are tried
  Index starts_at_once = 1;  ///< of these: as many reconstructions are held beside the best until now
  /// A reconstruction that comes first, on patterns of its own beside these (low_resolution); none or one.
  std::vector<RunSizes> before{};
  std::vector<EngineSize> engines;
};

/// What a budget must have beside the peak of every plan.
constexpr std::size_t head_room_percent = 10;

/// Of one amplitude as it is stored.
[[nodiscard]] std::size_t amplitude_bytes(const RunSizes& sizes);

/// A pure function of the sizes: `loading` is held only while patterns are read, the engines' memory only while the
/// largest of them works; reconstructions of one measurement share its patterns.
[[nodiscard]] MemoryPlan plan_memory(const RunSizes& sizes);

/// What a run asks for; the rest is chosen.
struct StorageRequest {
  std::optional<AmplitudeStorage> storage{};
  std::optional<Tier> pattern_tier{}, wave_tier{};  ///< waves on a `device` are no part of the host's memory
  Encoding wave_encoding = Encoding::raw;
};

/// The sizes with storage, tiers and the largest batch filled in, and one sentence that says why: the first that fits,
/// in this order: amplitudes as f32 (f64) in memory; counts of up to 16 bits as they are, else f16; exit waves on the
/// disk, then patterns, then both; smaller batches where an engine holds their waves, unless a person chose theirs.
/// When nothing fits, what needs least. A pure function of sizes and budgets.
[[nodiscard]] Choice<RunSizes> choose_storage(RunSizes sizes, const StorageRequest& requested, std::size_t host_bytes,
                                              std::size_t disk_bytes);

/// Throws Error(budget) with what is missing and what would help when the plan with its head-room does not fit into
/// the host's budget, or what it keeps on the disk not there.
void require_memory(const MemoryPlan& plan, const RunSizes& sizes, const TierBudgets& budgets);
/// For work that keeps nothing on the disk: throws Error(not_supported) when the plan does.
void require_memory(const MemoryPlan& plan, const RunSizes& sizes, const Budget& host);

}  // namespace sonde::ptycho

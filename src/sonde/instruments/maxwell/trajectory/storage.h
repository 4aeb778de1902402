// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/memory/encoding.h"
#include "sonde/engine/memory/memory_plan.h"
#include "sonde/instruments/maxwell/grid/precision.h"
#include "sonde/instruments/maxwell/propagate/kept_fields.h"

namespace sonde::maxwell {

/// Where the fields of a run are kept for its gradient. Of work on the CPU `device` is the host's memory.
enum class StorageMode {
  automatic,  ///< the first that fits: memory (of the GPU, then of the host), disk, recompute
  device,     ///< the memory of the GPU that computes
  host,
  disk,
  recompute,  ///< some states of the run, from which its fields are computed again
  none        ///< nothing: a run without gradient
};
enum class Compression {
  none,
  bf16,      ///< 16 bits of each float: half the bytes, gradients to about 4e-4
  automatic  ///< bf16 where memory is short otherwise
};

struct StorageSettings {
  StorageMode mode = StorageMode::automatic;
  Compression compression = Compression::none;
  std::optional<Index> interval = 1;  ///< steps between samples; unset: the safe one where memory is short otherwise
  std::optional<std::size_t> bytes_limit_device{}, bytes_limit_host{};
  std::string path{};  ///< folder of what lies on disk; empty: that of temporary files
  bool force = false;  ///< an interval that is too long counts as a wish
};

/// What of the fields of a run is sampled.
struct SampleLayout {
  NodeBox box;
  std::vector<Component> components;  ///< those of E, and of H where mu_r has a gradient
  /// 1: the fields before every step and after the last. Above: difference and sum of the fields after and before step
  /// n, where n is a multiple.
  Index interval = 1;
  bool difference = true, sum = true;  ///< which of them
  Index poles = 0;                     ///< whose polarisation before the step is kept too, of all E

  [[nodiscard]] bool has_magnetic() const;
  /// Of one sample, in elements.
  [[nodiscard]] Index elements() const;
  /// At most, of that many steps.
  [[nodiscard]] Index samples(Index steps) const {
    return interval == 1 ? steps + 1 : (steps + interval - 1) / interval;
  }
};

/// The longest interval, in steps of `dt` s, at which a product of two fields that reach to `highest_frequency` Hz is
/// still sampled without aliasing, 1 / (2 f dt); and the one that `automatic` takes, 0.7 of it. No frequency: 1.
[[nodiscard]] double longest_interval(double highest_frequency, double dt);
[[nodiscard]] Index safe_interval(double highest_frequency, double dt);

/// The run that is to be kept.
struct StorageRequest {
  SampleLayout layout;  ///< of interval 1
  Precision precision = Precision::f32;
  Index steps = 0;                             ///< of the propagator
  Index ratio = 1;                             ///< of those in a step of the survey
  double dt = 0;                               ///< s, of a step of the survey
  double highest_frequency = 0;                ///< Hz, of sources and residuals
  std::size_t state_bytes = 0;                 ///< of all that a step changes
  std::size_t host_bytes = 0, disk_bytes = 0;  ///< that are free
  std::optional<std::size_t> device_bytes{};   ///< that are free on the GPU that computes; unset: the CPU does
};

/// How a run is kept, with what it holds.
struct StoragePlan {
  StorageMode mode = StorageMode::none;  ///< device, host, disk, recompute or none
  std::string because{};
  Encoding encoding = Encoding::raw;
  SampleLayout layout{};
  Index steps = 0;
  Index interval = 1;                 ///< in steps of the survey
  Index states = 0, block_steps = 0;  ///< of recompute
  std::size_t state_bytes = 0;
  std::size_t host_bytes = 0, disk_bytes = 0, device_bytes = 0;
  double forward_runs = 1;    ///< how often each step is computed on average
  double expected_error = 0;  ///< of the gradient, relative, from encoding and interval
};

/// Throws Error(budget) where what is asked for does not fit, Error(io) where it is the disk that lacks room,
/// Error(bad_input) for bf16 of float64 and for an interval beyond the longest, unless that is forced.
[[nodiscard]] StoragePlan plan_storage(const StorageRequest& request, const StorageSettings& settings);

/// Throws Error(bad_input) for a plan that keeps nothing.
void require_kept(const StoragePlan& plan);
/// "host", "bf16 on disk, every 4th step": for people.
[[nodiscard]] std::string text_of(const StoragePlan& plan);
/// Adds what it holds of the host and of the disk.
void add_storage(const StoragePlan& plan, MemoryPlan& memory);
/// Adds what it holds of a GPU.
void add_device_storage(const StoragePlan& plan, MemoryPlan& memory);

}  // namespace sonde::maxwell

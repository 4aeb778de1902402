// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/memory/encoding.h"
#include "sonde/engine/memory/memory_plan.h"
#include "sonde/instruments/maxwell/grid/precision.h"
#include "sonde/instruments/maxwell/propagate/kept_fields.h"
#include "sonde/instruments/maxwell/propagate/problem.h"

namespace sonde::maxwell {

/// Where the fields of a run are kept for its gradient. Of work on the CPU `device` is the host's memory.
enum class StorageMode {
  automatic,  ///< the first that fits: memory (of the GPU, then of the host), disk, recompute
  device,     ///< the memory of the GPU that computes
  host,
  disk,
  recompute,    ///< some states of the run, from which its fields are computed again
  reconstruct,  ///< E at the edge of the model, from which the run is taken back inside; only where it is asked for
  none          ///< nothing: a run without gradient
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
  NodeBox hollow{};                   ///< nodes of the box that are left out
  std::vector<Component> components;  ///< those of E, and of H where mu_r has a gradient
  /// 1: the fields before every step and after the last. Above: difference and sum of the fields after and before step
  /// n, where n is a multiple.
  Index interval = 1;
  bool difference = true, sum = true;  ///< which of them
  Index shots = 1;                     ///< that run at the same time
  Index poles = 0;                     ///< whose polarisation before the step is kept too, of all E

  [[nodiscard]] bool has_magnetic() const;
  [[nodiscard]] Index nodes() const { return box.count() - hollow.count(); }
  /// Where the row [x] at k, j begins among the nodes, and the one or two pieces that it consists of.
  [[nodiscard]] Index row(Index k, Index j) const;
  struct Piece {
    Index first = 0, count = 0;
  };
  [[nodiscard]] std::array<Piece, 2> pieces(Index k, Index j) const;
  /// Of one sample of one shot, of all shots, in elements.
  [[nodiscard]] Index elements_of_shot() const;
  [[nodiscard]] Index elements() const { return shots * elements_of_shot(); }
  /// At most, of that many steps.
  [[nodiscard]] Index samples(Index steps) const {
    return interval == 1 ? steps + 1 : (steps + interval - 1) / interval;
  }
  friend bool operator==(const SampleLayout&, const SampleLayout&) = default;
};

/// The longest interval, in steps of `dt` s, at which a product of two fields that reach to `highest_frequency` Hz is
/// still sampled without aliasing, 1 / (2 f dt); and the one that `automatic` takes, 0.7 of it. No frequency: 1.
[[nodiscard]] double longest_interval(double highest_frequency, double dt);
[[nodiscard]] Index safe_interval(double highest_frequency, double dt);

/// What a run needs to be taken back: its fields inside by the step in reverse, those around from a store.
struct Reconstruction {
  SampleLayout shell{};        ///< what of each step is stored; its box holds all that moves
  double growth = 0;           ///< exponent by which fields grow backwards at most: max sigma t / eps
  std::size_t work_bytes = 0;  ///< beside the stored ones
  std::string obstacle{};      ///< why it is not possible; empty: it is
};
/// For the fields of `wanted`. H at the outermost half nodes of the model needs E up to M planes beyond them, and E
/// needs H that no layer has moved: a shell of 2M - 1 planes at the inner edge of each layer (order 2M), or all that is
/// not inside, where fields in the layers are wanted.
[[nodiscard]] Reconstruction reconstruction_of(const Problem& problem, const SampleLayout& wanted, Index steps,
                                               Precision precision);

/// The run that is to be kept.
struct StorageRequest {
  SampleLayout layout;  ///< of interval 1
  Reconstruction reconstruction{};
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
  StorageMode mode = StorageMode::none;  ///< not automatic
  std::string because{};
  Encoding encoding = Encoding::raw;
  SampleLayout layout{};
  SampleLayout shell{};  ///< of reconstruct: what is stored
  Index steps = 0;
  Index interval = 1;                 ///< in steps of the survey
  Index states = 0, block_steps = 0;  ///< of recompute
  std::size_t state_bytes = 0;
  std::size_t work_bytes = 0;  ///< of reconstruct, among those of the host
  std::size_t host_bytes = 0, disk_bytes = 0, device_bytes = 0;
  double forward_runs = 1;    ///< how often each step is computed on average
  double expected_error = 0;  ///< of the gradient, relative, from encoding, interval and steps in reverse
  friend bool operator==(const StoragePlan&, const StoragePlan&) = default;
};

/// Throws Error(not_supported) where fields are to be reconstructed and cannot be, Error(budget) where what is asked
/// for does not fit, Error(io) where it is the disk that lacks room, Error(bad_input) for bf16 of float64 and for an
/// interval beyond the longest, unless that is forced.
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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "sonde/engine/array/view.h"
#include "sonde/engine/device/graph.h"
#include "sonde/engine/device/stream.h"
#include "sonde/instruments/maxwell/propagate/kept_fields.h"
#include "sonde/instruments/maxwell/propagate/plane_hooks.h"
#include "sonde/instruments/maxwell/propagate/problem.h"
#include "sonde/instruments/maxwell/propagate/threads.h"

namespace sonde::maxwell {
namespace stepping {
template <class T>
class DeviceStepper;
}

/// What a propagator holds, what of that a step changes, and what it holds beside it while it is made.
struct PropagatorBytes {
  std::size_t lasting = 0, state = 0, in_preparation = 0;
};

/// The fast path of the CPU for T = float or double: the step of Problem by vector loops over rows, all threads on one
/// shot. H and E of a step go through the planes of z together, so that a step reads and writes the fields once:
/// 56 bytes per cell in 3D and 32 in tm2d for float32, where factors repeat and layers are thin. The numbers do not
/// depend on threads. Memory: bytes(). Not thread-safe; run() uses parallel_for.
///
/// On a GPU all is in its memory, factors as whole arrays: 80 bytes per cell and step in 3D and 44 in tm2d for float32,
/// and what the layers add. A step is queued, not waited for, and replayed as a graph where that is faster. CPU and GPU
/// differ by rounding.
template <class T>
class Propagator {
 public:
  /// Factors in float64, rounded to T. Throws as coefficients() does.
  explicit Propagator(const Problem& problem, Threads threads = Threads::all);
  /// On a GPU up to `shots` of them step at the same time, with the bits of each by itself (Point::shot); a state is
  /// then that of the first one.
  Propagator(const Problem& problem, Device device, Threads threads = Threads::all, Index shots = 1);
  ~Propagator();
  Propagator(Propagator&&) noexcept;
  Propagator& operator=(Propagator&&) noexcept;

  /// All fields zero.
  void clear();
  /// Values on walls and in conductors are taken as zero.
  void set_state(const State& state);
  [[nodiscard]] State state() const;

  /// The fields, psi and polarisations as they lie in memory: a run that goes on from them has the same bits.
  [[nodiscard]] std::size_t state_bytes() const;
  void save(std::span<std::byte> to) const;
  void restore(std::span<const std::byte> from);
  /// Row [x] of a component: E^n and H^{n-1/2} between steps. Throws Error(not_supported) on a GPU.
  [[nodiscard]] const T* row(Component c, Index k, Index j) const;
  /// The same as a whole where it is in memory, [z][y][x] of the padded grid. Between steps it may be written into;
  /// fields_changed() has to follow, which takes values as set_state() does. Of a GPU it is a copy on the host, made
  /// when it is first asked for behind a step.
  [[nodiscard]] View<T, 3> field(Component c);
  void fields_changed();

  /// Row [x] of a pole's polarisation; on the CPU.
  [[nodiscard]] const T* pole_row(std::size_t pole, Component c, Index k, Index j) const;

  /// E in a box before each step, which the step leaves behind in the memory of a GPU: of step n at n times `stride`,
  /// of each shot `shot` elements further, [component][z][y][x]; as it is, or in 16 bits where `to` is null.
  struct Kept {
    NodeBox box;
    std::span<const Component> components;
    T* to = nullptr;
    std::uint16_t* halves = nullptr;
    Index stride = 0, shot = 0;
  };

  /// What goes on beside the steps 0, 1, ... of a run. With `before` or `after` each step goes through memory by
  /// itself; otherwise several do together, by parts of the fields that fit into the cache, with the same numbers.
  struct Beside {
    std::function<void(Index step)> before{};
    PlaneHooks planes{};  ///< Error(not_supported) on a GPU
    std::function<void(Index step, const Propagator& fields)> after{};
    std::function<void()> counted{};  ///< for each step, at some time behind it
    Index together = 0;               ///< most steps that go through memory together; 0: as many as pay
    std::optional<Kept> kept{};       ///< on a GPU
  };
  /// Runs `steps` steps. `amplitudes`: [step][source]; `record`: [step][receiver], float64 of T values. Checks for an
  /// interrupt between steps. On a GPU what goes on beside a step is called when the step is queued, and may queue work
  /// to stream(); the record is there in the end.
  void run(const Acquisition& shot, Index steps, std::span<const double> amplitudes, std::span<double> record,
           const Beside& beside = {});
  /// How many steps the last run() took through memory together; 0 before it and on a GPU.
  [[nodiscard]] Index steps_together() const { return together_; }

  [[nodiscard]] std::size_t bytes() const;
  /// At most so many for a problem of this grid, before one is made. What it holds beside while it is made is memory of
  /// the host.
  [[nodiscard]] static PropagatorBytes bytes_for(const Grid& grid, std::size_t poles, Device device = Device::cpu(),
                                                 Index shots = 1);
  [[nodiscard]] const Grid& grid() const;
  [[nodiscard]] const Problem& problem() const;  ///< without its medium
  /// Factors of a row: E <- ca E + cb curl, H <- H - cq curl, where the others are null. On the CPU.
  struct Factors {
    const T *ca = nullptr, *cb = nullptr, *cq = nullptr;
  };
  [[nodiscard]] Factors factors(Component c, Index k, Index j) const;
  /// On the CPU.
  [[nodiscard]] Threads threads() const;

  /// On a GPU the queue of all its work; nullptr on the CPU.
  [[nodiscard]] Stream* stream() const;
  /// Of a GPU: whether steps are replayed as a graph; else whichever way is measured to be faster. The bits are the
  /// same.
  void replay(Graph::Replay how);
  /// On a GPU: queues copies of the fields in a box to its memory, [component][z][y][x]; with `before`, such a copy,
  /// field minus before to `difference` and field plus before to `sum`, unless they are null. From one shot to the next
  /// these have `shot` elements, and `before` its own.
  void sample(const NodeBox& box, std::span<const Component> components, Index shot, T* to) const;
  struct Before {
    const T* fields = nullptr;
    Index shot = 0;
  };
  void sample_change(const NodeBox& box, std::span<const Component> components, Index shot, const Before& before,
                     T* difference, T* sum) const;

 private:
  void require_host(const char* what) const;
  void run_on_device(const Acquisition& shot, Index steps, std::span<const double> amplitudes, std::span<double> record,
                     const Beside& beside);
  void keep_on_device(const std::optional<Kept>& kept);

  struct Impl;
  Index together_ = 0;
  std::unique_ptr<Impl> impl_;                            ///< on the CPU
  std::unique_ptr<stepping::DeviceStepper<T>> device_{};  ///< on a GPU
};

extern template class Propagator<float>;
extern template class Propagator<double>;

}  // namespace sonde::maxwell

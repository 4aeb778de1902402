// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "sonde/engine/device/device.h"
#include "sonde/instruments/maxwell/propagate/kept_fields.h"
#include "sonde/instruments/maxwell/propagate/problem.h"
#include "sonde/instruments/maxwell/propagate/propagator.h"

namespace sonde::maxwell {
namespace stepping {
template <class T>
class DeviceBackSweep;
}

/// Which sums over the steps are made (SweepSums): those of H need H of every step; squares are of the changes whose
/// products are made.
struct Wanted {
  bool difference = true, sum = true, magnetic = false, squares = false, poles = false;
  [[nodiscard]] bool electric() const { return difference || sum || poles; }
  [[nodiscard]] bool any() const { return electric() || magnetic; }
};

/// The exact transpose of Propagator::run() by one sweep backwards, on the fast path of the CPU: the same factors,
/// stencils and planes, so that a step costs what a step forwards does and the reading of two stored fields. Models
/// with poles too. The numbers do not
/// depend on threads. On a GPU as Propagator is; what is kept is then of a run there.
template <class T>
class BackPropagator {
 public:
  explicit BackPropagator(const Problem& problem, Threads threads = Threads::all);
  BackPropagator(const Problem& problem, Device device, Threads threads = Threads::all, Index shots = 1);
  ~BackPropagator();
  BackPropagator(BackPropagator&&) noexcept;
  BackPropagator& operator=(BackPropagator&&) noexcept;

  /// What goes on beside a run.
  struct Beside {
    const State* end = nullptr;               ///< derivative of the loss by the fields behind the last step; null: zero
    std::function<void(Index step)> after{};  ///< when a step has been taken back
  };
  /// `residual`: [step][receiver]; `sources`: [step][source], overwritten with the gradient of the amplitudes. `kept`
  /// are the fields of the run, not used where no sums are wanted. What sums there are from earlier calls is kept:
  /// those of several shots add. Sums of poles are made on the CPU. Throws Error(not_supported) for hard sources, whose
  /// amplitude is no current.
  void run(const Acquisition& shot, Index steps, std::span<const double> residual, KeptFields<T>* kept,
           const Wanted& wanted, std::span<double> sources, const Beside& beside = {});

  /// Of all runs so far; gradient_of() makes gradients of the medium of them. Of shots that run at the same time each
  /// has its own.
  [[nodiscard]] SweepSums sums(Index shot = 0) const;
  void clear_sums();
  /// Gradient of the start of the last run.
  [[nodiscard]] State start() const;
  /// Between steps, as Propagator::field(): in the place of E cb times the derivative of the loss by it (with poles
  /// also by what they take of it in the next step), in that of H -cq times it.
  [[nodiscard]] View<T, 3> field(Component c);
  [[nodiscard]] const Grid& grid() const;

  [[nodiscard]] std::size_t bytes() const;
  /// At most so many for a problem of this grid, before one is made.
  [[nodiscard]] static PropagatorBytes bytes_for(const Grid& grid, std::size_t poles, const Wanted& wanted,
                                                 Device device = Device::cpu(), Index shots = 1);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;                              ///< on the CPU
  std::unique_ptr<stepping::DeviceBackSweep<T>> device_{};  ///< on a GPU
};

extern template class BackPropagator<float>;
extern template class BackPropagator<double>;

}  // namespace sonde::maxwell

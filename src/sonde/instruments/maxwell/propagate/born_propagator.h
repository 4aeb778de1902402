// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "sonde/engine/device/device.h"
#include "sonde/instruments/maxwell/propagate/plane_hooks.h"
#include "sonde/instruments/maxwell/propagate/problem.h"

namespace sonde::maxwell {
namespace stepping {
template <class T>
class DeviceBornRun;
}

/// The derivative of Propagator::run() along a change of what it depends on (Born's approximation, linearised
/// modelling): background and perturbation step together on the fast path of the CPU, and each step of the background
/// is a source of the perturbation where the medium changes. Its transpose is BackPropagator. A step costs about three
/// of the propagator. The numbers do not depend on threads. On a GPU as Propagator is.
template <class T>
class BornPropagator {
 public:
  /// `change`: of the medium at the nodes of the components; empty parts do not change. With poles eps_r is eps_inf.
  /// Throws Error(not_supported) for a change of poles on a GPU.
  BornPropagator(const Problem& problem, const ComponentChange& change, Device device = Device::cpu());
  ~BornPropagator();
  BornPropagator(BornPropagator&&) noexcept;
  BornPropagator& operator=(BornPropagator&&) noexcept;

  /// Fields of the background and of the perturbation are zero.
  void clear();
  void set_state(const State& background, const State& perturbation);

  /// What goes on beside the steps 0, 1, ... of a run.
  struct Beside {
    std::function<void(Index step)> before{};
    PlaneHooks background{}, change{};  ///< Error(not_supported) on a GPU
    std::function<void(Index step)> after{};
  };
  /// `amplitudes`, `amplitude_changes` (or empty: none): [step][source]; `record`: the background's [step][receiver],
  /// or empty; `record_change` its derivative.
  void run(const Acquisition& shot, Index steps, std::span<const double> amplitudes,
           std::span<const double> amplitude_changes, std::span<double> record, std::span<double> record_change,
           const Beside& beside = {});
  /// Rows [x] of a component of the background, and of its change. On the CPU.
  [[nodiscard]] const T* row(Component c, Index k, Index j) const;
  [[nodiscard]] const T* change_row(Component c, Index k, Index j) const;
  /// Of a pole's polarisation in the same way.
  [[nodiscard]] const T* pole_row(std::size_t pole, Component c, Index k, Index j) const;
  [[nodiscard]] const T* pole_change_row(std::size_t pole, Component c, Index k, Index j) const;
  /// Of the perturbation.
  [[nodiscard]] State change_state() const;

  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;                            ///< on the CPU
  std::unique_ptr<stepping::DeviceBornRun<T>> device_{};  ///< on a GPU
};

extern template class BornPropagator<float>;
extern template class BornPropagator<double>;

}  // namespace sonde::maxwell

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "sonde/instruments/maxwell/propagate/problem.h"

namespace sonde::maxwell {

/// The fields of a run as its steps found them.
template <class T>
using StoredFields = std::function<const T*(Component c, Index step, Index k, Index j)>;

/// The exact transpose of Propagator::run() by one sweep backwards, on the fast path of the CPU: the same factors,
/// stencils and planes, so that a step costs what a step forwards does and the reading of two stored fields. Models
/// with poles: their sources, starts, eps_r (eps_inf) and sigma; deps and tau have no gradient here. The numbers do not
/// depend on threads.
template <class T>
class BackPropagator {
 public:
  explicit BackPropagator(const Problem& problem);
  ~BackPropagator();
  BackPropagator(BackPropagator&&) noexcept;
  BackPropagator& operator=(BackPropagator&&) noexcept;

  /// What of the medium is wanted: sums of H cost H of every step.
  struct Wanted {
    bool electric = true, magnetic = false;
  };
  /// `residual`: [step][receiver]; `sources`: [step][source], overwritten with the gradient of the amplitudes. `fields`
  /// gives row [x] of a component before step n, n = 0 to steps, from several threads at once: E where electric sums
  /// are wanted, H where magnetic ones are. What sums there are from earlier calls is kept: gradients of several shots
  /// add. Throws Error(not_supported) for hard sources, whose amplitude is no current.
  void run(const Acquisition& shot, Index steps, std::span<const double> residual, const StoredFields<T>& fields,
           const Wanted& wanted, std::span<double> sources);

  /// Of all runs so far; gradient_of() makes gradients of the medium of them.
  [[nodiscard]] SweepSums sums() const;
  void clear_sums();
  /// Gradient of the start of the last run.
  [[nodiscard]] State start() const;

  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

extern template class BackPropagator<float>;
extern template class BackPropagator<double>;

}  // namespace sonde::maxwell

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "sonde/instruments/maxwell/propagate/back_propagator.h"

namespace sonde::maxwell {

/// The derivative of BackPropagator::run() along a change of the medium: what a Hessian has beside the product of
/// Gauss and Newton. The sweep and its derivative go backwards together; both runs' fields must have been kept, those
/// of the background and those of its change (BornPropagator). A step costs about three of the propagator. The numbers
/// do not depend on threads.
template <class T>
class SecondBackPropagator {
 public:
  /// `change` as for BornPropagator.
  SecondBackPropagator(const Problem& problem, const ComponentChange& change);
  ~SecondBackPropagator();
  SecondBackPropagator(SecondBackPropagator&&) noexcept;
  SecondBackPropagator& operator=(SecondBackPropagator&&) noexcept;

  /// `residual`, `residual_change` (or empty: none): [step][receiver]. With the loss's second derivative times the
  /// change of the record as `residual_change`, the result is the whole product of the Hessian. `source_changes`:
  /// [step][source], overwritten with the change of the gradient of the amplitudes. Throws as BackPropagator::run().
  void run(const Acquisition& shot, Index steps, std::span<const double> residual,
           std::span<const double> residual_change, KeptFields<T>& kept, KeptFields<T>& kept_change,
           const Wanted& wanted, std::span<double> source_changes);

  /// The change of SweepSums, of the last run. gradient_of() makes the change of the gradient of them where its factors
  /// do not depend on the medium: with semi-implicit loss.
  [[nodiscard]] SweepSums sums() const;
  /// Of the unchanged run, where poles are wanted: only theirs, for pole_gradient_change().
  [[nodiscard]] SweepSums pole_sums() const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

extern template class SecondBackPropagator<float>;
extern template class SecondBackPropagator<double>;

}  // namespace sonde::maxwell

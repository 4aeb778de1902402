// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sonde/instruments/maxwell/propagate/kept_fields.h"
#include "sonde/instruments/maxwell/propagate/plane_hooks.h"
#include "sonde/instruments/maxwell/propagate/propagator.h"

namespace sonde::maxwell {

/// A run of Propagator taken back in a box of its grid, on the CPU: E and H before a step from those after it, by the
/// same loops with ca -> 1 / ca, cb -> -cb / ca and cq -> -cq. Absorbing layers are left out. Fields that a layer has
/// moved, or that the step reaches from outside of the box, are wrong: who knows them writes them behind each half step
/// (PlaneHooks::after_electric, after_magnetic). Loss grows backwards, and rounding with it. The medium has no poles.
template <class T>
class ReversedPropagator {
 public:
  /// Of the medium and the threads of `run`, with the fields that it has now.
  ReversedPropagator(const Propagator<T>& run, const NodeBox& box, const std::vector<Point>& sources);
  ~ReversedPropagator();

  /// `amplitudes`: those of the sources in the step that is taken back. E moves first; hooks count planes as the whole
  /// grid does.
  void step(std::span<const double> amplitudes, const PlaneHooks& hooks = {});
  /// Row of a component from the first x of the box on, at a row of the whole grid.
  [[nodiscard]] T* row(Component c, Index k, Index j);

  /// At most so many for a box of this many nodes along each axis.
  [[nodiscard]] static std::size_t bytes_for(const GridSpec& of, const NodeBox& box);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

extern template class ReversedPropagator<float>;
extern template class ReversedPropagator<double>;

}  // namespace sonde::maxwell

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "sonde/instruments/maxwell/propagate/propagator.h"

namespace sonde::maxwell {

/// J; in tm2d J/m.
struct FieldEnergy {
  double electric = 0, magnetic = 0;
};

/// What leapfrog conserves where nothing is lost: 1/2 sum eps E^n E^n and 1/2 sum mu H^{n-1/2} H^{n+1/2} at time n dt,
/// over the cells of the model, without its layers and without what poles store. Taken beside step n, by the threads
/// that move the planes; the sums do not depend on how many. Holds one plane of H for each of them.
template <class T>
class EnergyMeter {
 public:
  /// Both must outlive this, and stay where they are.
  EnergyMeter(const Problem& problem, const Propagator<T>& fields);
  ~EnergyMeter();
  EnergyMeter(EnergyMeter&&) noexcept;

  /// For the whole run: they do nothing in steps that are not measured.
  [[nodiscard]] PlaneHooks hooks();
  /// Before a step: whether it is measured.
  void measure_next(bool measured);
  /// Behind a step that was measured. Of a divided grid the sum over its ranks, which all make the call.
  [[nodiscard]] FieldEnergy taken() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

extern template class EnergyMeter<float>;
extern template class EnergyMeter<double>;

}  // namespace sonde::maxwell

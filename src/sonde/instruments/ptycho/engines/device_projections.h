// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sonde/instruments/ptycho/engines/projections.h"
#include "sonde/instruments/ptycho/model/device_pass.h"

namespace sonde::ptycho {

/// What the projection engines do with their exit waves by the kernels of a device, where the waves stay: the same
/// steps as those of Projections on the CPU, on the estimate that lives there.
template <class Real>
class DeviceProjections {
 public:
  /// `bound` is the power bound of a frame; active frames take part. All must outlive this. The first waves are those
  /// of the estimate, and so are the sums for the first object.
  DeviceProjections(DevicePass<Real>& pass, const Model<Real>& model, const std::vector<Index>& active,
                    const ProjectionSettings& settings, double bound);

  void sum_for_object();
  void sum_for_probe();
  void solve_object();
  /// The relative change of the probe; waits for it.
  double solve_probe();
  /// Fills the fit of P O.
  void move_waves(std::span<FrameSums> fit);
  /// Every wave goes with its probe from where its frame lay to where it lies now.
  void shift_waves(std::span<const Placement> from, std::span<const Placement> now);
  /// Other settings from now on; the waves stay.
  void take(const ProjectionSettings& settings, double bound) {
    settings_ = settings;
    bound_ = bound;
  }
  /// (frames, modes, rows, cols) on the device; zero for frames that take no part.
  [[nodiscard]] Array& kept() { return kept_; }

 private:
  /// The sum of a plane, where kernels find it.
  const double* total_of(const Array& plane);

  DevicePass<Real>* pass_;
  const std::vector<Index>* active_;
  ProjectionSettings settings_;
  double bound_;
  Array kept_;
  Array partial_, totals_;  // of sums over planes: strips, and one or two numbers
};

}  // namespace sonde::ptycho

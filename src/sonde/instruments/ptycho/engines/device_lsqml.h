// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "sonde/instruments/ptycho/engines/engine.h"
#include "sonde/instruments/ptycho/model/device_pass.h"
#include "sonde/instruments/ptycho/scan/groups.h"

namespace sonde::ptycho {

namespace device {
template <class Real>
struct Complex;
}

struct LsqmlSettings;

/// The steps of Lsqml by the kernels of a device. A batch is looked at twice: chi of its frames makes the directions,
/// and then finds how far along them each frame wants to go.
template <class Real>
class DeviceLsqml {
 public:
  /// Batches have at most `most` frames.
  DeviceLsqml(DevicePass<Real>& pass, const Model<Real>& model, Index most);

  /// One iteration on the estimate that lives there.
  void iterate(const LsqmlSettings& settings, std::span<const Index> active, const Batches& batches,
               const Iteration& iteration, std::span<FrameSums> fit);

 private:
  using Wave = device::Complex<Real>;

  void illuminate(std::span<const Index> active);
  /// chi of every frame is kept, and its sums become the directions of object and probe.
  [[nodiscard]] DeviceRound<Real> directions(const LsqmlSettings& settings, const Iteration& free);
  /// How far along them each frame wants to go, and the batch with all of them.
  [[nodiscard]] DeviceRound<Real> lengths(const LsqmlSettings& settings, const Iteration& free);

  DevicePass<Real>* pass_;
  Array chi_;              // (batch, M, Ny, Nx)
  Array light_, largest_;  // of the whole scan: W of the object, and its maxima as ordered bits
  Array along_;            // (batch, S, fit_sums)
  Array wanted_;           // (2, batch): steps of the frames, in their order and by size
  Array steps_;            // (S + 1)
};

}  // namespace sonde::ptycho

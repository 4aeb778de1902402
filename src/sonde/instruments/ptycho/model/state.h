// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/instruments/ptycho/scan/placement.h"
#include "sonde/instruments/ptycho/scan/positions.h"

namespace sonde::ptycho {

/// complex: the transmission O itself. potential: a real phase map phi in radians, O = exp(i phi).
enum class ObjectType { complex, potential };

/// What a reconstruction looks for, in the precision that computes (c64 and f32, or c128 and f64), on the host.
struct State {
  ObjectType type = ObjectType::complex;
  Array object;  ///< (S, Y, X) complex: transmission of every slice; for a potential exp(i phase)
  Array phase;   ///< (S, Y, X) real, radians: potential only, else empty
  Array probe;   ///< (M, Ny, Nx) complex, centred: modes, sum |P|^2 = counts per frame
  /// How the first mode varies along the scan: at frame j it is P + sum_l opr_weights(j, l) opr_modes(l). (L, Ny, Nx)
  /// and (J, L) complex; both empty when it does not.
  Array opr_modes, opr_weights;
  std::vector<Point> positions;       ///< (J), place of probe index floor(N / 2) in object pixels
  std::vector<Placement> placements;  ///< (J), the same as window origin and fraction

  [[nodiscard]] Index slices() const { return object.shape()[0]; }
  [[nodiscard]] Index modes() const { return probe.shape()[0]; }
  [[nodiscard]] Index components() const { return opr_modes.empty() ? 0 : opr_modes.shape()[0]; }
  [[nodiscard]] Window window() const { return {probe.shape()[1], probe.shape()[2]}; }

  /// Whether any probe lies between pixels, so that it is shifted in Fourier space.
  [[nodiscard]] bool fractional() const;
  /// A state of its own, with all it holds.
  [[nodiscard]] State clone() const;
  /// object = exp(i phase) after a change of the phase.
  void follow_phase();
};

}  // namespace sonde::ptycho

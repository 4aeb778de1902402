// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <vector>

#include "sonde/engine/device/parallel.h"
#include "sonde/engine/options/fields.h"
#include "sonde/instruments/ptycho/engines/workbench.h"

namespace sonde::ptycho {

/// [opr]: how the probe may vary along the scan.
struct OprSettings {
  Index modes = 0;  ///< L; 0: every frame has the same probe
  Index start = 10, every = 1;
  double relax = 1;             ///< share of a frame's own step that counts, of its weights and of its probe
  bool constant_power = false;  ///< variation leaves the power as it is, to first order

  void describe(Fields& fields);
};

/// Orthogonal probe relaxation (Odstrcil, Baksh, Boden, Card, Chad, Frey and Brocklesby 2016): the
/// first mode of the probe at frame j is P + sum_l u_jl E_l, l < L.
///
/// Weights follow from the E of the call before: relax times a Gauss-Newton step on the amplitudes of the frame. (The
/// projection of a step along the complex wave, which most of u_jl E_l only turns the phases of, is far too short.)
/// With these weights every frame would take a probe of its own by the step of ePIE, d_j = conj(O_j) chi_j / max
/// |O_j|^2. What is kept of all these probes is their mean, which is P, and the L strongest components of the rest: a
/// truncated singular value decomposition. It is never formed: each call takes E from the sum over frames of conj(u_j)
/// times the frame's own part, u_j E + relax d_j (one round of orthogonal iteration), so that memory is that of the E
/// and one more set of sums, whatever the number of frames. The first call starts from random weights. E are
/// orthonormal, the weights have no mean and are uncorrelated, the strongest comes first; a weight above 1.5 times the
/// 95 % quantile of its component is cut to that.
template <class Real>
class ProbeRelaxation {
 public:
  /// Gives the workbench's state room for the components where it has none.
  ProbeRelaxation(const OprSettings& settings, Workbench<Real>& bench);

  [[nodiscard]] bool due(Index iteration) const {
    return iteration >= settings_.start && (iteration - settings_.start) % settings_.every == 0;
  }
  /// One round, over the active frames; the others get weights between those of their neighbours in the scan. Cost:
  /// that of one iteration of gd, and L forward models of one mode for each frame. Returns the share of the first
  /// mode's power that varies.
  double relax(Workbench<Real>& bench);

 private:
  using Complex = std::complex<Real>;
  /// What some of the frames add up.
  struct Part {
    std::vector<Complex> weighted;  // (L, Ny, Nx): sum_j conj(u_j) d_j
    std::vector<Complex> total;     // (Ny, Nx): sum_j d_j
  };

  /// Room of one thread.
  struct Room {
    Exposure<Real> exposure;
    std::vector<Complex> components;         // (L, Ny, Nx): their far fields
    std::vector<double> row, normal, right;  // 2 L, (2 L)^2, 2 L: by real and imaginary parts of weights
  };

  void fit_weights(Workbench<Real>& bench, Index frame, Room& room) const;
  void step_of(const Model<Real>& model, Index frame, Exposure<Real>& exposure) const;
  void decompose(State& state, const std::vector<Index>& active);
  void finish_weights(State& state, const std::vector<Index>& active) const;

  OprSettings settings_;
  PerWorker<Room> rooms_;
  std::vector<Part> parts_;  // as many whatever the threads, so that sums have one order
};

/// Room for `modes` components in a state: all zero, so that nothing varies. Does nothing when there is room already.
void make_opr_room(State& state, Index modes);

}  // namespace sonde::ptycho

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "sonde/engine/array/array.h"
#include "sonde/instruments/ptycho/optics/sampling.h"

namespace sonde::ptycho {

/// Free space between two slices.
struct Propagation {
  double distance = 0;     ///< A, along the beam
  double tilt_row = 0;     ///< rad; positive moves the wave to larger rows, by distance tan(tilt)
  double tilt_col = 0;     ///< rad; positive moves the wave to larger columns
  bool band_limit = true;  ///< zero above two thirds of the Nyquist frequency
};

/// The largest frequency that a band-limited propagator lets pass, 1/A: two thirds of the smaller of the two Nyquist
/// frequencies, a circle.
[[nodiscard]] double band_limit(const Sampling& sampling);

/// The multiplier of a wave's spectrum, complex128 (rows, cols), zero frequency at [0,0]:
///   H(k) = exp(-i pi lambda dz |k|^2) exp(-2 pi i dz (kx tan tx + ky tan ty)),
/// so that psi(z + dz) = F^-1 H F psi. Its adjoint is the conjugate. Throws Error(not_supported) without a wavelength,
/// Error(bad_input) for tilts of a right angle and more.
[[nodiscard]] Array propagator(const Sampling& sampling, const Propagation& propagation);

/// How a wave gets from each slice to the next, complex128 (slices - 1, rows, cols), zero frequency at [0,0]: the
/// propagators over `spacings` (A), with tilt and band limit of `how` (its distance is not used). One slice has no
/// spacing: an empty array.
[[nodiscard]] Array slice_propagators(const Sampling& sampling, std::span<const double> spacings, Propagation how = {});

}  // namespace sonde::ptycho

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "sonde/engine/array/array.h"
#include "sonde/instruments/ptycho/optics/sampling.h"

namespace sonde::ptycho {

/// Modes that add incoherently in place of the one coherent mode of `probe`, with its power: products of it with the
/// coordinates, orthogonal (start_modes()), mode m with the share occupancies[m] of the power. The shares are scaled to
/// a sum of one. Throws Error(bad_input) for shares that are negative or add up to nothing.
[[nodiscard]] Array with_occupancies(const Array& probe, std::span<const double> occupancies);

/// Modes for a Gaussian source of finite size: nine copies of every mode of `probe`, shifted to the nodes of the
/// three-point Gauss-Hermite rule in both directions and weighted by it, so that the mean over the source is exact for
/// intensities that are polynomials of the shift up to degree five. They are not orthogonal; only the sum of their
/// intensities has a meaning. `fwhm` in the sampling's unit of length; 0 leaves the probe as it is.
[[nodiscard]] Array with_source_size(const Array& probe, const Sampling& sampling, double fwhm);

}  // namespace sonde::ptycho

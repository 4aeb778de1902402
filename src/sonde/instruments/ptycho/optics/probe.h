// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/array/array.h"
#include "sonde/engine/array/view.h"
#include "sonde/instruments/ptycho/optics/aberrations.h"
#include "sonde/instruments/ptycho/optics/sampling.h"

namespace sonde::ptycho {

/// Probes are complex128 (modes, rows, cols), centred at index floor(n / 2), and leave here with a power
/// sum |P|^2 of one; scale_to_counts() gives them that of the data.

/// Hard: a pixel is inside or outside. Pixel: the edge falls over one detector pixel, which is what a detector sees.
enum class ApertureEdge { hard, pixel };

/// What forms the probe: a round aperture and the aberrations of the lens.
struct ApertureOptics {
  double semiangle = 0;  ///< rad
  Aberrations aberrations;
  ApertureEdge edge = ApertureEdge::pixel;
};

/// A(k), float64 (rows, cols), zero frequency at [0,0]: clip((semiangle - alpha) / (lambda dk) + 1/2, 0, 1), or its
/// rounding for a hard edge. Throws Error(not_supported) without a wavelength, Error(bad_input) for a semiangle that is
/// not above zero or does not fit on the detector.
[[nodiscard]] Array aperture(const Sampling& sampling, double semiangle, ApertureEdge edge);

/// F^-1[A exp(-i chi)], one mode. Throws like aperture().
[[nodiscard]] Array aperture_probe(const Sampling& sampling, const ApertureOptics& optics);

/// A real Gaussian whose intensity has the full width at half maximum `fwhm`, in the sampling's unit of length (A or
/// pixels); one mode. Throws Error(bad_input) for a width that is not above zero.
[[nodiscard]] Array gaussian_probe(const Sampling& sampling, double fwhm);

/// F^-1[sqrt(I) exp(-i chi)] from a measured intensity (rows, cols), zero frequency at [0,0]: a pattern in vacuum, or
/// the mean of all patterns, of which `cut` removes what the specimen scattered outside of the disk. Pixels below
/// cut * sum I^2 / sum I (the level of a flat disk) count as zero, as negative ones do. Only the shape of the intensity
/// matters. Aberrations other than zero need a wavelength. Throws Error(bad_input) when sizes differ, values are not
/// finite or nothing is left.
[[nodiscard]] Array measured_probe(const Sampling& sampling, View<const double, 2> intensity,
                                   const Aberrations& aberrations, double cut = 0);

/// sum |P|^2 over all modes.
[[nodiscard]] double power(const Array& probe);

/// Scales all modes alike so that sum |P|^2 = counts, the mean counts of a frame. Throws Error(bad_input) for a probe
/// without power and for counts that are not above zero.
void scale_to_counts(Array& probe, double counts);

}  // namespace sonde::ptycho

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/instruments/ptycho/direct/bright_field.h"
#include "sonde/instruments/ptycho/direct/focus.h"
#include "sonde/instruments/ptycho/direct/settings.h"
#include "sonde/instruments/ptycho/direct/wave_spectrum.h"

namespace sonde::ptycho {

/// The lens as far as it is known beforehand.
struct KnownLens {
  double semiangle = 0;  ///< rad
  ApertureEdge edge = ApertureEdge::pixel;
  Aberrations aberrations{};
};

/// A one-shot reconstruction.
struct DirectImage {
  ScanLattice lattice;          ///< turned by the rotation that was found
  Aberrations aberrations;      ///< with those that were found
  double rotation = 0;          ///< rad, that was found beyond the given one
  std::optional<FocusFit> fit;  ///< nothing when nothing was fitted
  WaveSpectrum spectrum;
  Array wave;  ///< complex128 (rows, cols), `upsample` times those of the scan: 1 + i phi
  std::vector<std::string> warnings;

  /// Im wave, f64: the phase of a weak object, rad (of raw parallax: the contrast).
  [[nodiscard]] Array phase() const;
};

/// Fits the lens as the settings ask, then images. The field's lattice is turned to where the fit says. Throws like
/// fit_focus(), single_side_band() and parallax(); Error(not_supported) for ssb on a finer grid than the scan's.
[[nodiscard]] DirectImage direct_image(BrightField& field, const Sampling& sampling, DirectMethod method,
                                       const DirectSettings& settings, const KnownLens& known);

/// Bytes that direct_image() holds beside the images of the field.
[[nodiscard]] std::size_t direct_bytes(const ScanLattice& lattice, Index images, DirectMethod method,
                                       const DirectSettings& settings);

/// The phase of an image at the pixels of an object: f64 (rows, cols), pixel [0,0] at `origin`, pixels of the sampling,
/// A. Between the scan's positions it is interpolated (refined through its spectrum, then linearly); outside of the
/// scan it is 0.
[[nodiscard]] Array phase_on_object(const DirectImage& image, Index rows, Index cols, Point origin,
                                    const Sampling& sampling);

}  // namespace sonde::ptycho

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/instruments/ptycho/direct/lens.h"
#include "sonde/instruments/ptycho/direct/scan_lattice.h"
#include "sonde/instruments/ptycho/model/measurement.h"
#include "sonde/instruments/ptycho/optics/sampling.h"

namespace sonde::ptycho {

/// What direct methods read of a measurement: for every measured pixel of the bright-field disk the image that it makes
/// while the probe scans. All later work goes image by image, so this is the only copy of counts, and a real one.
struct BrightField {
  ScanLattice lattice;
  std::vector<Point> frequency;   ///< k of each image, 1/A
  std::vector<double> amplitude;  ///< A(k), above zero
  std::vector<double> mean;       ///< mean counts of each image
  Array images;                   ///< f32 (images, scan rows, scan cols), counts

  [[nodiscard]] Index count() const { return static_cast<Index>(frequency.size()); }
};

/// Measured pixels with A(k) > 0.
[[nodiscard]] Index bright_field_pixels(const Sampling& sampling, const Lens& lens, std::span<const std::uint8_t> good);
/// Bytes of the images of so many pixels, and what reading them takes beside that.
[[nodiscard]] std::size_t bright_field_bytes(Index pixels, const ScanLattice& lattice);

/// Reads every frame once, on all threads. Frames of `skip` (ascending) have in every image the mean of the others, so
/// that they say nothing. Throws Error(bad_input) when there are not as many frames as positions, or no counts in the
/// disk.
[[nodiscard]] BrightField bright_field(const Measurement& measurement, const Sampling& sampling, const Lens& lens,
                                       const ScanLattice& lattice, std::span<const Index> skip = {});

}  // namespace sonde::ptycho

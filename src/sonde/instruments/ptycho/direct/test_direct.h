// SPDX-License-Identifier: Apache-2.0
// Of tests only: small scans for direct methods, as arrays and as what the room makes of them.
#pragma once

#include <cmath>
#include <complex>
#include <functional>
#include <numbers>
#include <vector>

#include "sonde/engine/math/random.h"
#include "sonde/instruments/ptycho/direct/bright_field.h"
#include "sonde/instruments/ptycho/optics/aberrations.h"
#include "sonde/instruments/ptycho/simulate/forward.h"
#include "sonde/instruments/ptycho/simulate/specimen.h"

namespace sonde::ptycho {

/// A detector, a lens and a raster.
struct DirectScene {
  Sampling sampling;
  double semiangle = 0;
  Aberrations aberrations;
  ApertureEdge edge = ApertureEdge::pixel;
  ScanLattice lattice;

  [[nodiscard]] Lens lens() const { return Lens(sampling, semiangle, edge, aberrations); }
  [[nodiscard]] BrightField field(const Array& frames, std::span<const std::uint8_t> mask = {},
                                  std::span<const Index> skip = {}) const {
    const Measurement measurement(frames, ZeroFrequency::corner, mask, AmplitudeStorage::f64);
    return bright_field(measurement, sampling, lens(), lattice, skip);
  }
};

inline Aberrations aberrations_of(std::initializer_list<std::pair<const char*, double>> values) {
  Aberrations result;
  for (const auto& [name, value] : values) result.set(name, value);
  return result;
}

inline ScanLattice lattice_of(const Raster& raster, const Sampling& sampling) {
  return scan_lattice(in_pixels(raster_positions(raster), sampling), LatticeShape{raster.rows, raster.cols}, sampling);
}

/// Counts without any meaning, (frames, rows, cols) of f64.
inline Array meaningless_frames(Index frames, Index rows, Index cols, std::uint64_t seed = 1) {
  Array made(Device::cpu(), Shape{frames, rows, cols}, DType::f64);
  Random random(seed, 0);
  for (Index i = 0; i < made.count(); ++i) static_cast<double*>(made.data())[i] = 50 + 100 * random.uniform();
  return made;
}

/// The expected counts of a phase object that repeats after `period` pixels, scanned with whole steps; `phase` is
/// (period, period).
inline Array frames_of_periodic(const DirectScene& scene, View<const double, 2> phase, Index step, double counts) {
  const Index period = phase.extent[0], n = scene.sampling.rows, lines = period / step;
  const Index size = period + n + 2;
  Array object(Device::cpu(), Shape{1, size, size}, DType::c128);
  const auto to = object.view<complex128, 3>();
  // Position (0, 0) sees the pattern's middle at object index n / 2, which is the phase's [0, 0].
  for (Index r = 0; r < size; ++r)
    for (Index c = 0; c < size; ++c)
      to(0, r, c) = std::polar(1.0, phase((r - n / 2 + period) % period, (c - n / 2 + period) % period));
  Array probe = aperture_probe(scene.sampling, {scene.semiangle, scene.aberrations, scene.edge});
  scale_to_counts(probe, counts);
  std::vector<Point> points;
  for (Index i = 0; i < lines; ++i)
    for (Index j = 0; j < lines; ++j)
      points.push_back({static_cast<double>(n / 2 + i * step), static_cast<double>(n / 2 + j * step)});
  return far_field_intensities(object, probe, {}, place_all(points, {n, n}));
}

}  // namespace sonde::ptycho

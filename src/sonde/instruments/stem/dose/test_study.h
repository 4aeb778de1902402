// SPDX-License-Identifier: Apache-2.0
// For tests: patterns of a crystal whose disks are where they are known to be.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "sonde/engine/math/poisson.h"
#include "sonde/instruments/stem/bragg/bragg_options.h"
#include "sonde/instruments/stem/load/dataset.h"
#include "sonde/instruments/stem/pass/memory_source.h"
#include "sonde/instruments/stem/simulate/disk_lattice.h"

namespace sonde::stem::testing {

constexpr Index study_rows = 4, study_cols = 6, study_height = 116, study_width = 120;
constexpr double study_radius = 5, study_edge = 0.7;

/// A crystal of 5 x 5 disks of about 1000 counts, far enough apart that trenches of a whole radius are free. The beam
/// moves over the detector.
struct StudiedCrystal {
  double counts = 1000;
  Index orders = 2;
  double uneven = 0;  // change of the brightness from the middle of a disk to its edge
  // The same away from the direct disk, from minus this at the first position to this at the last: as where a crystal
  // bends.
  double outwards = 0;
  double radius = study_radius, background = 0.05;
  std::uint64_t seed = 11;

  [[nodiscard]] DiskPatterns patterns() const {
    Optics optics;
    optics.rows = study_height;
    optics.cols = study_width;
    const auto disks = static_cast<double>((2 * orders + 1) * (2 * orders + 1));
    optics.dose = counts * disks / 0.95;
    optics.centre_row = 57.2;
    optics.centre_col = 59.6;
    optics.disk_radius = radius;
    optics.edge_width = study_edge;
    optics.halo_length = 200;
    DiskScan scan;
    scan.scan_rows = study_rows;
    scan.scan_cols = study_cols;
    scan.undeformed = {20, 1, -1.5, 21};
    scan.orders = orders;
    scan.falloff = 1000;
    scan.excitation = 0.3;
    scan.background = background;
    return {optics, scan};
  }

  [[nodiscard]] static Beam beam(Index position) {
    Beam beam;
    beam.shift_row = 0.9 * static_cast<double>(position / study_cols) - 1.3;
    beam.shift_col = 0.7 * static_cast<double>(position % study_cols) - 1.6;
    return beam;
  }

  [[nodiscard]] std::vector<std::pair<double, double>> places(Index position) const {
    const LatticeVectors g = patterns().vectors(0, 0);
    std::vector<std::pair<double, double>> places;
    for (Index h = -orders; h <= orders; ++h)
      for (Index k = -orders; k <= orders; ++k) {
        const auto i = static_cast<double>(h), j = static_cast<double>(k);
        places.emplace_back(57.2 + beam(position).shift_row + i * g.g1_y + j * g.g2_y,
                            59.6 + beam(position).shift_col + i * g.g1_x + j * g.g2_x);
      }
    return places;
  }

  [[nodiscard]] std::vector<double> rates(Index position, double shift_y = 0, double shift_x = 0) const {
    std::vector<double> rates(static_cast<std::size_t>(study_height * study_width));
    Beam moved = beam(position);
    moved.shift_row += shift_y;
    moved.shift_col += shift_x;
    patterns().rates(position / study_cols, position % study_cols, moved, rates);
    if (uneven > 0 || outwards > 0) shade(position, rates);
    return rates;
  }

  /// Every disk is brighter towards one side, each towards another one, or all away from the direct one.
  void shade(Index position, std::vector<double>& rates) const {
    double turn = 1.7 * static_cast<double>(position);
    for (const auto& [y, x] : places(position)) {
      turn += 2.4;  // golden angle: all directions
      double slope_y = uneven * std::sin(turn), slope_x = uneven * std::cos(turn);
      if (outwards > 0) {
        const auto [beam_y, beam_x] = places(position)[static_cast<std::size_t>(2 * orders * (orders + 1))];
        const double distance = std::hypot(y - beam_y, x - beam_x);
        const double part = 2 * static_cast<double>(position) / (study_rows * study_cols - 1) - 1;
        slope_y = distance > 0 ? outwards * part * (y - beam_y) / distance : 0;
        slope_x = distance > 0 ? outwards * part * (x - beam_x) / distance : 0;
      }
      for (Index row = std::lround(y) - 8; row <= std::lround(y) + 8; ++row)
        for (Index col = std::lround(x) - 8; col <= std::lround(x) + 8; ++col) {
          const double dy = static_cast<double>(row) - y, dx = static_cast<double>(col) - x;
          if (std::hypot(dy, dx) < 8)
            rates[static_cast<std::size_t>(row * study_width + col)] *=
                std::max(0.05, 1 + (slope_y * dy + slope_x * dx) / study_radius);
        }
    }
  }

  /// Derivatives of the rates by the place of the beam.
  [[nodiscard]] std::vector<double> slopes(Index position, double y, double x) const {
    constexpr double step = 0.01;
    std::vector<double> slopes = rates(position, step * y, step * x);
    const std::vector<double> before = rates(position, -step * y, -step * x);
    for (std::size_t i = 0; i < slopes.size(); ++i) slopes[i] = (slopes[i] - before[i]) / (2 * step);
    return slopes;
  }

  [[nodiscard]] Dataset loaded() const {
    return loaded_as<std::uint16_t>([](Index, std::uint32_t drawn) { return drawn; });
  }

  /// With value(pixel, counts) in the place of the counts, the pixels of all patterns numbered.
  template <class T, class ValueOf>
  [[nodiscard]] Dataset loaded_as(ValueOf&& value) const {
    std::vector<T> all;
    for (Index position = 0; position < study_rows * study_cols; ++position) {
      const auto means = rates(position);
      std::vector<std::uint32_t> drawn(means.size());
      draw_poisson({.seed = seed, .stream = static_cast<std::uint64_t>(position)}, means, drawn);
      for (const std::uint32_t count : drawn)
        all.push_back(static_cast<T>(value(static_cast<Index>(all.size()), count)));
    }
    LoadOptions options;
    options.layout = LayoutChoice::file;
    options.hot_pixels = BadPixelAction::none;
    return load(std::make_unique<MemorySource<T>>(study_rows, study_cols, study_height, study_width, std::move(all)),
                options, Budget(std::size_t{1} << 30, "test"));
  }
};

inline BraggOptions study_options() {
  BraggOptions options;
  options.probe = "5";
  options.min_relative_intensity = 0.1;  // maxima of noise are not in question
  return options;
}

/// A drawn disk and what the counts say of its place, 1 / bound^2.
struct KnownDisk {
  Index position = 0;
  double y = 0, x = 0, of_y = 0, of_x = 0;
};

/// By the definition; derivatives are differences of drawn patterns, of which each disk has the pixels near it.
inline std::vector<KnownDisk> known_disks(const StudiedCrystal& crystal) {
  std::vector<KnownDisk> disks;
  for (Index position = 0; position < study_rows * study_cols; ++position) {
    const auto mean = crystal.rates(position);
    const auto slope_y = crystal.slopes(position, 1, 0), slope_x = crystal.slopes(position, 0, 1);
    for (const auto& [y, x] : crystal.places(position)) {
      KnownDisk disk{.position = position, .y = y, .x = x};
      for (Index row = std::lround(y) - 9; row <= std::lround(y) + 9; ++row)
        for (Index col = std::lround(x) - 9; col <= std::lround(x) + 9; ++col) {
          const auto at = static_cast<std::size_t>(row * study_width + col);
          disk.of_y += slope_y[at] * slope_y[at] / mean[at];
          disk.of_x += slope_x[at] * slope_x[at] / mean[at];
        }
      disks.push_back(disk);
    }
  }
  return disks;
}

}  // namespace sonde::stem::testing

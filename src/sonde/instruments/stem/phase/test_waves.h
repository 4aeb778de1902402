// SPDX-License-Identifier: Apache-2.0
// Private to the room's tests: the centres of mass of patterns that were computed by wave optics.
#pragma once

#include <cmath>
#include <vector>

#include "sonde/engine/device/parallel.h"
#include "sonde/engine/math/random.h"
#include "sonde/instruments/stem/phase/vector_field.h"
#include "sonde/instruments/stem/simulate/wave.h"

namespace sonde::stem {

/// What a perfect detector would find, and what is true.
struct Waves {
  VectorField centres;                       ///< px from the undeflected beam, counts 1
  std::vector<double> sigma_x{}, sigma_y{};  ///< of a centre of mass per root of the counts, px
  std::vector<double> phase{}, seen{};       ///< rad
  double pixel = 0, step = 0;                ///< 1/A, A
};

inline Optics wave_optics() {
  Optics optics;
  optics.rows = 36;
  optics.cols = 40;
  optics.dose = 1;
  optics.centre_row = 17.3;
  optics.centre_col = 20.1;
  optics.disk_radius = 7;
  optics.edge_width = 0.3;
  return optics;
}

/// Every position of a scan; true phases only where they are asked for.
inline Waves simulate_waves(WaveScan scan, bool with_phases = true) {
  const Optics optics = wave_optics();
  const Index rows = scan.scan_rows, cols = scan.scan_cols;
  Waves waves{.centres = make_field(rows, cols, scan.step, scan.step), .pixel = scan.pixel, .step = scan.step};
  const auto count = static_cast<std::size_t>(rows * cols);
  for (std::vector<double>* map : {&waves.sigma_x, &waves.sigma_y, &waves.phase, &waves.seen}) map->resize(count);
  const PhasePatterns patterns(optics, std::move(scan));
  PerWorker<Model::Scratch> scratch;
  parallel_for(rows, 1, [&](Index first, Index last, Worker& worker) {
    std::vector<double> rate(static_cast<std::size_t>(optics.rows * optics.cols));
    for (Index i = first * cols; i < last * cols; ++i) {
      const auto here = static_cast<std::size_t>(i);
      patterns.rates(i / cols, i % cols, {}, scratch[worker], rate);
      double total = 0, x = 0, y = 0, xx = 0, yy = 0;
      for (Index p = 0; p < optics.rows * optics.cols; ++p) {
        const double value = rate[static_cast<std::size_t>(p)],
                     down = static_cast<double>(p / optics.cols) - optics.centre_row,
                     across = static_cast<double>(p % optics.cols) - optics.centre_col;
        total += value;
        x += value * across;
        y += value * down;
        xx += value * across * across;
        yy += value * down * down;
      }
      waves.centres.x[here] = x / total;
      waves.centres.y[here] = y / total;
      waves.sigma_x[here] = std::sqrt(xx / total - x / total * (x / total));
      waves.sigma_y[here] = std::sqrt(yy / total - y / total * (y / total));
      if (!with_phases) continue;
      waves.phase[here] = patterns.phase(i / cols, i % cols);
      waves.seen[here] = patterns.seen_phase(i / cols, i % cols);
    }
  });
  return waves;
}

/// The same with the scatter of so many counts in every pattern: the sum of many independent ones, so normal.
inline VectorField with_counts(const Waves& waves, double counts, std::uint64_t seed) {
  VectorField field = waves.centres;
  std::vector<double> noise(field.x.size());
  draw_normal({seed, 0}, noise);
  for (std::size_t i = 0; i < noise.size(); ++i) field.x[i] += waves.sigma_x[i] * noise[i] / std::sqrt(counts);
  draw_normal({seed, 1}, noise);
  for (std::size_t i = 0; i < noise.size(); ++i) field.y[i] += waves.sigma_y[i] * noise[i] / std::sqrt(counts);
  return field;
}

/// One hill on average in a square of four widths, over the scan and beyond it.
inline WaveScan hilly_scan(Index rows, Index cols, double height, double width = 1.5, double step = 0.6) {
  WaveScan scan{.scan_rows = rows, .scan_cols = cols, .step = step};
  const double high = step * static_cast<double>(rows) + 4 * width, wide = step * static_cast<double>(cols) + 4 * width;
  Random random(17);
  for (int hills = static_cast<int>(high * wide / (16 * width * width)); hills > 0; --hills)
    scan.hills.push_back({.y = high * (random.uniform() - 0.5),
                          .x = wide * (random.uniform() - 0.5),
                          .height = height * (0.5 + random.uniform()),
                          .width = width});
  return scan;
}

}  // namespace sonde::stem

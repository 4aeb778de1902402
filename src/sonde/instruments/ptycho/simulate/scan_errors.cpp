// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/simulate/scan_errors.h"

#include <cmath>
#include <cstddef>

#include "sonde/instruments/ptycho/simulate/streams.h"

namespace sonde::ptycho {

std::vector<Point> actual_positions(std::span<const Point> nominal, const ScanErrors& errors, std::uint64_t seed) {
  std::vector<Point> actual(nominal.begin(), nominal.end());
  if (nominal.empty()) return actual;
  const auto count = static_cast<double>(nominal.size());
  Point mean;
  for (const Point& point : nominal) mean = {mean.row + point.row / count, mean.col + point.col / count};
  const double cosine = std::cos(errors.rotation), sine = std::sin(errors.rotation);
  Random random = random_for(seed, Use::jitter);
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double y = errors.scale * (nominal[i].row - mean.row);
    const double x = errors.scale * (nominal[i].col - mean.col) + errors.shear * (nominal[i].row - mean.row);
    const double time = actual.size() < 2 ? 0 : static_cast<double>(i) / (count - 1) - 0.5;
    const double down = random.normal(), across = random.normal();
    actual[i] = {mean.row + y * cosine - x * sine + errors.drift_row * time + errors.jitter * down,
                 mean.col + x * cosine + y * sine + errors.drift_col * time + errors.jitter * across};
  }
  return actual;
}

}  // namespace sonde::ptycho

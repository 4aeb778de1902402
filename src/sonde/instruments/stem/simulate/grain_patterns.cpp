// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/simulate/grain_patterns.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/math/random.h"

namespace sonde::stem {
namespace {

// Streams of random numbers that no frame uses.
constexpr std::uint64_t turns_stream = ~std::uint64_t{1}, points_stream = ~std::uint64_t{2};

void check(const GrainScan& scan) {
  const auto require = [](bool fine, const std::string& message) {
    if (!fine) throw Error(ErrorKind::bad_input, message);
  };
  require(!scan.orientations.empty(), "0 grains; expected 1 or more");
  require(!scan.crystals.empty(), "0 crystals; expected 1 or more");
  require(scan.q_pixel > 0 && std::isfinite(scan.q_pixel),
          fmt::format("q pixel {} 1/A; expected a size above 0", scan.q_pixel));
  require(scan.diffracted >= 0 && scan.diffracted <= 1,
          fmt::format("a diffracted share of {}; expected 0 to 1", scan.diffracted));
  require(scan.background >= 0 && scan.background <= 1,
          fmt::format("a share of the background of {}; expected 0 to 1", scan.background));
}

}  // namespace

std::vector<Orientation> random_orientations(std::uint64_t seed, Index count) {
  // A quaternion of four normal numbers has no direction that it prefers.
  Random random(seed, turns_stream);
  std::vector<Orientation> orientations;
  for (Index i = 0; i < count; ++i) {
    const double cosine = random.normal();
    const Vec3 axis{random.normal(), random.normal(), random.normal()};
    orientations.push_back(turn_about(normalised(axis), 2 * std::atan2(length(axis), cosine)));
  }
  return orientations;
}

GrainPatterns::GrainPatterns(const Optics& optics, GrainScan scan)
    : optics_(optics), scan_(std::move(scan)), drawn_(optics) {
  check(scan_);
  Random random(scan_.seed, points_stream);
  for (const Orientation& orientation : scan_.orientations) {
    const double down = random.uniform(), across = random.uniform();
    points_.push_back(
        {down * static_cast<double>(scan_.scan_rows) - 0.5, across * static_cast<double>(scan_.scan_cols) - 0.5});
    const std::vector<KinematicSpot> spots =
        kinematic_pattern(scan_.crystals[static_cast<std::size_t>(phase(static_cast<Index>(points_.size()) - 1))],
                          orientation, scan_.beam);
    double sum = 0;
    for (const KinematicSpot& spot : spots) sum += spot.intensity;
    const double counts = optics_.dose * (1 - scan_.background), away = sum > 0 ? scan_.diffracted : 0;
    std::vector<Disk> disks = {{0, 0, counts * (1 - away)}};
    for (const KinematicSpot& spot : spots)
      disks.push_back({spot.y / scan_.q_pixel, spot.x / scan_.q_pixel, counts * away * spot.intensity / sum});
    disks_.push_back(std::move(disks));
  }
}

Index GrainPatterns::grain_at(Index scan_row, Index scan_col) const {
  Index nearest = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const double down = static_cast<double>(scan_row) - points_[i].row,
                 across = static_cast<double>(scan_col) - points_[i].col;
    const double distance = down * down + across * across;
    if (distance >= least) continue;
    least = distance;
    nearest = static_cast<Index>(i);
  }
  return nearest;
}

void GrainPatterns::rates(Index scan_row, Index scan_col, const Beam& beam, std::span<double> rate) const {
  const double row = optics_.centre_row + beam.shift_row, col = optics_.centre_col + beam.shift_col;
  drawn_.set_background(row, col, optics_.dose * scan_.background, rate);
  for (const Disk& disk : disks_[static_cast<std::size_t>(grain_at(scan_row, scan_col))])
    drawn_.add(row + disk.row, col + disk.col, disk.counts, rate);
}

}  // namespace sonde::stem

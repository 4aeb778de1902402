// SPDX-License-Identifier: Apache-2.0
// The study says of drawn crystals what their known places say.
#include "sonde/instruments/stem/dose/kernel_study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/math/poisson.h"
#include "sonde/engine/report/json.h"
#include "sonde/instruments/stem/bragg/bragg_result.h"
#include "sonde/instruments/stem/pass/memory_source.h"
#include "sonde/instruments/stem/simulate/disk_lattice.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using stem::testing::MemorySource;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr Index study_rows = 4, study_cols = 6, study_height = 116, study_width = 120;
constexpr double study_radius = 5, study_edge = 0.7;

/// A crystal of 5 x 5 disks of about 1000 counts, far enough apart that trenches of a whole radius are free. The beam
/// moves over the detector.
struct StudiedCrystal {
  double counts = 1000;
  Index orders = 2;
  double uneven = 0;  // change of the brightness from the middle of a disk to its edge

  [[nodiscard]] DiskPatterns patterns() const {
    Optics optics;
    optics.rows = study_height;
    optics.cols = study_width;
    const auto disks = static_cast<double>((2 * orders + 1) * (2 * orders + 1));
    optics.dose = counts * disks / 0.95;
    optics.centre_row = 57.2;
    optics.centre_col = 59.6;
    optics.disk_radius = study_radius;
    optics.edge_width = study_edge;
    optics.halo_length = 200;
    DiskScan scan;
    scan.scan_rows = study_rows;
    scan.scan_cols = study_cols;
    scan.undeformed = {20, 1, -1.5, 21};
    scan.orders = orders;
    scan.falloff = 1000;
    scan.excitation = 0.3;
    scan.background = 0.05;
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
    if (uneven > 0) shade(position, rates);
    return rates;
  }

  /// Every disk is brighter towards one side, each towards another one.
  void shade(Index position, std::vector<double>& rates) const {
    double turn = 1.7 * static_cast<double>(position);
    for (const auto& [y, x] : places(position)) {
      turn += 2.4;  // golden angle: all directions
      for (Index row = std::lround(y) - 8; row <= std::lround(y) + 8; ++row)
        for (Index col = std::lround(x) - 8; col <= std::lround(x) + 8; ++col) {
          const double dy = static_cast<double>(row) - y, dx = static_cast<double>(col) - x;
          if (std::hypot(dy, dx) < 8)
            rates[static_cast<std::size_t>(row * study_width + col)] *=
                std::max(0.05, 1 + uneven * (std::sin(turn) * dy + std::cos(turn) * dx) / study_radius);
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
    std::vector<std::uint16_t> all;
    for (Index position = 0; position < study_rows * study_cols; ++position) {
      const auto means = rates(position);
      std::vector<std::uint32_t> drawn(means.size());
      draw_poisson({.seed = 11, .stream = static_cast<std::uint64_t>(position)}, means, drawn);
      all.insert(all.end(), drawn.begin(), drawn.end());
    }
    LoadOptions options;
    options.layout = LayoutChoice::file;
    options.hot_pixels = BadPixelAction::none;
    return load(std::make_unique<MemorySource<std::uint16_t>>(study_rows, study_cols, study_height, study_width,
                                                              std::move(all)),
                options, Budget(std::size_t{1} << 30, "test"));
  }
};

BraggOptions study_options() {
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
std::vector<KnownDisk> known_disks(const StudiedCrystal& crystal) {
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

/// The rms deviation of the disks that a kernel finds from where they were drawn, over their bounds.
double true_scatter(const std::vector<KnownDisk>& known, const Dataset& dataset, KernelShape kernel) {
  BraggOptions options = study_options();
  options.kernel = kernel;
  const BraggVectors found =
      make_bragg(dataset, find_probe(dataset, options), options, Budget(std::size_t{1} << 28, "test")).vectors;
  double squares = 0, count = 0;
  for (const KnownDisk& disk : known)
    for (auto at = static_cast<std::size_t>(found.first(disk.position));
         at < static_cast<std::size_t>(found.last(disk.position)); ++at) {
      const double dy = static_cast<double>(found.qy[at]) - disk.y, dx = static_cast<double>(found.qx[at]) - disk.x;
      if (std::hypot(dy, dx) > 2) continue;
      squares += dy * dy * disk.of_y + dx * dx * disk.of_x;
      count += 2;
    }
  EXPECT_EQ(count, 2 * static_cast<double>(known.size()));
  return std::sqrt(squares / count);
}

KernelStudy study_of(const Dataset& dataset, Index patterns = 24) {
  const BraggOptions options = study_options();
  return study_kernels(dataset, find_probe(dataset, options), options, patterns, Budget(std::size_t{1} << 28, "test"));
}

TEST(KernelStudy, SaysOfEveryKernelWhatTheKnownPlacesSay) {
  const StudiedCrystal crystal;
  const Dataset dataset = crystal.loaded();
  const KernelStudy study = study_of(dataset);
  EXPECT_EQ(study.with_lattice, 24);
  EXPECT_NEAR(study.profile.edge, study_edge, 0.15);
  // 25 disks of 24 patterns, two numbers each less six of a pattern: 2.2 % by chance.
  const KernelTrial& sigmoid = study.of(KernelShape::sigmoid);
  EXPECT_GT(sigmoid.over_bound, 1.35);
  EXPECT_LT(sigmoid.over_bound, 1.65);
  EXPECT_NEAR(sigmoid.counts_lost(), 0.55, 0.1) << "half of the dose";
  EXPECT_LT(study.of(KernelShape::ring).over_bound, 1.25);
  EXPECT_LT(study.of(KernelShape::poisson).over_bound, 1.12);
  EXPECT_EQ(study.recommended, KernelShape::poisson);
  EXPECT_THAT(study.warnings, IsEmpty());
  EXPECT_EQ(sigmoid.missed, 0);
  // The same counts; chance is in the six parameters of each lattice, and in counts and bounds that are measured: 2 %.
  const std::vector<KnownDisk> drawn = known_disks(crystal);
  for (const KernelShape kernel : {KernelShape::sigmoid, KernelShape::poisson}) {
    SCOPED_TRACE(name(kernel));
    const double known = true_scatter(drawn, dataset, kernel);
    EXPECT_NEAR(study.of(kernel).over_bound, known, 0.05 * known);
  }
}

// A maximum moves towards the brighter side of a disk, with every kernel.
TEST(KernelStudy, NamesDisksThatAreUnevenlyFilled) {
  StudiedCrystal crystal;
  crystal.uneven = 0.9;
  const KernelStudy study = study_of(crystal.loaded(), 12);
  EXPECT_EQ(study.patterns, 12);
  EXPECT_THAT(study.warnings, Contains(HasSubstr("unevenly filled")));
}

TEST(KernelStudy, TheTableHasARowForEveryKernelAndTheRecommendation) {
  KernelStudy study;
  study.bound = 0.05;
  study.recommended = KernelShape::poisson;
  study.because = "for a reason";
  for (int kernel = 0; kernel < 6; ++kernel)
    study.trials.push_back({.kernel = static_cast<KernelShape>(kernel), .over_bound = 1 + 0.1 * kernel});
  study.trials[0].over_bound = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::string> lines = study.lines();
  ASSERT_EQ(lines.size(), 3U + 6U + 1U);
  EXPECT_THAT(lines[3], AllOf(HasSubstr("flat"), Not(HasSubstr("%")))) << "it found too few disks";
  EXPECT_THAT(lines[5], AllOf(HasSubstr("sigmoid "), HasSubstr("0.0600"), HasSubstr("1.20"), HasSubstr("31 %")));
  EXPECT_THAT(lines[9], AllOf(HasSubstr("poisson"), HasSubstr(" (for a reason)")));
  const Value value = study.to_value();
  EXPECT_THAT(to_json(value, -1), HasSubstr("\"recommended\":\"poisson\""));
}

TEST(KernelStudy, PatternsWithoutALatticeAreRefused) {
  StudiedCrystal crystal;
  crystal.orders = 0;
  const Dataset dataset = crystal.loaded();
  const std::string error = error_of(ErrorKind::bad_input, [&] { (void)study_of(dataset, 8); });
  EXPECT_THAT(error, HasSubstr("no lattice in the 8 patterns of the kernel study: "));
}

}  // namespace
}  // namespace sonde::stem

// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/bragg/bragg_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "sonde/engine/device/parallel.h"
#include "sonde/engine/math/poisson.h"
#include "sonde/instruments/stem/bragg/test_disks.h"
#include "sonde/instruments/stem/pass/memory_source.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using stem::testing::draw_disks;
using stem::testing::draw_lattice;
using stem::testing::DrawnDisk;
using stem::testing::MemorySource;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Index map_rows = 3, map_cols = 5, det_rows = 56, det_cols = 64;

/// What the patterns of a scan show.
struct DiskScan {
  double radius = 3.6, spacing = 13, counts = 400;
  double centre_y = 27.4, centre_x = 31.8;
  std::uint16_t saturation = 65535;
  bool stopped = false;  // nothing reaches the detector about the centre

  [[nodiscard]] std::vector<DrawnDisk> disks(Index position) const {
    // The beam moves over the detector as it moves over the specimen.
    const auto row = static_cast<double>(position / map_cols), col = static_cast<double>(position % map_cols);
    return draw_lattice(det_rows, det_cols, centre_y + 0.2 * row, centre_x - 0.1 * col, spacing, radius);
  }

  [[nodiscard]] std::vector<std::uint16_t> counts_of(Index position) const {
    std::vector<double> rates = draw_disks(det_rows, det_cols, disks(position), radius, 0.5, 0.005);
    for (double& rate : rates) rate *= counts;
    std::vector<std::uint32_t> drawn(rates.size());
    draw_poisson({.seed = 3, .stream = static_cast<std::uint64_t>(position)}, rates, drawn);
    std::vector<std::uint16_t> made;
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      const double y = static_cast<double>(i / det_cols) - centre_y, x = static_cast<double>(i % det_cols) - centre_x;
      const bool hidden = stopped && std::hypot(y, x) < radius + 3;
      made.push_back(hidden ? std::uint16_t{0}
                            : static_cast<std::uint16_t>(std::min<std::uint32_t>(drawn[i], saturation)));
    }
    return made;
  }

  [[nodiscard]] Dataset loaded() const {
    std::vector<std::uint16_t> all;
    for (Index position = 0; position < map_rows * map_cols; ++position) {
      const auto one = counts_of(position);
      all.insert(all.end(), one.begin(), one.end());
    }
    LoadOptions options;
    options.layout = LayoutChoice::file;
    options.hot_pixels = BadPixelAction::none;
    return load(std::make_unique<MemorySource<std::uint16_t>>(map_rows, map_cols, det_rows, det_cols, std::move(all)),
                options, Budget(std::size_t{1} << 30, "test"));
  }
};

BraggResult bragg_of(const Dataset& dataset, const BraggOptions& options = {}) {
  return make_bragg(dataset, find_probe(dataset, options), options, Budget(std::size_t{1} << 28, "test"));
}

// With nothing but the scan every disk is found, within what the counts allow.
TEST(BraggResult, FindsEveryDiskOfEveryPatternByItself) {
  const DiskScan scene;
  const BraggResult result = bragg_of(scene.loaded());
  EXPECT_NEAR(result.probe.radius, scene.radius, 0.1);
  EXPECT_THAT(result.warnings, IsEmpty());
  EXPECT_EQ(result.patterns, map_rows * map_cols);
  EXPECT_EQ(result.without, 0);
  EXPECT_NEAR(result.nearest, 0.97 * scene.spacing, 0.06 * scene.spacing);
  double pulls = 0, count = 0;
  const BraggVectors& vectors = result.vectors;
  for (Index position = 0; position < map_rows * map_cols; ++position) {
    const auto drawn = scene.disks(position);
    for (const DrawnDisk& disk : drawn) {
      Index found = 0;
      for (Index i = vectors.first(position); i < vectors.last(position); ++i) {
        const auto at = static_cast<std::size_t>(i);
        const double dy = static_cast<double>(vectors.qy[at]) - disk.y,
                     dx = static_cast<double>(vectors.qx[at]) - disk.x;
        if (std::hypot(dy, dx) > 0.5 * scene.radius) continue;
        ++found;
        pulls += dy * dy / static_cast<double>(vectors.var_y[at]) + dx * dx / static_cast<double>(vectors.var_x[at]);
        count += 2;
      }
      EXPECT_EQ(found, 1) << "position " << position << ", row " << disk.y << ", column " << disk.x;
    }
  }
  // Some 500 numbers: 3 % by chance; their neighbours' counts pull disks a little.
  EXPECT_NEAR(std::sqrt(pulls / count), 1, 0.15);
}

TEST(BraggResult, DoesNotDependOnThreads) {
  const DiskScan scene;
  const Dataset dataset = scene.loaded();
  const int before = thread_count();
  set_thread_count(1);
  const BraggResult one = bragg_of(dataset);
  set_thread_count(7);
  const BraggResult seven = bragg_of(dataset);
  set_thread_count(before);
  EXPECT_EQ(one.vectors.offsets, seven.vectors.offsets);
  EXPECT_EQ(one.vectors.qy, seven.vectors.qy);
  EXPECT_EQ(one.vectors.qx, seven.vectors.qx);
  EXPECT_EQ(one.vectors.intensity, seven.vectors.intensity);
  EXPECT_EQ(one.vectors.var_y, seven.vectors.var_y);
  EXPECT_EQ(one.filters.found, seven.filters.found);
}

TEST(BraggResult, ReportsItsChoicesAndFilters) {
  const BraggResult result = bragg_of(DiskScan().loaded());
  const std::vector<std::string> lines = result.lines();
  EXPECT_THAT(lines[0], HasSubstr("the brightest disk of the mean pattern"));
  EXPECT_THAT(lines[1], HasSubstr("kernel    ring"));
  EXPECT_THAT(lines[2], HasSubstr("1.5 radii"));
  EXPECT_THAT(lines[3], HasSubstr("edge      5 px (one radius and a pixel"));
  EXPECT_EQ(result.filters.kept(), static_cast<std::uint64_t>(result.vectors.disks()));
  EXPECT_EQ(result.to_value()["status"].as_text(), "converged");
}

TEST(BraggResult, AVacuumScanIsATemplate) {
  const DiskScan scene;
  const std::vector<DrawnDisk> disk = {{27.4, 31.8, 3000}};
  std::vector<std::uint16_t> vacuum;
  for (const double value : draw_disks(det_rows, det_cols, disk, scene.radius, 0.5))
    vacuum.push_back(static_cast<std::uint16_t>(std::lround(value)));
  LoadOptions load_options;
  load_options.layout = LayoutChoice::file;
  load_options.hot_pixels = BadPixelAction::none;
  const Dataset of_vacuum = load(std::make_unique<MemorySource<std::uint16_t>>(1, 1, det_rows, det_cols, vacuum),
                                 load_options, Budget(std::size_t{1} << 28, "test"));
  BraggOptions options;
  options.probe = "vacuum.h5";
  const Dataset dataset = scene.loaded();
  const BraggResult result =
      make_bragg(dataset, vacuum_probe(of_vacuum), options, Budget(std::size_t{1} << 28, "test"));
  EXPECT_FALSE(result.probe.image.empty());
  const auto drawn = scene.disks(0);
  EXPECT_EQ(result.vectors.count(0), static_cast<Index>(drawn.size()));
  EXPECT_THAT(result.lines()[0], HasSubstr("the disk of the vacuum scan"));
}

TEST(BraggResult, DisksThatOverlapAreNamed) {
  DiskScan scene;
  scene.radius = 5;
  scene.spacing = 9;
  BraggOptions options;
  options.probe = "5";
  EXPECT_THAT(bragg_of(scene.loaded(), options).warnings.at(0), HasSubstr("disks overlap: neighbours are "));
}

// The trench of the kernel keeps away from them.
TEST(BraggResult, NeighboursNarrowTheTrench) {
  DiskScan far, near;
  far.spacing = 17;
  near.spacing = 11;
  EXPECT_THAT(bragg_of(far.loaded()).to_value()["kernel_outer"].as_real(), ::testing::DoubleNear(7.2, 0.3));
  const BraggResult result = bragg_of(near.loaded());
  EXPECT_THAT(result.to_value()["kernel_outer"].as_real(), ::testing::DoubleNear(4.6, 0.2));
  EXPECT_THAT(result.lines()[1], HasSubstr("a trench over them pushes disks away"));
}

TEST(BraggResult, ASaturatedCentreIsNamed) {
  DiskScan scene;
  scene.saturation = 300;
  EXPECT_THAT(bragg_of(scene.loaded()).warnings.at(0), HasSubstr("the central disk is saturated: most of its pixels "
                                                                 "reach 300 and no more"));
}

TEST(BraggResult, ABeamStopIsNamed) {
  DiskScan scene;
  scene.stopped = true;
  const Dataset dataset = scene.loaded();
  std::string said;
  try {
    const BraggResult result = bragg_of(dataset);
    said = result.warnings.empty() ? "" : result.warnings[0];
  } catch (const Error& error) {
    said = error.what();
  }
  EXPECT_THAT(said, HasSubstr("beam stop"));
}

TEST(BraggResult, OfPatternsWithoutDisksIsNotConverged) {
  DiskScan scene;
  BraggOptions options;
  options.probe = "3.6";
  options.min_absolute_intensity = 1e9;
  const BraggResult result = bragg_of(scene.loaded(), options);
  EXPECT_FALSE(result.converged());
  EXPECT_EQ(result.vectors.disks(), 0);
  EXPECT_EQ(result.vectors.valid[7], 1);
  EXPECT_THAT(result.warnings.at(0), HasSubstr("15 of 15 patterns have no disk"));
  EXPECT_EQ(result.picture().shape().rank(), 3);
}

TEST(VectorMap, SharesEachDiskAmongFourPixels) {
  BraggVectors vectors;
  vectors.rows = 6;
  vectors.cols = 8;
  vectors.qy = {2.25F, 5.25F};
  vectors.qx = {3.5F, 1};
  vectors.intensity = {8, 4};
  const Array map = vector_map(vectors);
  const View<const double, 2> at = map.view<double, 2>();
  EXPECT_EQ(at(2, 3), 3);
  EXPECT_EQ(at(2, 4), 3);
  EXPECT_EQ(at(3, 3), 1);
  EXPECT_EQ(at(3, 4), 1);
  EXPECT_EQ(at(5, 1), 3);  // the rest is beside the detector
}

TEST(BraggOptions, RefuseWhatCannotBe) {
  BraggOptions options;
  options.probe = "0.2";
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { options.check(); }),
              HasSubstr("--probe: a radius of 0.2 px; expected 1 to 10000"));
  options.probe = "auto";
  options.kernel_inner = 5;
  options.kernel_outer = 4;
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { options.check(); }), HasSubstr("a trench from 5 to 4 px has no width"));
}

}  // namespace
}  // namespace sonde::stem

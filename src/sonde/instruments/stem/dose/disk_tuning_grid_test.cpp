// SPDX-License-Identifier: Apache-2.0
// What is chosen one after the other on some patterns, beside the best of all combinations for the whole scan.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "sonde/instruments/stem/dose/test_tuning.h"

namespace sonde::stem {
namespace {

using stem::testing::strain_error;
using stem::testing::StudiedCrystal;
using stem::testing::tuning_of;

struct TunedScene {
  std::string name;
  StudiedCrystal crystal;
};

class DiskTuningGrid : public ::testing::TestWithParam<TunedScene> {};

TEST_P(DiskTuningGrid, TheChoiceIsWithinATenthOfTheBest) {
  const Dataset dataset = GetParam().crystal.loaded();
  BraggOptions options;
  options.probe = std::to_string(static_cast<int>(GetParam().crystal.radius));
  const double chosen = strain_error(dataset, tuning_of(dataset, options).options);
  double best = std::numeric_limits<double>::infinity();
  for (const KernelShape kernel : {KernelShape::flat, KernelShape::gaussian, KernelShape::sigmoid,
                                   KernelShape::sigmoid_log, KernelShape::ring, KernelShape::poisson})
    for (const double threshold : {0.005, 0.05, 0.2})
      for (const double spacing : {1.0, 1.5})
        for (const PatternBackground background : {PatternBackground::none, PatternBackground::dog}) {
          BraggOptions one = options;
          one.kernel = kernel;
          one.min_relative_intensity = threshold;
          one.min_peak_spacing = spacing * GetParam().crystal.radius;
          one.background = background;
          best = std::min(best, strain_error(dataset, one));
        }
  RecordProperty("over_best", std::to_string(chosen / best));
  EXPECT_LT(chosen, 1.1 * best);
}

// 5 x 5 disks of about 1000 counts, or of 60; touching ones of 11 px that are 20 px apart; and disks that are 70 %
// brighter at one side.
INSTANTIATE_TEST_SUITE_P(All, DiskTuningGrid,
                         ::testing::Values(TunedScene{"low_dose_11", {.counts = 60, .seed = 11}},
                                           TunedScene{"low_dose_12", {.counts = 60, .seed = 12}},
                                           TunedScene{"overlapping_11", {.radius = 11, .seed = 11}},
                                           TunedScene{"overlapping_12", {.radius = 11, .seed = 12}},
                                           TunedScene{"contrast_11", {.uneven = 0.7, .seed = 11}},
                                           TunedScene{"contrast_12", {.uneven = 0.7, .seed = 12}}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace sonde::stem

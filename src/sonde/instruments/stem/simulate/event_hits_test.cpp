// SPDX-License-Identifier: Apache-2.0
// The raw data of known electrons: decoded by the reader of stem events, which is tested with words of the tests' own.
#include "sonde/instruments/stem/simulate/event_hits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "sonde/engine/io/hdf5.h"
#include "sonde/instruments/stem/timepix/timepix_events.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using ::testing::HasSubstr;

SimulateOptions small_events(const std::string& output, Index seed = 1) {
  SimulateOptions options;
  options.output = output;
  options.sample = Sample::events;
  options.scan_shape = "7,9";
  options.detector_shape = "40,64";
  options.disk_radius = 8;
  options.occupancy = 0.004;  // ten at a position
  options.dwell = "20us";
  options.seed = seed;
  return options;
}

TimepixEvents found_in(const std::string& path, const std::string& cluster_time) {
  TimepixOptions options;
  options.dwell = "20us";
  options.scan_shape = "7x9";
  options.cluster_time = cluster_time;
  const ChipLayout layout;
  const FileSurvey survey = survey_file(path, layout, options.damage);
  return find_events(path, layout, choose_timing(path, survey, options), options, Budget(std::size_t{1} << 30, "test"));
}

template <class T>
std::vector<T> stored(const std::string& path, const std::string& name) {
  const Array array = Hdf5File::open(path).dataset(name).read();
  const auto* values = static_cast<const T*>(array.data());
  return {values, values + array.count()};
}

TEST(EventHits, TheElectronsOfTheScanAreFoundWhereTheyFell) {
  for (const Index seed : {1, 2, 3}) {
    const TemporaryFolder folder;
    const Simulated made = simulate_events(small_events(folder.file("hits.tpx3"), seed));
    EXPECT_EQ(made.files, (std::vector<std::string>{folder.file("hits.tpx3"), folder.file("hits_truth.h5")}));
    const auto offsets = stored<std::uint64_t>(folder.file("hits_truth.h5"), "/events/offsets");
    const auto index = stored<std::uint32_t>(folder.file("hits_truth.h5"), "/events/index");
    ASSERT_EQ(offsets.size(), 64U);
    ASSERT_GT(index.size(), 300U);
    const TimepixEvents found = found_in(folder.file("hits.tpx3"), "100ns");
    EXPECT_TRUE(found.timing.by_lines);
    EXPECT_GT(found.packets.out_of_order, 100U);
    EXPECT_EQ(found.late_hits, 0U);
    EXPECT_GT(found.packets.global, 0U);
    EXPECT_GT(found.flyback, 20U);
    std::size_t missing = 0;
    for (std::size_t p = 0; p + 1 < offsets.size(); ++p) {
      // Pixels of the detector are those of a corner of the chip.
      std::vector<std::uint32_t> expected, pixels;
      for (std::uint64_t e = offsets[p]; e < offsets[p + 1]; ++e)
        expected.push_back(index[e] / 64 * 256 + index[e] % 64);
      const auto ends = found.offsets.view<std::uint64_t, 1>();
      for (std::uint64_t e = ends(static_cast<Index>(p)); e < ends(static_cast<Index>(p) + 1); ++e)
        pixels.push_back(found.index.view<std::uint32_t, 1>()(static_cast<Index>(e)));
      std::sort(expected.begin(), expected.end());
      std::sort(pixels.begin(), pixels.end());
      std::vector<std::uint32_t> both;
      std::set_intersection(expected.begin(), expected.end(), pixels.begin(), pixels.end(), std::back_inserter(both));
      EXPECT_LE(pixels.size(), expected.size());
      missing += expected.size() - both.size();
    }
    // Electrons are joined where their hits touch within 100 ns, second ones up to 30 ns later in the column beside.
    const auto ticks = stored<std::int64_t>(folder.file("hits_truth.h5"), "/events/ticks");
    std::vector<std::uint8_t> joined(ticks.size());
    for (std::size_t a = 0; a < ticks.size(); ++a)
      for (std::size_t b = a + 1; b < ticks.size() && ticks[b] - ticks[a] <= 64 + 19; ++b) {
        const auto distance = [&](std::uint32_t of_a, std::uint32_t of_b) {
          return std::max(of_a, of_b) - std::min(of_a, of_b);
        };
        if (distance(index[a] / 64, index[b] / 64) <= 1 && distance(index[a] % 64, index[b] % 64) <= 2)
          joined[a] = joined[b] = 1;
      }
    EXPECT_LE(missing, static_cast<std::size_t>(std::count(joined.begin(), joined.end(), std::uint8_t{1})));
    EXPECT_LE(missing, ticks.size() / 30);
  }
}

TEST(EventHits, EachElectronIsOneHitOrTwoAtItsTime) {
  const TemporaryFolder folder;
  (void)simulate_events(small_events(folder.file("hits.tpx3")));
  const auto ticks = stored<std::int64_t>(folder.file("hits_truth.h5"), "/events/ticks");
  const auto offsets = stored<std::uint64_t>(folder.file("hits_truth.h5"), "/events/offsets");
  for (std::size_t p = 0; p + 1 < offsets.size(); ++p)
    EXPECT_TRUE(std::is_sorted(ticks.begin() + static_cast<std::ptrdiff_t>(offsets[p]),
                               ticks.begin() + static_cast<std::ptrdiff_t>(offsets[p + 1])));
  // The counter of hits, 34 bits, starts again within the scan.
  EXPECT_LT(ticks.front(), std::int64_t{1} << 34);
  EXPECT_GE(ticks.back(), std::int64_t{1} << 34);
  const TimepixEvents found = found_in(folder.file("hits.tpx3"), "0");
  const auto flyback = Hdf5File::open(folder.file("hits_truth.h5")).value("/flyback")->integer();
  const double electrons = static_cast<double>(ticks.size()) + static_cast<double>(*flyback);
  // Three in five have two, but for those in the last column, one in 64. Binomial: four standard deviations of 0.49 /
  // sqrt(770).
  EXPECT_NEAR(static_cast<double>(found.packets.hits) / electrons, 1.6, 0.07 + 0.01);
  EXPECT_LT(found.duration_s, 7 * 9 * 20e-6 * 1.25 + 1e-4);
}

TEST(EventHits, EqualOptionsGiveEqualBytes) {
  const TemporaryFolder folder;
  for (const char* name : {"a.tpx3", "b.tpx3"}) (void)simulate_events(small_events(folder.file(name)));
  EXPECT_EQ(sonde::testing::read_bytes(folder.file("a.tpx3")), sonde::testing::read_bytes(folder.file("b.tpx3")));
  EXPECT_EQ(read_truth(folder.file("a_truth.h5")).dwell, "20us");
}

TEST(EventHits, WhatCannotBeIsRefusedBeforeAnyWork) {
  const TemporaryFolder folder;
  SimulateOptions options = small_events(folder.file("scan_master.h5"));
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { (void)simulate_events(options); }),
              HasSubstr("scan_master.h5: not a name of raw data of a Timepix3 detector\nhint: give a name that ends in "
                        ".tpx3"));
  options.output = folder.file("hits.tpx3");
  options.detector_shape = "257,64";
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)simulate_events(options); }),
              HasSubstr("detector shape 257,64; a chip has at most 256 x 256 pixels"));
  options = small_events(folder.file("hits.tpx3"));
  EXPECT_THAT(
      error_of(ErrorKind::budget, [&] { (void)simulate_events(options, Budget(std::size_t{1} << 20, "test")); }),
      HasSubstr("simulating"));
  EXPECT_FALSE(std::filesystem::exists(folder.file("hits.tpx3")));
}

}  // namespace
}  // namespace sonde::stem

// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/pass/pass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <random>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/stem/correct/mask_bit.h"
#include "sonde/instruments/stem/layout/resident.h"
#include "sonde/instruments/stem/pass/memory_source.h"
#include "sonde/instruments/stem/pass/moment_sums.h"
#include "sonde/instruments/stem/pass/pattern_statistics.h"
#include "sonde/instruments/stem/pass/resident_elements.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using stem::testing::MemorySource;
using ::testing::Each;

constexpr Index scan_rows = 13, scan_cols = 21, rows = 9, cols = 14;
constexpr Index pixels = rows * cols, positions = scan_rows * scan_cols;

template <class T>
std::vector<T> random_values(unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values(static_cast<std::size_t>(positions * pixels));
  for (T& value : values) {
    // Floats of exponents so far apart that sums of f64 round: each order of addition gives other last bits.
    const int exponent = -static_cast<int>(random() % 80);
    value = std::is_integral_v<T> ? static_cast<T>(random() % 900)
                                  : static_cast<T>(std::ldexp(static_cast<double>(random() >> 40), exponent));
  }
  return values;
}

template <class T>
MemorySource<T> source_of(unsigned seed = 3) {
  return {scan_rows, scan_cols, rows, cols, random_values<T>(seed)};
}

PassSettings settings_for(const Source& source, Index det_bin = 1, Index scan_bin = 1) {
  PassSettings settings;
  settings.detector = DetectorGrid::make(rows, cols, det_bin, Edge::keep);
  settings.scan = ScanGrid::make(source.acquisition(), std::nullopt, scan_bin, Edge::keep);
  settings.mask_bits.assign(static_cast<std::size_t>(pixels), 0);
  return settings;
}

std::string bytes_of(const Array& array) { return {static_cast<const char*>(array.data()), array.allocated_bytes()}; }

/// All that a set of operations finds, as bytes.
std::string found_by(Source& source, const PassSettings& settings, int threads) {
  set_thread_count(threads);
  MomentSums sums;
  PatternStatistics statistics;
  const std::array<Operation*, 2> operations = {&sums, &statistics};
  const PassResult result = run_pass(source, settings, operations);
  set_thread_count(0);
  std::string all = bytes_of(result.input_sum);
  for (const Array* array :
       {&sums.total, &sums.moment_row, &sums.moment_col, &statistics.sum, &statistics.largest, &statistics.nonzero})
    all += bytes_of(*array);
  return all + std::to_string(result.masked.real());
}

template <class T>
void expect_one_result(bool flip_rows, Index det_bin, Index scan_bin) {
  auto source = source_of<T>();
  source.acquisition_to_change().scan.flip_rows = flip_rows;
  PassSettings settings = settings_for(source, det_bin, scan_bin);
  settings.mask_bits[5] = mask_bit::dead;
  const std::string expected = found_by(source, settings, 1);
  for (const int threads : {1, 2, 7})
    for (const std::size_t frames : {1, 3, 50}) {
      settings.batch_bytes = frames * static_cast<std::size_t>(pixels) * sizeof(T);
      EXPECT_TRUE(found_by(source, settings, threads) == expected)
          << threads << " threads, batches of " << frames << " frames, flipped " << flip_rows << ", bins " << det_bin
          << " and " << scan_bin;
    }
}

TEST(Pass, SumsOfFloatsDependOnNeitherThreadsNorBatches) {
  for (const bool flip_rows : {false, true})
    for (const Index bin : {1, 2}) expect_one_result<float>(flip_rows, bin, bin);
}

TEST(Pass, SumsOfCountsDependOnNeitherThreadsNorBatches) {
  for (const bool flip_rows : {false, true})
    for (const Index bin : {1, 2}) expect_one_result<std::uint16_t>(flip_rows, bin, bin);
}

TEST(Pass, AListOfPositionsGivesWhatTheWholeScanGivesThere) {
  auto source = source_of<std::uint16_t>();
  MomentSums all, some;
  Operation* operation = &all;
  (void)run_pass(source, settings_for(source), std::span(&operation, 1));
  const std::vector<Index> chosen = {0, 1, 2, 3, 4, 70, 71, 150, positions - 1};
  operation = &some;
  const PassResult result = run_pass(source, only_at(settings_for(source), chosen), std::span(&operation, 1));
  EXPECT_EQ(result.frames, chosen.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto k = static_cast<Index>(i);
    EXPECT_EQ((some.total.view<std::uint64_t, 1>()(k)), (all.total.view<std::uint64_t, 1>()(chosen[i])));
    EXPECT_EQ((some.moment_col.view<std::uint64_t, 1>()(k)), (all.moment_col.view<std::uint64_t, 1>()(chosen[i])));
  }
}

TEST(Pass, SumsOverAListDependOnNeitherThreadsNorBatches) {
  auto source = source_of<float>();
  std::vector<Index> chosen;
  for (Index i = 0; i < positions; i += 1 + i % 5) chosen.push_back(i);
  PassSettings settings = only_at(settings_for(source), chosen);
  const std::string expected = found_by(source, settings, 1);
  for (const int threads : {2, 7})
    for (const std::size_t frames : {1, 3, 50}) {
      settings.batch_bytes = frames * static_cast<std::size_t>(pixels) * sizeof(float);
      EXPECT_TRUE(found_by(source, settings, threads) == expected) << threads << " threads, batches of " << frames;
    }
}

TEST(Pass, PlanesAreNotMadeOfAList) {
  auto source = source_of<std::uint16_t>();
  Array planes = make_planes(Device::cpu(), 2, rows, cols, DType::u16);
  ResidentElements elements({.out = DType::u16, .destination = Destination::planes}, planes);
  Operation* const operation = &elements;
  EXPECT_THAT(sonde::testing::error_of(
                  ErrorKind::internal,
                  [&] {
                    (void)run_pass(source, only_at(settings_for(source), {3, 4}), std::span(&operation, 1));
                  }),
              ::testing::HasSubstr("planes were asked of a list of positions"));
}

/// Compares what it is given with the definition.
class Witness final : public Operation {
 public:
  explicit Witness(std::vector<std::uint16_t> expected) : expected_(std::move(expected)) {}
  [[nodiscard]] Abilities abilities(const PassShape&) const override { return {}; }
  void start(const PassShape&) override {
    seen.assign(static_cast<std::size_t>(positions), 0);
    wrong = 0;
    finished = 0;
  }
  void take(const Tile& tile, State*) override {
    const auto frames = tile.as<std::uint16_t>();
    for (Index k = 0; k < tile.count(); ++k) {
      const auto i = static_cast<std::size_t>(k);
      const Index position = tile.positions[i];
      ++seen[static_cast<std::size_t>(position)];
      std::uint16_t most = 0;
      for (Index pixel = 0; pixel < pixels; ++pixel) {
        const std::uint16_t value = expected_[static_cast<std::size_t>(position * pixels + pixel)];
        most = std::max(most, value);
        wrong += frames(k, pixel / cols, pixel % cols) != value ? 1 : 0;
      }
      wrong += tile.largest[i] != most || tile.present[i] != 1 ? 1 : 0;
    }
  }
  void finish(State*) override { ++finished; }

  std::vector<int> seen;
  std::atomic<int> wrong{0};
  int finished = 0;

 private:
  std::vector<std::uint16_t> expected_;
};

TEST(Pass, EveryOperationSeesEachCleanFrameOnce) {
  std::vector<std::uint16_t> stored = random_values<std::uint16_t>(8), clean = stored;
  for (Index frame = 0; frame < positions; ++frame) {
    clean[static_cast<std::size_t>(frame * pixels + 5)] = 0;  // masked
    stored[static_cast<std::size_t>(frame * pixels + frame % 7)] = 65535;
    clean[static_cast<std::size_t>(frame * pixels + frame % 7)] = 0;  // no data
  }
  MemorySource<std::uint16_t> source(scan_rows, scan_cols, rows, cols, stored);
  source.acquisition_to_change().sentinel = 65535;
  PassSettings settings = settings_for(source);
  settings.mask_bits[5] = mask_bit::dead;
  settings.batch_bytes = 4096;
  Witness first(clean), second(clean);
  const std::array<Operation*, 2> operations = {&first, &second};
  for (int run = 0; run < 2; ++run) {  // a pass that starts over leaves nothing of the first
    const PassResult result = run_pass(source, settings, operations);
    for (const Witness* witness : {&first, &second}) {
      EXPECT_THAT(witness->seen, Each(1));
      EXPECT_EQ(witness->wrong, 0);
      EXPECT_EQ(witness->finished, 1);
    }
    EXPECT_EQ(result.frames, static_cast<std::uint64_t>(positions));
    EXPECT_EQ(result.valid, std::vector<std::uint8_t>(static_cast<std::size_t>(positions), 1));
    EXPECT_EQ(result.sentinels + result.masked_sentinels, static_cast<std::uint64_t>(positions));
  }
}

TEST(Pass, AnOperationThatRefusesItsSettingsEndsItBeforeAnyFrame) {
  struct Refuses final : Operation {
    [[nodiscard]] Abilities abilities(const PassShape& shape) const override {
      throw Error(ErrorKind::bad_input, "a mask of 3 pixels for " + std::to_string(shape.detector.out_pixels()));
    }
    void start(const PassShape&) override { ADD_FAILURE(); }
    void take(const Tile&, State*) override { ADD_FAILURE(); }
  } refuses;
  auto source = source_of<std::uint16_t>();
  Operation* const operation = &refuses;
  EXPECT_EQ(sonde::testing::error_of(ErrorKind::bad_input,
                                     [&] { (void)run_pass(source, settings_for(source), std::span(&operation, 1)); }),
            "error: a mask of 3 pixels for 126");
}

TEST(Pass, PlanesAreFilledInAnyOrderOfTheFile) {
  auto source = source_of<std::uint16_t>(), flipped = source_of<std::uint16_t>();
  flipped.acquisition_to_change().scan.flip_cols = true;
  const auto planes_of = [](Source& from, std::size_t batch_frames) {
    PassSettings settings = settings_for(from);
    settings.batch_bytes = batch_frames * static_cast<std::size_t>(pixels) * 2;
    Array planes = make_planes(Device::cpu(), positions, rows, cols, DType::u32);
    ResidentElements elements({.out = DType::u32, .destination = Destination::planes}, planes);
    Operation* const operation = &elements;
    (void)run_pass(from, settings, std::span(&operation, 1));
    return planes;
  };
  const Array planes = planes_of(source, 5), mirrored = planes_of(flipped, 17);
  int wrong = 0;
  for (Index pixel = 0; pixel < pixels; ++pixel)
    for (Index position = 0; position < positions; ++position) {
      const Index row = position / scan_cols, col = position % scan_cols;
      wrong += planes.view<std::uint32_t, 2>()(pixel, position) !=
                       mirrored.view<std::uint32_t, 2>()(pixel, row * scan_cols + scan_cols - 1 - col)
                   ? 1
                   : 0;
    }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace sonde::stem

// SPDX-License-Identifier: Apache-2.0
// Measured memory of a gradient, in children so that nothing else counts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/maxwell/run/experiment_run.h"
#include "tests/support/child.h"
#include "tests/support/memory.h"

namespace sonde::maxwell {
namespace {

constexpr double mega = 1 << 20U;
constexpr double highest_frequency_of_test = 100e6;

/// 250 x 250 cells with layers, 1200 steps of float32: a field has 292 kB.
Experiment large_ground() {
  Experiment made;
  made.grid = {.mode = Mode::tm2d, .cells = {250, 1, 250}, .spacing = {0.05, 1, 0.05}, .order = 4};
  made.grid.pml = {{{10, 10}, {0, 0}, {10, 10}}};
  made.model.eps_r.assign(250 * 250, 4);
  made.model.sigma.assign(250 * 250, 1e-3);
  made.dominant_frequency = 40e6;
  made.dt = 0.9 * largest_time_step(made);
  made.steps = 1200;
  SurveyShot& shot = made.shots.emplace_back();
  shot.sources = {{Component::Ey, {10, 0, 100}}};
  shot.receivers = {{Component::Ey, {200, 0, 100}}};
  shot.amplitudes.assign(1200, 0);
  shot.amplitudes[0] = 1;
  return made;
}

struct Measured {
  std::size_t peak_bytes = 0, planned_bytes = 0;
  double largest = 0;  ///< of the gradient, so that it counts as asked for
  StorageMode mode = StorageMode::none;
};

std::size_t needed_bytes() {
  const Experiment experiment = large_ground();
  return sizeof(float) * static_cast<std::size_t>(Grid(experiment.grid).count() * (experiment.steps + 1));
}

/// Without storage only the gradient by the amplitudes is asked for, which needs no fields.
Measured measured(const std::optional<StorageSettings>& storage) {
  std::istringstream found(sonde::testing::text_from_child([&] {
    set_thread_count(2);
    const Experiment experiment = large_ground();
    Operator waves = make_operator(experiment);
    const GradientOf of{.eps_r = storage.has_value(), .sigma = storage.has_value(), .sources = true};
    StorageRequest request = waves.storage_request(of, highest_frequency_of_test);
    request.host_bytes = request.disk_bytes = 4 * needed_bytes();
    const StoragePlan plan = storage ? plan_storage(request, *storage) : StoragePlan{};
    waves.prepare_gradient(of, plan, TierBudgets::around(Device::cpu(), Budget(request.host_bytes, "a test")));
    std::vector<std::string> warnings;
    const Shot shot = shot_on_grid(experiment.shots[0], waves.problem().grid, warnings);
    const ShotGradient made = waves.gradient(shot, [](std::span<const double> record, std::span<double> residual) {
      std::copy(record.begin(), record.end(), residual.begin());
      return 0.0;
    });
    double largest = 0;
    for (const double value : storage ? made.medium.eps_r[1] : made.sources)
      largest = std::max(largest, std::abs(value));
    std::ostringstream out;
    out << sonde::testing::peak_anonymous() << " " << plan.host_bytes << " " << largest << " "
        << static_cast<int>(plan.mode);
    return out.str();
  }));
  Measured made;
  int mode = 0;
  EXPECT_TRUE(found >> made.peak_bytes >> made.planned_bytes >> made.largest >> mode) << found.str();
  made.mode = static_cast<StorageMode>(mode);
  EXPECT_GT(made.largest, 0);
  return made;
}

struct LimitedCase {
  std::string name{};
  StorageSettings storage{};
  StorageMode mode = StorageMode::none;
};

class MemoryOfAGradient : public ::testing::TestWithParam<LimitedCase> {};

void PrintTo(const LimitedCase& each, std::ostream* out) { *out << each.name; }

TEST_P(MemoryOfAGradient, StaysWithinAQuarterOfTheNeed) {
  const std::size_t limit = needed_bytes() / 4;
  StorageSettings storage = GetParam().storage;
  storage.bytes_limit_host = limit;
  const Measured without = measured(std::nullopt), with = measured(storage);
  EXPECT_EQ(with.mode, GetParam().mode);
  const auto more = static_cast<double>(with.peak_bytes) - static_cast<double>(without.peak_bytes);
  std::cout << "limit " << static_cast<double>(limit) / mega << " MiB, measured " << more / mega << " MiB\n";
  EXPECT_LE(more, 1.05 * static_cast<double>(limit));
  EXPECT_GE(more, 0.9 * static_cast<double>(with.planned_bytes));  // else nothing was measured
}

INSTANTIATE_TEST_SUITE_P(
    Cases, MemoryOfAGradient,
    ::testing::Values(LimitedCase{"Disk", {}, StorageMode::disk},
                      LimitedCase{"Recompute", {.mode = StorageMode::recompute}, StorageMode::recompute},
                      LimitedCase{"Reconstruct", {.mode = StorageMode::reconstruct}, StorageMode::reconstruct},
                      LimitedCase{
                          "Packed",
                          {.mode = StorageMode::host, .compression = Compression::automatic, .interval = std::nullopt},
                          StorageMode::host}),
    [](const auto& each) { return each.param.name; });

TEST(MemoryOfAFullGradient, WithoutALimitIsThatOfAllFields) {
  const Measured without = measured(std::nullopt), with = measured(StorageSettings{.mode = StorageMode::host});
  const auto more = static_cast<double>(with.peak_bytes) - static_cast<double>(without.peak_bytes);
  EXPECT_GE(more, static_cast<double>(needed_bytes()));
  EXPECT_LE(more, 1.05 * static_cast<double>(needed_bytes()));
}

}  // namespace
}  // namespace sonde::maxwell

// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/trajectory/storage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace sonde::maxwell {
namespace {

/// 1000 steps of 100 x 100 nodes: 40 kB of float32 each.
StorageRequest hundred_squared(std::size_t host_bytes, std::size_t disk_bytes = 0) {
  StorageRequest made;
  made.layout = {.box = {{0, 0, 0}, {100, 1, 100}}, .components = {Component::Ey}};
  made.steps = 1000;
  made.dt = 1e-10;
  made.highest_frequency = 0.5e9;  // the longest interval is 10 steps, the safe one 7
  made.state_bytes = 150'000;
  made.host_bytes = host_bytes;
  made.disk_bytes = disk_bytes;
  return made;
}

constexpr std::size_t all_of_it = 1001 * 40'000;

TEST(StoragePlan, KeepsEveryStepInMemoryWhereThatHasRoom) {
  const StoragePlan plan = plan_storage(hundred_squared(all_of_it), {});
  EXPECT_EQ(plan.mode, StorageMode::host);
  EXPECT_EQ(plan.host_bytes, all_of_it);
  EXPECT_EQ(plan.interval, 1);
  EXPECT_EQ(plan.encoding, Encoding::raw);
}

TEST(StoragePlan, LowersPrecisionAndIntervalOnlyWhereThatIsLeftToIt) {
  const StorageRequest short_of = hundred_squared(all_of_it * 3 / 4, 2 * all_of_it);
  EXPECT_EQ(plan_storage(short_of, {}).mode, StorageMode::disk);
  const StoragePlan rounded = plan_storage(short_of, {.compression = Compression::automatic});
  EXPECT_EQ(rounded.mode, StorageMode::host);
  EXPECT_EQ(rounded.encoding, Encoding::bf16);
  const StoragePlan sampled = plan_storage(short_of, {.interval = std::nullopt});
  EXPECT_EQ(sampled.mode, StorageMode::host);
  EXPECT_EQ(sampled.interval, 7);
  // 143 samples of difference and sum, and the field before a step.
  EXPECT_EQ(sampled.host_bytes, 143u * 80'000 + 40'000);
}

TEST(StoragePlan, ComputesAgainWhereNothingElseHasRoom) {
  const StoragePlan plan = plan_storage(hundred_squared(3'000'000, 0), {});
  EXPECT_EQ(plan.mode, StorageMode::recompute);
  EXPECT_LE(plan.host_bytes, 3'000'000u);
  EXPECT_GT(plan.forward_runs, 1);
  EXPECT_LT(plan.forward_runs, 3);
}

TEST(StoragePlan, KeepsMoreOfARunThatIsComputedAgainWhereMemoryAllows) {
  EXPECT_LT(plan_storage(hundred_squared(20'000'000), {.mode = StorageMode::recompute, .bytes_limit_host = 20'000'000})
                .forward_runs,
            plan_storage(hundred_squared(2'000'000), {.mode = StorageMode::recompute}).forward_runs);
}

TEST(StoragePlan, TakesALimitOfTheDeviceForThatOfTheHostOnTheCpu) {
  EXPECT_EQ(plan_storage(hundred_squared(all_of_it, 2 * all_of_it), {.bytes_limit_device = 1'000'000}).mode,
            StorageMode::disk);
}

TEST(StoragePlan, TakesTheSmallerLimit) {
  const StoragePlan plan = plan_storage(hundred_squared(all_of_it, 2 * all_of_it), {.bytes_limit_host = 1'000'000});
  EXPECT_EQ(plan.mode, StorageMode::disk);
}

/// The same on a GPU.
StorageRequest on_gpu(std::size_t device_bytes, std::size_t host_bytes = 0, std::size_t disk_bytes = 0) {
  StorageRequest made = hundred_squared(host_bytes, disk_bytes);
  made.device_bytes = device_bytes;
  return made;
}

TEST(StoragePlanOfAGpu, TakesTheNearestTierWithRoom) {
  const StoragePlan near = plan_storage(on_gpu(all_of_it), {});
  EXPECT_EQ(near.mode, StorageMode::device);
  EXPECT_EQ(near.device_bytes, all_of_it);
  EXPECT_EQ(near.host_bytes, 0u);
  const StoragePlan host = plan_storage(on_gpu(1'000'000, all_of_it), {});
  EXPECT_EQ(host.mode, StorageMode::host);
  EXPECT_EQ(host.host_bytes, all_of_it);
  EXPECT_EQ(host.device_bytes, 4u * 40'000);  // two that are read, two on their way
  EXPECT_EQ(host.because, "the GPU has space for 977 KiB only");
  EXPECT_EQ(plan_storage(on_gpu(1'000'000, 1'000'000, all_of_it), {}).mode, StorageMode::disk);
  EXPECT_EQ(plan_storage(on_gpu(all_of_it, all_of_it), {.mode = StorageMode::host}).mode, StorageMode::host);
}

TEST(StoragePlanOfAGpu, ComputesAgainFromStatesOnTheHost) {
  const StoragePlan plan = plan_storage(on_gpu(2'000'000, 3'000'000), {});
  EXPECT_EQ(plan.mode, StorageMode::recompute);
  EXPECT_LE(plan.device_bytes, 2'000'000u);
  EXPECT_EQ(plan.host_bytes, static_cast<std::size_t>(plan.states) * 150'000);
  EXPECT_LE(plan.host_bytes, 3'000'000u);
}

TEST(StoragePlanOfAGpu, RefusesMemoryThatIsNotThere) {
  EXPECT_EQ(sonde::testing::error_of(ErrorKind::budget,
                                     [] {
                                       (void)plan_storage(on_gpu(all_of_it), {.mode = StorageMode::device,
                                                                              .bytes_limit_device = 1'000'000});
                                     }),
            "error: the fields of the run need 38.2 MiB of the memory of the GPU, 977 KiB are free\n"
            "hint: raise --memory or --bytes-limit-device, or take --storage-mode host, disk or recompute");
}

TEST(StoragePlan, RefusesMemoryThatIsNotThere) {
  EXPECT_EQ(sonde::testing::error_of(
                ErrorKind::budget, [] { (void)plan_storage(hundred_squared(1'000'000), {.mode = StorageMode::host}); }),
            "error: the fields of the run need 38.2 MiB of memory, 977 KiB are free\n"
            "hint: raise --memory or --bytes-limit-host, or take --storage-mode disk or recompute");
}

TEST(StoragePlan, RefusesADiskThatIsTooSmall) {
  EXPECT_EQ(sonde::testing::error_of(
                ErrorKind::io,
                [] { (void)plan_storage(hundred_squared(1'000'000, 5'000'000), {.mode = StorageMode::disk}); }),
            "error: the fields of the run need 38.2 MiB on disk, 4.77 MiB are free\n"
            "hint: take another folder by --storage-path, or --storage-mode recompute");
}

// A disk needs the fields of a few steps in memory.
TEST(StoragePlan, NamesTheMemoryThatADiskIsShortOf) {
  EXPECT_THAT(
      sonde::testing::error_of(
          ErrorKind::budget, [] { (void)plan_storage(hundred_squared(1000, all_of_it), {.mode = StorageMode::disk}); }),
      ::testing::HasSubstr(" of memory, 1000 B are free"));
}

TEST(StoragePlan, RefusesAnIntervalAtWhichTheGradientIsAliased) {
  EXPECT_EQ(sonde::testing::error_of(ErrorKind::bad_input,
                                     [] { (void)plan_storage(hundred_squared(all_of_it), {.interval = 11}); }),
            "error: sampling interval 11: at 5e+08 Hz and 1e-10 s the gradient is aliased above 10\n"
            "hint: take 7 or less; --force takes it all the same");
  EXPECT_EQ(plan_storage(hundred_squared(all_of_it), {.interval = 11, .force = true}).interval, 11);
}

StoragePlan reconstruct_of(const Reconstruction& how, StorageSettings settings = {}) {
  StorageRequest request = hundred_squared(all_of_it);
  request.reconstruction = how;
  settings.mode = StorageMode::reconstruct;
  return plan_storage(request, settings);
}

TEST(StoragePlanOfReconstruct, HoldsTheShellOfEveryStepAndWhatIsTakenBack) {
  const Reconstruction how{
      .shell = {.box = {{}, {100, 1, 100}}, .hollow = {{2, 0, 2}, {98, 1, 98}}, .components = {Component::Ey}},
      .growth = 5,
      .work_bytes = 1000};
  const StoragePlan plan = reconstruct_of(how);
  EXPECT_EQ(plan.mode, StorageMode::reconstruct);
  const std::size_t samples = static_cast<std::size_t>(hundred_squared(all_of_it).steps) + 1;
  EXPECT_EQ(plan.host_bytes, 1000 + samples * 4 * (100 * 100 - 96 * 96));
  EXPECT_EQ(text_of(plan), "reconstruct, 7.84 % of the nodes, the others by steps backwards in time");
  EXPECT_NEAR(plan.expected_error, std::exp(5) / (1 << 24), 1e-12);
}

TEST(StoragePlanOfReconstruct, RefusesWhatHasNoReverse) {
  const auto refused = [](const Reconstruction& how, const StorageSettings& settings = {}) {
    return sonde::testing::error_of(ErrorKind::not_supported, [&] { (void)reconstruct_of(how, settings); });
  };
  const std::string hint = "\nhint: take --storage-mode recompute or disk";
  EXPECT_EQ(refused({.growth = 12}),
            "error: reconstruct: backwards in time loss makes rounding grow by exp(12); at "
            "float32 up to exp(9.73) is possible" +
                hint);
  EXPECT_EQ(refused({.obstacle = "there is no way"}), "error: reconstruct: there is no way" + hint);
  EXPECT_EQ(refused({}, {.interval = 2}),
            "error: reconstruct: fields are taken back through every step, without compression" + hint);
}

TEST(StoragePlanOfReconstruct, RefusesAGpuAndMemoryThatIsNotThere) {
  StorageRequest request = on_gpu(all_of_it, all_of_it);
  EXPECT_EQ(sonde::testing::error_of(ErrorKind::not_supported,
                                     [&] { (void)plan_storage(request, {.mode = StorageMode::reconstruct}); }),
            "error: reconstruct: a run on a GPU is not taken back step by step\n"
            "hint: take --storage-mode recompute or disk");
  request = hundred_squared(1'000'000);
  request.reconstruction.work_bytes = 2'000'000;
  EXPECT_EQ(sonde::testing::error_of(ErrorKind::budget,
                                     [&] { (void)plan_storage(request, {.mode = StorageMode::reconstruct}); }),
            "error: the fields of the run need 1.91 MiB of memory, 977 KiB are free\n"
            "hint: raise --memory or --bytes-limit-host, or take --storage-mode disk or recompute");
}

TEST(StoragePlan, RefusesBf16OfFloat64) {
  StorageRequest request = hundred_squared(all_of_it);
  request.precision = Precision::f64;
  EXPECT_EQ(sonde::testing::error_of(ErrorKind::bad_input,
                                     [&] { (void)plan_storage(request, {.compression = Compression::bf16}); }),
            "error: fields of float64 are not kept in bf16\nhint: take --dtype f32, or no compression");
}

}  // namespace
}  // namespace sonde::maxwell

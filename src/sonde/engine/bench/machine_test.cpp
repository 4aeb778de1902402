// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/bench/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <vector>

#include "sonde/engine/bench/machine_kernels.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/report/json.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde {
namespace {

/// Small enough for a test; the numbers are then those of a cache, but every path is taken.
MachineOptions small(const testing::TemporaryFolder& folder) {
  return {.seconds_each = 0.001, .array_bytes = 1u << 20, .file_bytes = 8u << 20, .folder = folder.path().string()};
}

TEST(Machine, EveryRateIsMeasured) {
  const testing::TemporaryFolder folder;
  const Value machine = measure_machine(small(folder));
  ASSERT_GE(machine.find("memory")->size(), 1u);
  for (const Value& row : machine.find("memory")->items())
    for (const char* rate : {"copy_bytes_per_s", "triad_bytes_per_s", "read_bytes_per_s"})
      EXPECT_GT(row.find(rate)->as_real(), 0) << rate;
  for (const Value& row : machine.find("multiply_add")->items())
    for (const char* rate : {"f32_flops_per_s", "f64_flops_per_s"}) EXPECT_GT(row.find(rate)->as_real(), 0) << rate;
  ASSERT_EQ(machine.find("fft")->size(), 2u);
  for (const Value& row : machine.find("fft")->items()) EXPECT_GT(row.find("transforms_per_s")->as_real(), 0);
  EXPECT_GT(machine.find("disk")->find("write_bytes_per_s")->as_real(), 0);
  EXPECT_GT(machine.find("disk")->find("read_bytes_per_s")->as_real(), 0);
  EXPECT_EQ(machine.find("links")->size(), Device::all().size() - 1);
  EXPECT_THAT(machine_text(machine), ::testing::HasSubstr("multiply-add, GF/s"));
  EXPECT_THAT(machine_text(machine), ::testing::HasSubstr("256 x 256"));
}

TEST(Machine, TheNumberOfThreadsIsRestored) {
  const testing::TemporaryFolder folder;
  set_thread_count(1);
  (void)measure_machine(small(folder));
  EXPECT_EQ(thread_count(), 1);
  set_thread_count(0);
}

TEST(Machine, AFolderThatCannotBeWrittenIsNamed) {
  MachineOptions options{.seconds_each = 0.001, .array_bytes = 1u << 16, .file_bytes = 1u << 16, .folder = "/nowhere"};
  EXPECT_EQ(testing::error_of(ErrorKind::io, [&] { (void)measure_machine(options); }),
            "error: /nowhere: making a temporary file failed: No such file or directory\n"
            "hint: choose another folder for temporary files");
}

TEST(MachineCache, IsReadBackOnTheSameMachineOnly) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("cache/machine.json");
  EXPECT_EQ(cached_machine(path), std::nullopt);
  Value machine;
  machine["identity"] = machine_identity();
  cache_machine(machine, path);
  ASSERT_TRUE(cached_machine(path));
  EXPECT_EQ(*cached_machine(path), machine);
  machine["identity"]["cores"] = 100000;
  cache_machine(machine, path);
  EXPECT_EQ(cached_machine(path), std::nullopt);
}

TEST(MachineCache, AnUnreadableCacheIsNoCache) {
  const testing::TemporaryFolder folder;
  testing::write_bytes(folder.file("machine.json"), {'{'});
  EXPECT_EQ(cached_machine(folder.file("machine.json")), std::nullopt);
}

TEST(MachineCache, LiesWhereTheUserKeepsCaches) {
  const char* before = std::getenv("XDG_CACHE_HOME");
  const std::string kept = before != nullptr ? before : "";
  setenv("XDG_CACHE_HOME", "/somewhere", 1);
  EXPECT_EQ(machine_cache_path(), "/somewhere/sonde/machine.json");
  before != nullptr ? setenv("XDG_CACHE_HOME", kept.c_str(), 1) : unsetenv("XDG_CACHE_HOME");
}

TEST(MachineRates, AreThoseOfTheNumberOfThreads) {
  const Value machine = parse_json(R"({"memory": [
      {"threads": 1, "copy_bytes_per_s": 10, "triad_bytes_per_s": 11, "read_bytes_per_s": 12},
      {"threads": 4, "copy_bytes_per_s": 41, "triad_bytes_per_s": 40, "read_bytes_per_s": 39}],
    "multiply_add": [{"threads": 1, "f32_flops_per_s": 100}, {"threads": 4, "f32_flops_per_s": 400}],
    "disk": {"read_bytes_per_s": 3}, "links": [{"to_device_pinned_bytes_per_s": 5}]})",
                                   "test");
  EXPECT_EQ(machine_rates(machine, 1).memory_bytes_per_s, 12);
  EXPECT_EQ(machine_rates(machine, 2).memory_bytes_per_s, 41);
  EXPECT_EQ(machine_rates(machine, 9).memory_bytes_per_s, 41);
  EXPECT_EQ(machine_rates(machine, 1).flops_per_s, 100);
  EXPECT_EQ(machine_rates(machine, 2).flops_per_s, 200);
  EXPECT_EQ(machine_rates(machine, 1).disk_bytes_per_s, 3);
  EXPECT_EQ(machine_rates(machine, 1).link_bytes_per_s, 5);
}

TEST(MachineRates, OfAnUnmeasuredMachineAreZero) { EXPECT_EQ(machine_rates(Value(), 1).memory_bytes_per_s, 0); }

TEST(MachineKernels, ComputeWhatTheySay) {
  std::vector<double> a(1000), b(1000), to(1000);
  std::iota(a.begin(), a.end(), 0.0);
  std::iota(b.begin(), b.end(), 1.0);
  machine::copy(to.data(), a.data(), 1000);
  EXPECT_EQ(to, a);
  machine::triad(to.data(), a.data(), b.data(), 1000);
  EXPECT_EQ(to[10], 10 + 3 * 11.0);
  EXPECT_EQ(machine::sum(a.data(), 992), 991 * 992 / 2);  // a multiple of 32: the rest is left out
  EXPECT_EQ(static_cast<Index>(machine::multiply_add_f32(10)) % 240, 0);
}

}  // namespace
}  // namespace sonde

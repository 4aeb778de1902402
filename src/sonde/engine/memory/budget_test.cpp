// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/memory/budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sonde/engine/memory/host_memory.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;

TEST(Budget, ReservationsAreHandedBack) {
  Budget budget(1000, "test");
  {
    const Reservation one = budget.reserve(600, "frames");
    EXPECT_EQ(budget.available_bytes(), 400u);
  }
  EXPECT_EQ(budget.available_bytes(), 1000u);
  EXPECT_EQ(budget.peak_bytes(), 600u);
}

TEST(Budget, AShrunkReservationHandsBackTheDifference) {
  Budget budget(1000, "test");
  {
    Reservation work = budget.reserve(600, "frames");
    work.shrink_to(200);
    EXPECT_EQ(budget.available_bytes(), 800u);
    EXPECT_EQ(budget.holders()[0].bytes, 200u);
    work.shrink_to(500);  // only ever less
    EXPECT_EQ(work.bytes(), 200u);
  }
  EXPECT_EQ(budget.available_bytes(), 1000u);
}

TEST(Budget, ExceedingNamesTheLargestHoldersAndTheRemedy) {
  Budget budget(2048, "test");
  const Reservation frames = budget.reserve(1024, "frames");
  const Reservation index = budget.reserve(512, "index");
  const std::string text =
      testing::error_of(ErrorKind::budget, [&] { (void)budget.reserve(1024, "moments", "bin with --det-bin"); });
  EXPECT_EQ(text,
            "error: moments needs 1.00 KiB, but 512 B of the budget of 2.00 KiB (test) are left; held by frames 1.00 "
            "KiB and index 512 B\n"
            "hint: bin with --det-bin");
}

struct BatchCase {
  Index count;
  std::size_t item, fixed;
  Index most, expected;
};

TEST(ChooseBatch, IsAFunctionOfSizesAndBudget) {
  const Budget budget(1000, "test");
  for (const BatchCase& c : {BatchCase{5, 100, 0, 64, 5},
                             {50, 100, 0, 64, 10},
                             {50, 100, 500, 64, 5},
                             {50, 100, 0, 4, 4},
                             {0, 100, 0, 4, 0}}) {
    SCOPED_TRACE(c.count);
    const auto choice = choose_batch(budget, c.count, c.item, c.fixed, c.most);
    EXPECT_EQ(choice.value, c.expected);
    EXPECT_FALSE(choice.because.empty());
  }
}

TEST(ChooseBatch, NotEvenOneIsAnError) {
  testing::error_of(ErrorKind::budget, [] { (void)choose_batch(Budget(1000, "test"), 1, 2000, 0, 8); });
  testing::error_of(ErrorKind::budget, [] { (void)choose_batch(Budget(1000, "test"), 1, 0, 2000, 8); });
}

/// Writes a made-up file system of the kernel's memory files.
struct FakeRoot {
  testing::TemporaryFolder folder;
  void put(const std::string& path, const std::string& content) const {
    const std::filesystem::path file = folder.path() / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << content;
  }
  [[nodiscard]] std::string root() const { return folder.path().string(); }
};

TEST(HostMemory, ControlGroupOfVersion2LimitsWhatIsUsable) {
  FakeRoot fake;
  fake.put("proc/meminfo", "MemTotal:  2000 kB\nMemAvailable:    1000 kB\n");
  fake.put("proc/self/cgroup", "0::/a/b\n");
  fake.put("sys/fs/cgroup/a/b/memory.max", "max\n");
  fake.put("sys/fs/cgroup/a/b/memory.current", "300000\n");
  fake.put("sys/fs/cgroup/a/memory.max", "512000\n");  // the limit of the group above holds too
  fake.put("sys/fs/cgroup/a/memory.current", "312000\n");
  fake.put("sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 100000\n");
  EXPECT_EQ(usable_bytes(host_memory(fake.root())), 300000u);  // 512000 - (312000 - 100000)
}

TEST(HostMemory, ControlGroupOfVersion1LimitsWhatIsUsable) {
  FakeRoot fake;
  fake.put("proc/meminfo", "MemAvailable:    1000 kB\n");
  fake.put("proc/self/cgroup", "9:cpu:/x\n8:memory:/m\n");
  fake.put("sys/fs/cgroup/memory/m/memory.limit_in_bytes", "400000\n");
  fake.put("sys/fs/cgroup/memory/m/memory.usage_in_bytes", "100000\n");
  fake.put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  fake.put("sys/fs/cgroup/memory/memory.usage_in_bytes", "100000\n");
  EXPECT_EQ(usable_bytes(host_memory(fake.root())), 300000u);
}

TEST(HostMemory, WithoutControlGroupsAvailableMemoryCounts) {
  FakeRoot fake;
  fake.put("proc/meminfo", "MemAvailable:    1000 kB\n");
  EXPECT_EQ(usable_bytes(host_memory(fake.root())), 1024000u);
}

TEST(HostMemory, ThisProcessIsResident) {
  const ResidentMemory resident = resident_memory();
  EXPECT_GT(resident.now, 0u);
  EXPECT_GE(resident.peak, resident.anonymous);
}

}  // namespace
}  // namespace sonde

// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/memory/tier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TierBudgets budgets(std::optional<std::size_t> device, std::size_t host, std::size_t disk) {
  return {device ? std::optional(Budget(*device, "test")) : std::nullopt, Budget(host, "test"), Budget(disk, "test"),
          "/var/tmp"};
}

TEST(ChooseTier, TakesTheNearestWithRoom) {
  struct Row {
    std::optional<std::size_t> device;
    std::size_t host, disk, bytes;
    Tier expected;
    const char* because;
  };
  for (const Row& row : {Row{100, 100, 100, 100, Tier::device, "needs 100 B, fits into 100 B"},
                         Row{99, 100, 100, 100, Tier::host, "needs 100 B, device has 99 B left"},
                         Row{99, 99, 100, 100, Tier::disk, "needs 100 B, device has 99 B and host has 99 B left"},
                         Row{std::nullopt, 100, 100, 100, Tier::host, "needs 100 B, fits into 100 B"},
                         Row{std::nullopt, 99, 500, 100, Tier::disk, "needs 100 B, host has 99 B left"},
                         Row{0, 0, 0, 0, Tier::device, "needs 0 B, fits into 0 B"}}) {
    const Choice<Tier> choice = choose_tier(budgets(row.device, row.host, row.disk), row.bytes, "snapshots");
    EXPECT_EQ(choice.value, row.expected);
    EXPECT_EQ(choice.because, row.because);
  }
}

TEST(ChooseTier, CountsWhatIsReserved) {
  TierBudgets all = budgets(std::nullopt, 100, 100);
  const Reservation held = all.host.reserve(60, "frames");
  EXPECT_EQ(choose_tier(all, 40, "snapshots").value, Tier::host);
  EXPECT_EQ(choose_tier(all, 41, "snapshots").value, Tier::disk);
}

TEST(ChooseTier, NoRoomSaysWhatIsNeededWhoHoldsItAndWhatHelps) {
  TierBudgets all = budgets(50, 100, 70);
  const Reservation held = all.host.reserve(60, "frames");
  EXPECT_THAT(testing::error_of(ErrorKind::budget, [&] { (void)choose_tier(all, 71, "snapshots", "--storage bf16"); }),
              AllOf(HasSubstr("snapshots needs 71 B, but device has 50 B, host has 40 B and disk has 70 B left"),
                    HasSubstr("held by frames 60 B"), HasSubstr("hint: --storage bf16")));
}

TEST(TierBudgets, OnTheCpuTheHostIsTheBudgetThatTheWorkHas) {
  const testing::TemporaryFolder folder;
  const Budget budget(1000, "--memory");
  TierBudgets all = TierBudgets::around(Device::cpu(), budget, folder.path().string());
  EXPECT_FALSE(all.device.has_value());
  const Reservation held = all.host.reserve(400, "x");
  EXPECT_EQ(budget.available_bytes(), 600u);
  EXPECT_GT(all.disk.limit_bytes(), 0u);
  EXPECT_EQ(all.folder, folder.path().string());
  EXPECT_THAT(testing::error_of(ErrorKind::internal, [&] { (void)all.of(Tier::device); }), HasSubstr("the CPU has no"));
}

TEST(TierBudgets, AMissingFolderIsAnError) {
  EXPECT_THAT(testing::error_of(ErrorKind::io,
                                [] { (void)TierBudgets::around(Device::cpu(), Budget(1, "test"), "/not/there"); }),
              HasSubstr("/not/there: asking for free space failed: No such file or directory"));
}

}  // namespace
}  // namespace sonde

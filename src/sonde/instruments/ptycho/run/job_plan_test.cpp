// SPDX-License-Identifier: Apache-2.0
// What a plan refuses before a count is read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sonde/instruments/ptycho/run/job.h"
#include "sonde/instruments/ptycho/run/test_scan.h"
#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;

TEST(PlanJob, OnAGpuExitWavesLieNowhereElse) {
  for (const char* tier : {"host", "disk"}) {
    const auto plan = [&](const std::string& engine, bool kernels) {
      const testing::SmallScan scan(1e4, "[compute]\nwave_tier = \"" + std::string(tier) + "\"\n[[engine]]\nname = \"" +
                                             engine + "\"\niterations = 2\n");
      return plan_job(scan.run, scan.source, {.kernels = kernels});
    };
    EXPECT_THAT(error_of(ErrorKind::not_supported, [&] { (void)plan("dm", true); }), HasSubstr("compute.wave_tier"));
    EXPECT_NO_THROW((void)plan("dm", false));
    EXPECT_NO_THROW((void)plan("gd", true)) << "keeps none";
  }
}

}  // namespace
}  // namespace sonde::ptycho

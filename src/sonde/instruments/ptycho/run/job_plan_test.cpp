// SPDX-License-Identifier: Apache-2.0
// What a plan refuses before a count is read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sonde/engine/io/hdf5_writer.h"
#include "sonde/instruments/ptycho/run/job.h"
#include "sonde/instruments/ptycho/run/test_scan.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::ptycho {
namespace {

using sonde::testing::error_of;
using ::testing::AllOf;
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

TEST(PlanJob, AFirstObjectHasThePixelsOfTheScan) {
  const sonde::testing::TemporaryFolder folder;
  const auto plan = [&](double times) {
    const std::string path = folder.file("object.h5");
    testing::SmallScan scan(1e4);
    const Sampling sampling = plan_job(scan.run, scan.source).scan.sampling;
    Hdf5Writer writer(path);
    writer.array("/object", Array::zeros(Device::cpu(), Shape{1, 8, 8}, DType::c64));
    writer.attribute(
        "/object", "pixel_size_A",
        Array::from(std::vector<double>{times * sampling.pixel_row(), times * sampling.pixel_col()}, Shape{2}));
    writer.finish();
    scan.run.object.init = ObjectInit::file;
    scan.run.object.file = path;
    return plan_job(scan.run, scan.source);
  };
  EXPECT_NO_THROW((void)plan(1));
  // As a run on half of the detector leaves it.
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)plan(2); }),
              AllOf(HasSubstr("object.h5:/object"), HasSubstr("those of this scan")));
}

}  // namespace
}  // namespace sonde::ptycho

// SPDX-License-Identifier: Apache-2.0
// What a plan refuses before a count is read, and that a run sees the specimen as a simulation made it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
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

// The true object behind the true probe explains the counts up to their noise when the waves go between the slices as
// they did in the simulation: each its own way, along the tilt. Any other way does not.
TEST(Job, SlicesOfTheirOwnThicknessInATiltedSpecimenAreThoseOfTheSimulation) {
  SimulateOptions options = testing::SmallScan::options_of(1e6);
  options.layers = 3;
  options.layer_distance_A = "60,140";
  options.tilt_row_mrad = 15;
  options.tilt_col_mrad = -9;
  const auto over_floor = [&](const std::string& geometry) {
    const testing::SmallScan scan(
        options, "[[engine]]\nname = \"gd\"\niterations = 1\n[object]\ninit = \"ssb\"\nslices = 3\n" + geometry);
    JobPlan plan = plan_job(scan.run, scan.source);
    plan.direct = std::make_shared<KnownObject>(KnownObject{scan.truth().object.clone(), {0, 0}});
    Job job(scan.run, scan.source, std::move(plan));
    return job.reconstruction().iterate().fit.r_intensity / job.floor();
  };
  const std::string tilt = "tilt_row_mrad = 15\ntilt_col_mrad = -9\n";
  // gd has taken one step of its batch of 64 when it sees the last frames.
  EXPECT_NEAR(over_floor("slice_thickness_A = [60, 140, 10]\n" + tilt), 1, 0.03);
  EXPECT_GT(over_floor("slice_thickness_A = [140, 60, 10]\n" + tilt), 2);
  EXPECT_GT(over_floor("slice_thickness_A = 100\n" + tilt), 2);
  EXPECT_GT(over_floor("slice_thickness_A = [60, 140, 10]\ntilt_row_mrad = -15\ntilt_col_mrad = -9\n"), 2);
  EXPECT_GT(over_floor("slice_thickness_A = [60, 140, 10]\ntilt_row_mrad = -9\ntilt_col_mrad = 15\n"), 2);
}

TEST(PlanJob, AWrongNumberOfThicknessesIsToldBeforeAnyWork) {
  const testing::SmallScan scan(1e4, "[[engine]]\nname = \"gd\"\n[object]\nslices = 3\nslice_thickness_A = [4, 5]\n");
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)plan_job(scan.run, scan.source); }),
              HasSubstr("has 2 numbers for 3 slices"));
}

}  // namespace
}  // namespace sonde::ptycho

// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/results/diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::ptycho {
namespace {

using ::testing::HasSubstr;

/// A smooth phase with weak noise of the highest frequencies, 48 x 48 pixels of 0.5 A, seen from 20 x 20 positions that
/// lie 1.7 px apart.
Result smooth_result(double noise) {
  State state;
  state.object = Array(Device::cpu(), {1, 48, 48}, DType::c64);
  const auto object = state.object.view<complex64, 3>();
  for (Index r = 0; r < 48; ++r)
    for (Index c = 0; c < 48; ++c)
      object(0, r, c) = complex64(std::polar(
          1.0, 0.3 * std::sin(0.4 * static_cast<double>(r)) * std::cos(0.37 * static_cast<double>(c)) +
                   noise * std::sin(2.2 * static_cast<double>(r) + 0.5) * std::sin(2.6 * static_cast<double>(c))));
  state.probe = Array(Device::cpu(), {1, 8, 8}, DType::c64);
  const auto probe = state.probe.view<complex64, 3>();
  for (Index i = 0; i < probe.count(); ++i) probe.data[i] = 1;
  std::vector<Point> scan;
  for (Index j = 0; j < 400; ++j)
    scan.push_back({1.7 * static_cast<double>(j / 20) - 4, 1.7 * static_cast<double>(j % 20) - 4});
  const Point offset{10, 11};
  state.positions = moved(scan, offset);
  Result result = result_of(state, {8, 8, 0.025, 0.25, 0.25}, offset, scan, {});
  result.metrics["R_I"] = std::vector<double>(30, 0.05);
  return result;
}

const Diagnosis& named(const std::vector<Diagnosis>& all, const char* name) {
  return *std::find_if(all.begin(), all.end(), [&](const Diagnosis& each) { return each.name == name; });
}

TEST(DiagnoseResult, TakesWhatTheRunHasNoted) {
  Result result = smooth_result(0);
  EXPECT_EQ(named(diagnose(result), "missing_overlap").verdict, Verdict::unknown);
  EXPECT_EQ(named(diagnose(result), "low_contrast").verdict, Verdict::unknown);
  EXPECT_EQ(named(diagnose(result), "outside_aperture").verdict, Verdict::unknown);
  Acquisition noted;
  noted.overlap = 0.3;
  noted.counts_per_pixel = 40;
  result.diagnostics["acquisition"] = noted.to_value();
  result.diagnostics["R_I_floor"] = 0.05;
  result.diagnostics["semiangle_mrad"] = 10.0;
  const std::vector<Diagnosis> known = diagnose(result);
  EXPECT_EQ(known.size(), 15u);
  EXPECT_NEAR(named(known, "missing_overlap").value, 0.7, 1e-12);
  EXPECT_EQ(named(known, "missing_overlap").verdict, Verdict::suspect);
  EXPECT_EQ(named(known, "low_contrast").verdict, Verdict::good);
  // The spectrum of a constant probe is its zero frequency.
  EXPECT_EQ(named(known, "outside_aperture").verdict, Verdict::good);
  EXPECT_EQ(acquisition_of(result)->overlap, 0.3);
}

TEST(DiagnoseResult, IsTheSameForAResultThatWasReadBack) {
  const sonde::testing::TemporaryFolder folder;
  Result result = smooth_result(0.01);
  result.diagnostics["semiangle_mrad"] = 10.0;
  write_result(folder.file("r.h5"), result);
  EXPECT_EQ(to_value(diagnose(read_result(folder.file("r.h5")))), to_value(diagnose(result)));
}

TEST(DiagnoseResult, TellsBlurringByAnEarlierResult) {
  const Result blurred = smooth_result(0.002), sharp = smooth_result(0.02);
  const Diagnosis found = named(diagnose(blurred, &sharp), "blurring");
  // A tenth of the amplitude is a hundredth of the power at high frequencies, where there is nothing else.
  EXPECT_NEAR(found.value, 0.99, 0.005);
  EXPECT_EQ(found.verdict, Verdict::suspect);
  EXPECT_EQ(named(diagnose(sharp, &blurred), "blurring").verdict, Verdict::good);
  Result other = smooth_result(0.02);
  other.object = Array::zeros(Device::cpu(), {1, 48, 47}, DType::c64);
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [&] { (void)diagnose(blurred, &other); }),
              HasSubstr("an object of (1, 48, 48) beside an earlier one of (1, 48, 47)"));
}

}  // namespace
}  // namespace sonde::ptycho

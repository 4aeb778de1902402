// SPDX-License-Identifier: Apache-2.0
// Fourier transforms and line profiles of what a client sees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "sonde/instruments/stem/view/test_scans.h"

namespace sonde::stem {
namespace {

using panel::Frame;
using panel::FrameKind;
using stem::testing::cols;
using stem::testing::elements;
using stem::testing::OneScan;
using stem::testing::scan_cols;
using stem::testing::scan_rows;
using ::testing::ElementsAre;

TEST_F(OneScan, FourierTransformsAreOfTheImageShown) {
  (void)client_.ask("set_detector", R"j({"channel": 2, "expr": "all"})j");
  const auto counts = elements<double>(client_.frame(FrameKind::image, 2));
  const Value reply = client_.ask("request_fft", R"j({"channel": 2, "window": "none"})j");
  const Frame frame = client_.frame(FrameKind::spectrum, 2);
  EXPECT_EQ(reply.find("step_per_nm")->items().at(0).as_real(), 1 / (0.5 * scan_rows));
  EXPECT_EQ(reply.find("step_per_nm")->items().at(1).as_real(), 1 / (0.5 * scan_cols));
  // One frequency by the definition: cycles (2, -1) over the scan; the mean has no part in it.
  std::complex<double> sum = 0;
  for (Index p = 0; p < scan_rows * scan_cols; ++p)
    sum += counts[static_cast<std::size_t>(p)] *
           std::polar(1.0, -2 * std::numbers::pi *
                               (2.0 * static_cast<double>(p / scan_cols) / scan_rows -
                                1.0 * static_cast<double>(p % scan_cols) / scan_cols));
  const auto magnitude = elements<double>(frame);
  const double found = magnitude[static_cast<std::size_t>((scan_rows / 2 + 2) * scan_cols + scan_cols / 2 - 1)];
  EXPECT_NEAR(found, std::abs(sum), 1e-6 * frame.high);  // one rounding to f32
  const Index row = reply.find("peak")->find("row")->as_whole(), col = reply.find("peak")->find("col")->as_whole();
  EXPECT_EQ(magnitude[static_cast<std::size_t>(row * scan_cols + col)], static_cast<double>(frame.high));
  EXPECT_NEAR(reply.find("peak")->find("frequency_per_nm")->as_real(),
              std::hypot(static_cast<double>(row - scan_rows / 2) / (0.5 * scan_rows),
                         static_cast<double>(col - scan_cols / 2) / (0.5 * scan_cols)),
              1e-12);
}

TEST_F(OneScan, AFourierTransformFollowsItsDetectorUntilItIsOff) {
  (void)client_.ask("set_detector", R"j({"channel": 0, "expr": "bf"})j");
  (void)client_.ask("request_fft", R"j({"channel": 0, "window": "hann", "on": true})j");
  const auto kinds = [&] {
    std::vector<FrameKind> all;
    for (const Frame& frame : client_.outlet->take_frames()) all.push_back(frame.kind);
    return all;
  };
  (void)client_.ask("set_detector", R"j({"channel": 0, "expr": "adf"})j");
  EXPECT_THAT(kinds(), ElementsAre(FrameKind::image, FrameKind::spectrum));
  (void)client_.ask("request_fft", R"j({"channel": 0, "on": false})j");
  EXPECT_THAT(kinds(), ElementsAre());
  (void)client_.ask("set_detector", R"j({"channel": 0, "expr": "bf"})j");
  EXPECT_THAT(kinds(), ElementsAre(FrameKind::image));
}

TEST_F(OneScan, LineProfilesHoldTheValuesShownInTheirUnit) {
  (void)client_.ask("set_detector", R"j({"channel": 1, "expr": "haadf"})j");
  const auto image = elements<float>(client_.frame(FrameKind::image, 1));
  Value reply = client_.ask("line_profile", R"j({"panel": "image", "channel": 1, "p0": [4, 1], "p1": [4, 8]})j");
  EXPECT_EQ(elements<float>(client_.frame(FrameKind::profile, 1)),
            std::vector<float>(image.begin() + 41, image.begin() + 49));
  EXPECT_EQ(reply.find("unit")->as_text(), "nm");
  EXPECT_EQ(reply.find("length")->as_real(), 3.5);
  EXPECT_EQ(reply.find("step")->as_real(), 0.5);

  // The bright-field disk has a radius of 5 px.
  (void)client_.ask("set_position", R"j({"row": 6, "col": 5})j");
  const auto pattern = elements<float>(client_.frame(FrameKind::pattern));
  (void)client_.ask("line_profile", R"j({"panel": "pattern", "p0": [15, 0], "p1": [15, 39]})j");
  EXPECT_EQ(elements<float>(client_.frame(FrameKind::profile)),
            std::vector<float>(pattern.begin() + 15 * cols, pattern.begin() + 16 * cols));
  reply = client_.ask("line_profile", R"j({"panel": "region", "p0": [15.5, 0], "p1": [15.5, 39], "width": 3})j");
  const double mrad = page_.state().find("datasets")->items().at(0).find("pixel_mrad")->as_real();
  EXPECT_EQ(reply.find("unit")->as_text(), "mrad");
  // A small angle is a spatial frequency times the wavelength, which at 200 kV is 0.02508 A.
  EXPECT_NEAR(page_.state().find("datasets")->items().at(0).find("pixel_per_angstrom")->as_real() / (mrad * 1e-3),
              1 / 0.02508, 0.02);
  EXPECT_NEAR(reply.find("fwhm")->as_real() / mrad, 10, 1);  // soft edges, shifted by the deflection
}

}  // namespace
}  // namespace sonde::stem

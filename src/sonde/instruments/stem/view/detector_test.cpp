// SPDX-License-Identifier: Apache-2.0
// Images of detectors, against sums over the patterns of the same scan.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>

#include "sonde/instruments/stem/results/detector_images.h"
#include "sonde/instruments/stem/view/test_scans.h"

namespace sonde::stem {
namespace {

using panel::Frame;
using panel::FrameKind;
using panel::FrameType;
using stem::testing::Client;
using stem::testing::cols;
using stem::testing::elements;
using stem::testing::OneScan;
using stem::testing::rows;
using stem::testing::scan_cols;
using stem::testing::scan_rows;

TEST_F(OneScan, EveryShapeCountsItsPixels) {
  const auto distance = [](Index row, Index col, double row0, double col0) {
    return std::hypot(static_cast<double>(row) - row0, static_cast<double>(col) - col0);
  };
  const auto show = [&](const char* shape) {
    return client_.show(FrameKind::image, "set_detector", std::string(R"j({"channel": 0, )j") + shape + "}");
  };
  expect_image(show(R"j("shape": "circle", "params": [15.25, 19.5, 6])j"),
               [&](Index row, Index col) { return distance(row, col, 15.25, 19.5) < 6; });
  expect_image(show(R"j("shape": "annulus", "params": [15.25, 19.5, 4, 9.5])j"), [&](Index row, Index col) {
    const double d = distance(row, col, 15.25, 19.5);
    return d >= 4 && d < 9.5;
  });
  expect_image(show(R"j("shape": "rect", "params": [3, 5, 20, 11])j"),
               [](Index row, Index col) { return row >= 3 && row < 20 && col >= 5 && col < 11; });
  expect_image(show(R"j("shape": "point", "params": [14, 20])j"),
               [](Index row, Index col) { return row == 14 && col == 20; });
  // A triangle with its right angle at (4, 4): row + col < 24 up to the edge that belongs to the other side.
  expect_image(show(R"j("shape": "polygon", "params": [3.5, 3.5, 3.5, 20.25, 20.25, 3.5])j"),
               [](Index row, Index col) { return row >= 4 && col >= 4 && static_cast<double>(row + col) < 23.75; });
  expect_image(show(R"j("shape": "segment", "params": [15.5, 19.5, 2, 11, 0, 4, 0])j"), [&](Index row, Index col) {
    const double d = distance(row, col, 15.5, 19.5);
    return d >= 2 && d < 11 && row > 15 && col > 19;  // angles 0 to 90 degrees, rows downwards
  });
  // Turned from the columns by a quarter: the longer semi-axis is along the rows.
  expect_image(show(R"j("shape": "ellipse", "params": [15.25, 19.5, 8, 5, 1.5707963267948966])j"),
               [](Index row, Index col) {
                 const double y = (static_cast<double>(row) - 15.25) / 8, x = (static_cast<double>(col) - 19.5) / 5;
                 return x * x + y * y < 1;
               });
  expect_image(show(R"j("shape": "brush", "params": [[5, 2, 9], [6, 0, 4], [6, 30, 99]])j"), [](Index row, Index col) {
    return (row == 5 && col >= 2 && col < 9) || (row == 6 && (col < 4 || col >= 30));
  });
  expect_image(show(R"j("expr": "all - rect(0,0,10,40)")j"), [](Index row, Index) { return row >= 10; });
}

TEST_F(OneScan, DetectorsTellHowTheyWereComputed) {
  const Value reply = client_.ask("set_detector", R"j({"channel": 5, "shape": "rect", "params": [0, 0, 4, 8]})j");
  EXPECT_EQ(reply.find("channel")->as_whole(), 5);
  EXPECT_EQ(reply.find("expr")->as_text(), "rect(0,0,4,8)");
  EXPECT_EQ(reply.find("path")->as_text(), "sparse");
  Index good = 0;
  for (Index q = 0; q < rows * cols; ++q)
    good += q / cols < 4 && q % cols < 8 ? scan_.good()[static_cast<std::size_t>(q)] : 0;
  EXPECT_EQ(reply.find("area")->as_whole(), good);
  const Frame frame = client_.frame(FrameKind::image, 5);
  const std::string hash = reply.find("mask_hash")->as_text();
  EXPECT_EQ(frame.mask_hash, std::stoul(hash.substr(8), nullptr, 16));
}

TEST_F(OneScan, TheMaskIsSentOnRequest) {
  (void)client_.ask("set_detector", R"j({"channel": 2, "expr": "rect(0,0,2,3)", "mask": true})j");
  const Frame mask = client_.frame(FrameKind::mask, 2);
  const auto weights = elements<double>(mask);
  for (Index q = 0; q < rows * cols; ++q)
    ASSERT_EQ(weights[static_cast<std::size_t>(q)],
              q / cols < 2 && q % cols < 3 && scan_.good()[static_cast<std::size_t>(q)] != 0 ? 1.0 : 0.0);
}

TEST_F(OneScan, AfterALongDragTheImageIsThatOfTheCommandLine) {
  Frame frame;
  std::string detector;
  for (int step = 0; step <= 60; ++step) {
    const std::string place = std::to_string(10 + 0.15 * step) + "," + std::to_string(14 + 0.11 * step);
    const Value reply =
        client_.ask("set_detector", R"j({"channel": 1, "shape": "annulus", "params": [)j" + place + ",2,7.5]}");
    detector = reply.find("expr")->as_text();
    frame = client_.frame(FrameKind::image, 1);
  }
  DetectorOptions options;
  options.detector = {detector};
  std::optional<Centre> centre;
  const auto images = detector_images(scan_, options, detector_geometry(scan_, options, centre));
  const auto* expected = static_cast<const std::uint64_t*>(images[0].image.data());
  EXPECT_EQ(elements<std::uint64_t>(frame), std::vector<std::uint64_t>(expected, expected + scan_rows * scan_cols));
}

TEST_F(OneScan, PresetsUseTheBeamThatWasFound) {
  const Frame frame = client_.show(FrameKind::image, "set_detector", R"j({"channel": 0, "expr": "bf"})j");
  const Value found = client_.ask("find_centre");
  const double row0 = found.find("row")->as_real(), col0 = found.find("col")->as_real(),
               rho = found.find("radius")->as_real();
  EXPECT_NEAR(rho, 5, 0.5);  // the radius that was simulated
  expect_image(frame, [&](Index row, Index col) {
    return std::hypot(static_cast<double>(row) - row0, static_cast<double>(col) - col0) < rho;
  });
}

TEST_F(OneScan, AGivenBeamComputesWhatUsesItAgain) {
  (void)client_.ask("set_detector", R"j({"channel": 0, "expr": "bf"})j");
  (void)client_.ask("set_detector", R"j({"channel": 1, "expr": "rect(0,0,3,3)"})j");
  (void)client_.ask("set_centre", R"j({"row": 10, "col": 12.5, "radius": 4})j");
  const std::vector<Frame> frames = client_.outlet->take_frames();
  ASSERT_EQ(frames.size(), 1u);
  expect_image(frames[0], [&](Index row, Index col) {
    return std::hypot(static_cast<double>(row) - 10, static_cast<double>(col) - 12.5) < 4;
  });
}

/// The first moment over the total of one position, by a loop over its pattern.
std::pair<double, double> centre_of_pattern(const Array& pattern, auto count) {
  double total = 0, row_moment = 0, col_moment = 0;
  for (Index q = 0; q < rows * cols; ++q) {
    const auto counts = static_cast<double>(count(pattern, q));
    total += counts;
    row_moment += static_cast<double>(q / cols) * counts;
    col_moment += static_cast<double>(q % cols) * counts;
  }
  return {row_moment / total, col_moment / total};
}

TEST_F(OneScan, FirstMomentsAreShownAsDeflectionsFromTheBeamInMilliradians) {
  const Value found = client_.ask("find_centre");
  const double row0 = found.find("row")->as_real(), col0 = found.find("col")->as_real();
  const double mrad = page_.state().find("datasets")->items().at(0).find("pixel_mrad")->as_real();
  using Expected = double (*)(double, double, double);
  const std::pair<const char*, Expected> words[] = {
      {"com-row", [](double row, double, double step) { return row * step; }},
      {"com-col", [](double, double col, double step) { return col * step; }},
      {"COM-Magnitude", [](double row, double col, double step) { return std::sqrt(row * row + col * col) * step; }},
      {"com-angle", [](double row, double col, double) { return std::atan2(row, col); }}};
  for (const auto& [word, expected] : words) {
    SCOPED_TRACE(word);
    const Frame frame =
        client_.show(FrameKind::image, "set_detector", R"j({"channel": 0, "expr": ")j" + std::string(word) + R"j("})j");
    EXPECT_EQ(frame.type, FrameType::f32);
    const auto values = elements<double>(frame);
    ASSERT_EQ(values.size(), static_cast<std::size_t>(scan_rows * scan_cols));
    for (Index p = 0; p < scan_rows * scan_cols; ++p) {
      const auto [row, col] = centre_of_pattern(scan_.pattern(p / scan_cols, p % scan_cols), count);
      // One rounding to f32, after the subtraction: deflections of a pixel keep seven digits.
      const double exact = expected(row - row0, col - col0, mrad);
      EXPECT_NEAR(values[static_cast<std::size_t>(p)], exact, 1e-7 * std::abs(exact) + 1e-12) << "position " << p;
    }
  }
}

TEST_F(OneScan, AGivenBeamMovesTheOriginOfDeflections) {
  const Frame before = client_.show(FrameKind::image, "set_detector", R"j({"channel": 3, "expr": "com-row"})j", 3);
  const double row0 = client_.ask("find_centre").find("row")->as_real();
  const double mrad = page_.state().find("datasets")->items().at(0).find("pixel_mrad")->as_real();
  (void)client_.ask("set_centre", R"j({"row": 10, "col": 12.5, "radius": 4})j");
  const auto moved = elements<double>(client_.frame(FrameKind::image, 3)), first = elements<double>(before);
  for (std::size_t p = 0; p < first.size(); ++p)
    EXPECT_NEAR(moved[p] - first[p], (row0 - 10) * mrad, 4 * 6e-8 * std::abs(moved[p]));  // both are rounded to f32
}

TEST_F(OneScan, RepliesTellWhatWasMadeBefore) {
  const auto cached = [&](const char* expr) {
    return client_.ask("set_detector", std::string(R"j({"channel": 0, "expr": ")j") + expr + R"j("})j")
        .find("cached")
        ->as_bool();
  };
  EXPECT_FALSE(cached("rect(0,0,5,5)"));
  Client other(page_);
  EXPECT_TRUE(other.ask("set_detector", R"j({"channel": 0, "expr": "rect(0,0,5,5)"})j").find("cached")->as_bool());
}

TEST_F(OneScan, ADetectorThatCannotBeShownLeavesTheLastOne) {
  const auto before = elements<std::uint64_t>(
      client_.show(FrameKind::image, "set_detector", R"j({"channel": 0, "expr": "circle(10,10,4)"})j"));
  (void)client_.error("set_detector", R"j({"channel": 0, "expr": "point(500,500)"})j");
  (void)client_.ask("set_item", R"j({"item": 0})j");
  EXPECT_EQ(elements<std::uint64_t>(client_.frame(FrameKind::image)), before);
}

}  // namespace
}  // namespace sonde::stem

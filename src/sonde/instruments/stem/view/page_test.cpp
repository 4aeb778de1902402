// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/view/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <functional>
#include <numbers>

#include "sonde/instruments/stem/results/detector_images.h"
#include "sonde/instruments/stem/simulate/simulate.h"
#include "sonde/instruments/stem/view/test_client.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::stem {
namespace {

using panel::Frame;
using panel::FrameKind;
using panel::FrameType;
using stem::testing::Client;
using stem::testing::elements;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Index scan_rows = 12, scan_cols = 10, rows = 32, cols = 40;

Budget plenty() { return Budget(std::size_t{1} << 30, "test"); }

/// Small simulated scans, and their pages.
class Viewed : public ::testing::Test {
 protected:
  std::string write(const std::string& name, Index seed = 1, const std::string& scan_shape = "12,10") {
    SimulateOptions options;
    options.output = folder_.file(name + "_master.h5");
    options.scan_shape = scan_shape;
    options.detector_shape = "32,40";
    options.disk_radius = 5;
    options.dose = 2;
    options.masked_pixels = 2;
    options.hot_pixels = 1;
    options.truth = false;
    options.seed = seed;
    (void)simulate(options);
    return options.output;
  }
  [[nodiscard]] static panel::Page page_of(const std::vector<std::string>& paths,
                                           LayoutChoice layout = LayoutChoice::automatic) {
    ViewOptions options;
    options.load.layout = layout;
    options.watch_s = 0;
    return make_page(paths, options, plenty());
  }

  sonde::testing::TemporaryFolder folder_;
};

class OneScan : public Viewed {
 protected:
  void SetUp() override { wait_until_loaded(client_, page_); }
  /// Sum of the good pixels that `inside` holds, of one position.
  [[nodiscard]] std::uint64_t sum(Index scan_row, Index scan_col,
                                  const std::function<bool(Index, Index)>& inside) const {
    const Array pattern = scan_.pattern(scan_row, scan_col);
    std::uint64_t total = 0;
    for (Index q = 0; q < rows * cols; ++q)
      if (inside(q / cols, q % cols)) total += count(pattern, q);
    return total;
  }
  static std::uint64_t count(const Array& pattern, Index q) {
    return pattern.dtype() == DType::u8 ? static_cast<const std::uint8_t*>(pattern.data())[q]
                                        : static_cast<const std::uint16_t*>(pattern.data())[q];
  }
  void expect_image(const Frame& frame, const std::function<bool(Index, Index)>& inside) const {
    const auto values = elements<std::uint64_t>(frame);
    ASSERT_EQ(values.size(), static_cast<std::size_t>(scan_rows * scan_cols));
    for (Index p = 0; p < scan_rows * scan_cols; ++p)
      ASSERT_EQ(values[static_cast<std::size_t>(p)], sum(p / scan_cols, p % scan_cols, inside)) << "position " << p;
  }

  const std::string master_ = write("scan");
  const Dataset scan_ = load(master_, {}, plenty());
  const panel::Page page_ = page_of({master_});
  Client client_{page_};
};

TEST_F(OneScan, PatternsHoldTheCountsOfTheirPosition) {
  const Frame frame = client_.show(FrameKind::pattern, "set_position", R"j({"row": 3, "col": 7})j");
  EXPECT_EQ(frame.rows, rows);
  EXPECT_EQ(frame.cols, cols);
  const Array expected = scan_.pattern(3, 7);
  const auto values = elements<std::uint64_t>(frame);
  for (Index q = 0; q < rows * cols; ++q) ASSERT_EQ(values[static_cast<std::size_t>(q)], count(expected, q));
}

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

TEST_F(OneScan, FirstMomentsAreCentresOfMass) {
  const Frame frame = client_.show(FrameKind::image, "set_detector", R"j({"channel": 0, "expr": "com-row"})j");
  EXPECT_EQ(frame.type, FrameType::f32);
  const auto values = elements<double>(frame);
  for (const Index p : {Index{0}, Index{57}}) {
    const Array pattern = scan_.pattern(p / scan_cols, p % scan_cols);
    double total = 0, moment = 0;
    for (Index q = 0; q < rows * cols; ++q) {
      total += static_cast<double>(count(pattern, q));
      moment += static_cast<double>(q / cols * static_cast<Index>(count(pattern, q)));
    }
    // One rounding to f32.
    EXPECT_NEAR(values[static_cast<std::size_t>(p)], moment / total, 32 * 6e-8);
  }
}

TEST_F(OneScan, RegionsOfTheScanAreReduced) {
  const auto inside = [](Index row, Index col) {
    return std::hypot(static_cast<double>(row) - 5, static_cast<double>(col) - 4) < 3.2;
  };
  std::vector<std::uint64_t> sum(rows * cols), most(rows * cols);
  Index positions = 0;
  for (Index p = 0; p < scan_rows * scan_cols; ++p) {
    if (!inside(p / scan_cols, p % scan_cols)) continue;
    ++positions;
    const Array pattern = scan_.pattern(p / scan_cols, p % scan_cols);
    for (Index q = 0; q < rows * cols; ++q) {
      sum[static_cast<std::size_t>(q)] += count(pattern, q);
      most[static_cast<std::size_t>(q)] = std::max(most[static_cast<std::size_t>(q)], count(pattern, q));
    }
  }
  const char* region = R"j({"shape": "circle", "params": [5, 4, 3.2]})j";
  // By way of other regions: the sum is updated from one to the next.
  (void)client_.ask("set_scan_roi", R"j({"shape": "circle", "params": [4, 4, 3.2]})j");
  EXPECT_EQ(client_.ask("set_scan_roi", region).find("positions")->as_whole(), positions);
  EXPECT_EQ(elements<std::uint64_t>(client_.frame(FrameKind::reduced_pattern)), sum);
  EXPECT_EQ(
      elements<std::uint64_t>(client_.show(FrameKind::reduced_pattern, "set_reduction", R"j({"reduction": "max"})j")),
      most);
  const auto mean =
      elements<double>(client_.show(FrameKind::reduced_pattern, "set_reduction", R"j({"reduction": "mean"})j"));
  for (std::size_t q = 0; q < sum.size(); ++q)
    ASSERT_EQ(mean[q], static_cast<float>(static_cast<double>(sum[q]) / static_cast<double>(positions)));
}

TEST_F(OneScan, WithoutARegionTheWholeScanIsReduced) {
  EXPECT_EQ(client_.ask("set_scan_roi").find("positions")->as_whole(), scan_rows * scan_cols);
  const auto* expected = static_cast<const std::uint64_t*>(scan_.moments().pattern_sum.data());
  EXPECT_EQ(elements<std::uint64_t>(client_.frame(FrameKind::reduced_pattern)),
            std::vector<std::uint64_t>(expected, expected + rows * cols));
}

TEST_F(OneScan, ClientsDoNotDisturbEachOther) {
  Client other(page_);
  const auto first = elements<std::uint64_t>(
      client_.show(FrameKind::image, "set_detector", R"j({"channel": 0, "expr": "circle(10,10,4)"})j"));
  (void)other.ask("set_detector", R"j({"channel": 0, "expr": "circle(20,20,4)"})j");
  (void)other.ask("set_centre", R"j({"row": 3, "col": 3, "radius": 2})j");
  (void)other.ask("set_reduction", R"j({"reduction": "max"})j");
  (void)client_.ask("set_item", R"j({"item": 0})j");
  std::vector<Frame> frames = client_.outlet->take_frames();
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(elements<std::uint64_t>(frames[2]), first);
  const auto* sum = static_cast<const std::uint64_t*>(scan_.moments().pattern_sum.data());
  EXPECT_EQ(elements<std::uint64_t>(frames[1]), std::vector<std::uint64_t>(sum, sum + rows * cols));
  expect_image(client_.show(FrameKind::image, "set_detector", R"j({"channel": 0, "expr": "bf"})j"),
               [&, found = client_.ask("find_centre")](Index row, Index col) {
                 return std::hypot(static_cast<double>(row) - found.find("row")->as_real(),
                                   static_cast<double>(col) - found.find("col")->as_real()) <
                        found.find("radius")->as_real();
               });
}

TEST_F(OneScan, TheStateTellsWhatIsThere) {
  const Value state = page_.state();
  const Value& dataset = state.find("datasets")->items().at(0);
  EXPECT_EQ(dataset.find("label")->as_text(), "scan");
  EXPECT_TRUE(dataset.find("loading")->is_null());
  EXPECT_EQ(dataset.find("scan")->items().at(0).as_whole(), scan_rows);
  EXPECT_EQ(dataset.find("detector")->items().at(1).as_whole(), cols);
  EXPECT_EQ(dataset.find("layout")->as_text(), "pixel-major");
  EXPECT_EQ(dataset.find("scan_step_nm")->items().at(0).as_real(), 0.5);
  EXPECT_EQ(dataset.find("bad_pixels")->size(), 3u);  // two masked, one hot
  EXPECT_EQ(dataset.find("largest")->as_real(), scan_.exactness().largest);
  EXPECT_GT(state.find("memory")->find("resident")->as_whole(), 12 * 10 * 32 * 40);
}

TEST_F(OneScan, ReleasedMemoryIsFreeAndComesBackWhenWanted) {
  (void)client_.ask("set_detector", R"j({"channel": 0, "expr": "all"})j");
  const Index before = page_.state().find("memory")->find("resident")->as_whole();
  const Index freed = client_.ask("release", R"j({"dataset": 0})j").find("freed")->as_whole();
  EXPECT_GT(freed, scan_rows * scan_cols * rows * cols);
  EXPECT_EQ(page_.state().find("memory")->find("resident")->as_whole(), before - freed);
  EXPECT_TRUE(client_.ask("set_item", R"j({"item": 0})j").find("waiting")->as_bool());
  client_.outlet->wait([](const auto& frames, const auto&) { return frames.size() >= 4; });
  const std::vector<Frame> frames = client_.outlet->take_frames();
  EXPECT_EQ(frames[3].request, 0u);  // nobody asked again
  expect_image(frames[3], [](Index, Index) { return true; });
}

TEST_F(OneScan, EveryWrongCommandIsOneClearError) {
  struct Wrong {
    const char *command, *arguments, *words;
  };
  for (const Wrong& wrong : {
           Wrong{"set_position", R"j({"row": 12, "col": 0})j", "set_position: \"row\" is 12, expected 0 to 11"},
           {"set_position", R"j({"row": 1})j", "set_position: no \"col\" was given, expected a whole number"},
           {"set_position", R"j({"row": "1", "col": 0})j", "\"row\" is a text, expected a whole number"},
           {"set_position", R"j({"row": 1, "col": 0, "rwo": 2})j", "unknown argument \"rwo\"; did you mean \"row\"?"},
           {"set_position", R"j({"row": 1, "col": 0, "dataset": 1})j", "\"dataset\" is 1, expected 0 to 0"},
           {"set_detector", R"j({"channel": 8, "expr": "bf"})j", "\"channel\" is 8, expected 0 to 7"},
           {"set_detector", R"j({"channel": 0, "expr": "circl(1,2,3)"})j", "did you mean \"circle\"?"},
           {"set_detector", R"j({"channel": 0, "expr": "point(500,500)"})j", "covers no good pixel of 32 x 40"},
           {"set_detector", R"j({"channel": 0, "expr": "file(/etc/passwd)"})j", "files cannot be read here"},
           {"set_detector", R"j({"channel": 0, "shape": "circle", "params": [1, 2]})j", "circle takes other arguments"},
           {"set_detector", R"j({"channel": 0, "shape": "circle"})j", "no \"params\" was given"},
           {"set_detector", R"j({"channel": 0, "shape": "disc", "params": []})j", "\"shape\" is \"disc\""},
           {"set_detector", R"j({"channel": 0, "shape": "brush", "params": [[1, 2]]})j", "a list of [row, col0, col1]"},
           {"set_detector", R"j({"channel": 0, "expr": "bf", "shape": "point"})j", "both \"expr\" and \"shape\""},
           {"set_scan_roi", R"j({"expr": "rect(50,50,60,60)"})j", "holds no position of 12 x 10"},
           {"set_scan_roi", R"j({"expr": "bf"})j", "the centre is not known"},
           {"set_reduction", R"j({"reduction": "median"})j", "\"reduction\" is \"median\""},
           {"set_item", R"j({"item": 1})j", "\"item\" is 1, expected 0 to 0"},
           {"set_dataset", R"j({"dataset": 3})j", "\"dataset\" is 3, expected 0 to 0"},
           {"set_centre", R"j({"row": 1, "col": 1, "radius": 0})j", "\"radius\" is 0, expected more than 0"},
           {"set_centre", R"j({"row": 1e9, "col": 1, "radius": 1})j", "lies far from the detector"},
           {"request_fft", R"j({"channel": 6})j", "channel 6 has no detector"},
           {"request_fft", R"j({"channel": 6, "window": "box"})j", "channel 6 has no detector"},
           {"line_profile", R"j({"panel": "image", "p0": [0, 0], "p1": [1, 1]})j", "channel 0 has no detector"},
           {"line_profile", R"j({"panel": "pattern", "p0": [0], "p1": [1, 1]})j", "\"p0\" is [row, col]"},
           {"line_profile", R"j({"panel": "pattern", "p0": [0, 0], "p1": [1, 1e9]})j", "lies far from the image"},
           {"line_profile", R"j({"panel": "pattern", "p0": [0, 0], "p1": [1, 1], "width": 0})j", "\"width\" is 0"},
           {"line_profile", R"j({"panel": "sky", "p0": [0, 0], "p1": [1, 1]})j", "\"panel\" is \"sky\""},
           {"play", R"j({"playing": "yes"})j", "\"playing\" is a text, expected true or false"},
           {"compare", R"j({"datasets": [0, 4]})j", "no data set has the number 4"},
           {"compare", R"j({"datasets": "all"})j", "\"datasets\" is a text, expected a list of numbers"},
           {"open", R"j({"path": "/etc"})j", "/etc: not below a path that was given at start"},
           {"open", R"j({"path": "../../../etc/hostname"})j", "not below a path that was given at start"},
           {"release", R"j({"item": 7})j", "\"item\" is 7, expected 0 to 0"},
       }) {
    SCOPED_TRACE(std::string(wrong.command) + " " + wrong.arguments);
    EXPECT_THAT(client_.error(wrong.command, wrong.arguments), HasSubstr(wrong.words));
  }
}

TEST_F(OneScan, ADetectorThatCannotBeShownLeavesTheLastOne) {
  const auto before = elements<std::uint64_t>(
      client_.show(FrameKind::image, "set_detector", R"j({"channel": 0, "expr": "circle(10,10,4)"})j"));
  (void)client_.error("set_detector", R"j({"channel": 0, "expr": "point(500,500)"})j");
  (void)client_.ask("set_item", R"j({"item": 0})j");
  EXPECT_EQ(elements<std::uint64_t>(client_.frame(FrameKind::image)), before);
}

using OtherLayouts = Viewed;

TEST_F(OtherLayouts, ShowTheSameNumbers) {
  const std::string master = write("scan");
  std::vector<std::vector<double>> expected;
  for (const LayoutChoice layout :
       {LayoutChoice::pixel, LayoutChoice::frame, LayoutChoice::compressed, LayoutChoice::file}) {
    SCOPED_TRACE(layout_name(layout));
    const panel::Page page = page_of({master}, layout);
    Client client(page);
    wait_until_loaded(client, page);
    std::vector<std::vector<double>> shown;
    shown.push_back(elements<double>(client.show(FrameKind::pattern, "set_position", R"j({"row": 2, "col": 9})j")));
    for (const char* detector : {"bf", "com-col", "annulus(15,19,3,8) & !rect(0,0,15,40)"})
      shown.push_back(elements<double>(client.show(FrameKind::image, "set_detector",
                                                   std::string(R"j({"channel": 0, "expr": ")j") + detector + "\"}")));
    for (const char* reduction : {"max", "mean", "sum"}) {
      (void)client.ask("set_reduction", std::string(R"j({"reduction": ")j") + reduction + "\"}");
      for (const char* region : {"polygon(0,0,9,3,4,9)", "rect(2,2,8,7)"})
        shown.push_back(elements<double>(
            client.show(FrameKind::reduced_pattern, "set_scan_roi", std::string(R"j({"expr": ")j") + region + "\"}")));
    }
    if (expected.empty()) expected = shown;
    EXPECT_EQ(shown, expected);
  }
}

TEST_F(Viewed, SeriesSwitchItems) {
  for (const int tilt : {10, 9, 1}) write("tilt_" + std::to_string(tilt), tilt);
  const panel::Page page = page_of({folder_.path().string()});
  Client client(page);
  wait_until_loaded(client, page);
  (void)client.ask("set_detector", R"j({"channel": 3, "expr": "circle(16,20,6)"})j");
  for (const auto& [item, name] : {std::pair{2, "tilt_10"}, {1, "tilt_9"}, {0, "tilt_1"}}) {
    SCOPED_TRACE(name);
    const Value reply = client.ask("set_item", "{\"item\": " + std::to_string(item) + "}");
    if (reply.find("waiting") != nullptr)
      client.outlet->wait([](const auto& frames, const auto&) { return frames.size() >= 4; });
    std::vector<Frame> frames = client.outlet->take_frames();
    std::erase_if(frames, [](const Frame& frame) { return frame.preview; });
    ASSERT_EQ(frames.size(), 3u);
    const Dataset expected = load(folder_.file(std::string(name) + "_master.h5"), {}, plenty());
    const std::vector<DetectorImage> images = mask_images(
        expected, std::vector<Mask>{detector_mask("circle(16,20,6)", {rows, cols, {}, {}, {}, expected.good()})});
    const auto* values = static_cast<const std::uint64_t*>(images[0].image.data());
    EXPECT_EQ(frames[2].item, static_cast<std::uint32_t>(item));
    EXPECT_EQ(elements<std::uint64_t>(frames[2]), std::vector<std::uint64_t>(values, values + scan_rows * scan_cols));
  }
}

TEST_F(Viewed, ComparedDataSetsFollowEveryDetector) {
  const std::string first = write("a", 1), second = write("b", 2);
  const panel::Page page = page_of({first, second});
  Client client(page);
  wait_until_loaded(client, page, 1);
  (void)client.ask("compare", R"j({"datasets": [0, 1]})j");
  (void)client.ask("set_detector", R"j({"channel": 0, "expr": "all"})j");
  std::vector<Frame> images;
  for (const Frame& frame : client.outlet->take_frames())
    if (frame.kind == FrameKind::image) images.push_back(frame);
  ASSERT_EQ(images.size(), 2u);
  for (const Frame& frame : images) {
    const Dataset expected = load(frame.dataset == 0 ? first : second, {}, plenty());
    const auto* total = static_cast<const std::uint64_t*>(expected.moments().total.data());
    EXPECT_EQ(elements<std::uint64_t>(frame), std::vector<std::uint64_t>(total, total + scan_rows * scan_cols));
  }
  EXPECT_NE(images[0].dataset, images[1].dataset);
}

TEST_F(Viewed, OpensWhatLiesBelowThePathsOfTheStart) {
  std::filesystem::create_directory(folder_.path() / "inside");
  std::filesystem::create_directory(folder_.path() / "outside");
  const std::string start = write("inside/a");
  write("inside/b", 2);
  write("outside/c", 3);
  std::filesystem::create_symlink(folder_.path() / "outside", folder_.path() / "inside/link");
  const panel::Page page = page_of({(folder_.path() / "inside").string()});
  Client client(page);
  EXPECT_EQ(client.ask("open", R"j({"path": "b_master.h5"})j").find("dataset")->as_whole(), 1);
  EXPECT_EQ(client.ask("open", R"j({"path": "b_master.h5"})j").find("dataset")->as_whole(), 1);  // it is open
  EXPECT_EQ(client.ask("set_dataset", R"j({"dataset": 1})j").find("dataset")->as_whole(), 1);
  EXPECT_THAT(client.error("open", R"j({"path": "link/c_master.h5"})j"), HasSubstr("not below a path"));
  EXPECT_THAT(client.error("open", R"j({"path": "nothing_master.h5"})j"), HasSubstr("not below a path"));
}

TEST_F(OneScan, PatternsComeFromTheFileWhileItIsBeingLoaded) {
  (void)client_.ask("release", R"j({"dataset": 0})j");
  const Value reply = client_.ask("set_position", R"j({"row": 8, "col": 2})j");
  EXPECT_TRUE(reply.find("waiting")->as_bool());
  std::vector<Frame> frames = client_.outlet->take_frames();
  ASSERT_FALSE(frames.empty());
  EXPECT_TRUE(frames[0].preview);
  const auto values = elements<std::uint64_t>(frames[0]);
  const Array expected = scan_.pattern(8, 2);
  for (Index q = 0; q < rows * cols; ++q)
    if (scan_.good()[static_cast<std::size_t>(q)] != 0) {
      ASSERT_EQ(values[static_cast<std::size_t>(q)], count(expected, q));
    }
  if (frames.size() == 1) client_.outlet->wait([](const auto& more, const auto&) { return !more.empty(); });
  for (const Frame& frame : client_.outlet->take_frames()) frames.push_back(frame);
  EXPECT_FALSE(frames[1].preview);  // a better one follows by itself
  EXPECT_EQ(frames[1].kind, FrameKind::pattern);
}

TEST_F(OneScan, LoadingTellsHowFarItIs) {
  (void)client_.ask("release", R"j({"dataset": 0})j");
  (void)client_.outlet->take_events();
  (void)client_.ask("set_item", R"j({"item": 0})j");
  client_.outlet->wait([](const auto&, const auto& events) {
    return std::any_of(events.begin(), events.end(), [](const auto& event) {
      return event.name == "progress" && event.what.find("fraction")->as_real() == 1 &&
             event.what.find("stage")->as_text() == "loading" && event.what.find("bytes_per_s")->as_real() > 0;
    });
  });
}

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

TEST_F(Viewed, PlayingMakesEveryItemALookUp) {
  for (const int tilt : {1, 2, 3}) write("tilt_" + std::to_string(tilt), tilt);
  const panel::Page page = page_of({folder_.path().string()});
  Client client(page);
  wait_until_loaded(client, page);
  (void)client.ask("set_detector", R"j({"channel": 0, "expr": "bf"})j");
  (void)client.ask("set_detector", R"j({"channel": 4, "expr": "com-row"})j");
  (void)client.ask("play", R"j({"playing": true, "fps": 12, "loop": true, "boomerang": false})j");
  client.outlet->wait([](const auto& frames, const auto&) {
    return std::count_if(frames.begin(), frames.end(), [](const Frame& f) { return f.kind == FrameKind::strip; }) == 2;
  });
  const auto events = client.outlet->take_events();
  const auto series = std::find_if(events.rbegin(), events.rend(), [](const auto& e) { return e.name == "series"; });
  ASSERT_NE(series, events.rend());
  EXPECT_EQ(series->what.find("ready")->size(), 3u);
  for (const Frame& strip : client.outlet->take_frames()) {
    EXPECT_EQ(strip.rows, 12u);
    EXPECT_EQ(strip.cols, 30u);
  }
  for (const char* item : {"2", "0", "1"}) {
    (void)client.ask("set_item", std::string(R"j({"item": )j") + item + "}");
    const std::vector<Frame> frames = client.outlet->take_frames();
    EXPECT_EQ(frames.size(), 4u);
    for (const Frame& frame : frames) EXPECT_TRUE(frame.cached);
  }
}

TEST_F(Viewed, ScansThatAreFinishedMeanwhileJoinTheSeries) {
  write("a", 1);
  ViewOptions options;
  options.watch_s = 0.01;  // only how soon the test sees it
  const panel::Page page = make_page({folder_.path().string()}, options, plenty());
  Client client(page);
  const auto labels = [&] {
    std::vector<std::string> all;
    const Value state = page.state();
    for (const Value& item : state.find("datasets")->items().at(0).find("items")->items())
      all.push_back(item.find("label")->as_text());
    return all;
  };
  // Half of a scan: its data are not there yet. And one of another shape.
  std::filesystem::create_directory(folder_.path() / "elsewhere");
  write("elsewhere/b", 2);
  const auto bring = [&](const std::string& name) {
    std::filesystem::rename(folder_.path() / "elsewhere" / name, folder_.path() / name);
  };
  bring("b.h5");
  bring("b_master.h5");
  write("c", 3, "5,4");
  write("d", 4);
  client.outlet->wait([&](const auto&, const auto&) { return labels().size() == 2; });
  EXPECT_THAT(labels(), ElementsAre("a", "d"));
  bring("b_data_000001.h5");
  client.outlet->wait([&](const auto&, const auto&) { return labels().size() == 3; });
  EXPECT_THAT(labels(), ElementsAre("a", "d", "b"));
  for (const auto& event : client.outlet->take_events()) EXPECT_NE(event.name, "notice") << to_json(event.what);

  std::filesystem::remove(folder_.file("d_master.h5"));
  client.outlet->wait([](const auto&, const auto& events) {
    return std::any_of(events.begin(), events.end(), [](const auto& event) {
      return event.name == "notice" && event.what.find("message")->as_text().ends_with("d_master.h5 has disappeared");
    });
  });
  EXPECT_EQ(client.ask("set_item", R"j({"item": 0})j").find("item")->as_whole(), 0);
}

TEST_F(Viewed, AScanThatIsNotThereIsTheErrorOfLoading) {
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_file, [&] { (void)page_of({folder_.file("x_master.h5")}); }),
              HasSubstr("x_master.h5: no such file"));
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::usage, [&] { (void)page_of({}); }), HasSubstr("no scan was named"));
}

TEST_F(Viewed, AScanThatBreaksWhileLoadingIsANotice) {
  const std::string first = write("a"), second = write("b", 2);
  const panel::Page page = page_of({first, second});
  Client client(page);
  wait_until_loaded(client, page, 1);
  (void)client.ask("release", R"j({"dataset": 1})j");
  std::filesystem::remove(folder_.file("b_data_000001.h5"));
  (void)client.outlet->take_events();
  (void)client.ask("set_dataset", R"j({"dataset": 1})j");
  client.outlet->wait([](const auto&, const auto& events) {
    return std::any_of(events.begin(), events.end(), [](const auto& event) { return event.name == "notice"; });
  });
  EXPECT_THAT(page.state().find("datasets")->items().at(1).find("error")->as_text(), HasSubstr("b_data_000001.h5"));
  (void)client.ask("set_dataset", R"j({"dataset": 0})j");
  EXPECT_EQ(client.frame(FrameKind::pattern).rows, rows);
}

}  // namespace
}  // namespace sonde::stem

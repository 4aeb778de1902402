// SPDX-License-Identifier: Apache-2.0
// What the panels show, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "sonde/engine/base/interrupt.h"
#include "sonde/instruments/stem/image/detector_shapes.h"
#include "sonde/instruments/stem/view/test_scans.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using panel::Frame;
using panel::FrameKind;
using stem::testing::Client;
using stem::testing::cols;
using stem::testing::elements;
using stem::testing::OneScan;
using stem::testing::plenty;
using stem::testing::rows;
using stem::testing::scan_cols;
using stem::testing::scan_rows;
using stem::testing::Viewed;
using ::testing::HasSubstr;

TEST_F(OneScan, PatternsHoldTheCountsOfTheirPosition) {
  const Frame frame = client_.show(FrameKind::pattern, "set_position", R"j({"row": 3, "col": 7})j");
  EXPECT_EQ(frame.rows, rows);
  EXPECT_EQ(frame.cols, cols);
  const Array expected = scan_.pattern(3, 7);
  const auto values = elements<std::uint64_t>(frame);
  for (Index q = 0; q < rows * cols; ++q) ASSERT_EQ(values[static_cast<std::size_t>(q)], count(expected, q));
}

TEST_F(OneScan, ThePageDescribesEveryShapeThatTheProgramKnows) {
  const auto panel =
      std::find_if(page_.panels.begin(), page_.panels.end(), [](auto& one) { return one.id == "pattern"; });
  ASSERT_NE(panel, page_.panels.end());
  const auto& rows_described = panel->options.find("shapes")->items();
  ASSERT_EQ(rows_described.size(), detector_shapes().size());
  for (std::size_t i = 0; i < rows_described.size(); ++i) {
    const DetectorShape& shape = detector_shapes()[i];
    SCOPED_TRACE(shape.name);
    const Value& row = rows_described[i];
    EXPECT_EQ(row.find("name")->as_text(), shape.drawn_name());
    EXPECT_EQ(row.find("form")->as_text(), shape.form());
    const auto& arguments = row.find("arguments")->items();
    ASSERT_EQ(arguments.size(), shape.arguments.size());
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      EXPECT_EQ(arguments[k].find("name")->as_text(), shape.arguments[k].name);
      EXPECT_EQ(arguments[k].find("role")->as_text(), name(shape.arguments[k].role));
    }
  }
  const Value& segment = rows_described[2];
  EXPECT_EQ(segment.find("optional")->as_whole(), 1);
  EXPECT_EQ(segment.find("arguments")->items().back().find("role")->as_text(), "start_angle");
  EXPECT_EQ(segment.find("arguments")->items().back().find("unit")->as_text(), "rad");
}

TEST_F(OneScan, ArgumentsThatRepeatAreOneListOrGroups) {
  const auto words = [&](const char* shape) {
    const Value reply = client_.ask("set_detector", std::string(R"j({"channel": 0, )j") + shape + "}");
    return reply.find("expr")->as_text();
  };
  EXPECT_EQ(words(R"j("shape": "brush", "params": [[5, 2, 9], [6, 0, 4]])j"), "runs(5,2,9,6,0,4)");
  EXPECT_EQ(words(R"j("shape": "brush", "params": [5, 2, 9, 6, 0, 4])j"), "runs(5,2,9,6,0,4)");
  EXPECT_EQ(words(R"j("shape": "polygon", "params": [[1, 1], [1, 9], [9, 1]])j"), "polygon(1,1,1,9,9,1)");
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

TEST_F(OneScan, AnItemComesWithoutTheReducedPatternWhereNobodyLooksAtIt) {
  (void)client_.ask("set_detector", R"j({"channel": 0, "expr": "circle(10,10,4)"})j");
  (void)client_.outlet->take_frames();
  (void)client_.ask("set_item", R"j({"item": 0, "reduced": false})j");
  const std::vector<Frame> frames = client_.outlet->take_frames();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].kind, FrameKind::pattern);
  EXPECT_EQ(frames[1].kind, FrameKind::image);
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
           {"set_centre", R"j({"row": 1e9, "col": 1, "radius": 1})j", "is far from the 32 x 40 pixels of the detector"},
           {"request_fft", R"j({"channel": 6})j", "channel 6 has no detector"},
           {"request_fft", R"j({"channel": 6, "window": "box"})j", "channel 6 has no detector"},
           {"line_profile", R"j({"panel": "image", "p0": [0, 0], "p1": [1, 1]})j", "channel 0 has no detector"},
           {"line_profile", R"j({"panel": "pattern", "p0": [0], "p1": [1, 1]})j", "\"p0\" is [row, col]"},
           {"line_profile", R"j({"panel": "pattern", "p0": [0, 0], "p1": [1, 1e9]})j", "is far from the image"},
           {"line_profile", R"j({"panel": "pattern", "p0": [0, 0], "p1": [1, 1], "width": 0})j", "\"width\" is 0"},
           {"line_profile", R"j({"panel": "sky", "p0": [0, 0], "p1": [1, 1]})j", "\"panel\" is \"sky\""},
           {"play", R"j({"playing": "yes"})j", "\"playing\" is a text, expected true or false"},
           {"compare", R"j({"datasets": [0, 4]})j", "\"datasets\" holds 4, expected numbers of data sets, 0 to 0"},
           {"compare", R"j({"datasets": [1e308]})j", "\"datasets\" holds 1e+308"},
           {"compare", R"j({"datasets": "all"})j", "\"datasets\" is a text, expected a list of numbers"},
           {"open", R"j({"path": "/etc"})j", "/etc: not below a path that was given at start"},
           {"open", R"j({"path": "../../../etc/hostname"})j", "not below a path that was given at start"},
           {"release", R"j({"item": 7})j", "\"item\" is 7, expected 0 to 0"},
       }) {
    SCOPED_TRACE(std::string(wrong.command) + " " + wrong.arguments);
    EXPECT_THAT(client_.error(wrong.command, wrong.arguments), HasSubstr(wrong.words));
  }
}

TEST_F(OneScan, ExtremeNumbersEndEveryCommandAndHarmNothing) {
  struct Valid {
    const char *command, *arguments;
  };
  const Valid all[] = {
      {"set_position", R"j({"row": 1, "col": 2})j"},
      {"set_detector", R"j({"channel": 1, "shape": "circle", "params": [15, 19, 5]})j"},
      {"set_detector", R"j({"channel": 1, "shape": "annulus", "params": [15, 19, 5, 9]})j"},
      {"set_detector", R"j({"channel": 1, "shape": "segment", "params": [15, 19, 5, 9, 1, 4, 0.5]})j"},
      {"set_detector", R"j({"channel": 1, "shape": "rect", "params": [3, 4, 9, 8]})j"},
      {"set_detector", R"j({"channel": 1, "shape": "point", "params": [3, 4]})j"},
      {"set_detector", R"j({"channel": 1, "shape": "polygon", "params": [3, 4, 9, 8, 2, 11]})j"},
      {"set_detector", R"j({"channel": 1, "shape": "brush", "params": [[3, 4, 9]]})j"},
      {"set_scan_roi", R"j({"shape": "rect", "params": [1, 2, 5, 6]})j"},
      {"set_scan_roi", R"j({"shape": "polygon", "params": [0, 0, 9, 3, 4, 9]})j"},
      {"set_item", R"j({"item": 0})j"},
      {"set_dataset", R"j({"dataset": 0})j"},
      {"set_centre", R"j({"row": 15, "col": 19, "radius": 5})j"},
      {"request_fft", R"j({"channel": 0})j"},
      {"line_profile", R"j({"panel": "pattern", "p0": [0, 0], "p1": [9, 9], "width": 3})j"},
      {"line_profile", R"j({"panel": "image", "channel": 0, "p0": [0, 0], "p1": [9, 9], "width": 3})j"},
      {"play", R"j({"playing": false, "fps": 5})j"},
      {"compare", R"j({"datasets": [0]})j"},
      {"export", R"j({"what": "image", "format": "csv", "channel": 0})j"},
      {"release", R"j({"item": 0})j"},
  };
  const auto image = [&] {
    return elements<double>(
        client_.show(FrameKind::image, "set_detector", R"j({"channel": 0, "expr": "rect(3,4,20,30)"})j"));
  };
  const auto before = image();
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  int refused = 0;
  for (const Valid& valid : all) {
    if (std::string(valid.command) != "release") (void)client_.ask(valid.command, valid.arguments);
    // Each number of it in turn.
    const std::string text = valid.arguments;
    for (std::size_t first = 0; first < text.size(); ++first) {
      if (!is_digit(text[first]) || text[first - 1] == 'p') continue;  // p0 and p1 are names
      const std::size_t end = text.find_first_not_of("0123456789.", first);
      for (const char* extreme :
           {"1e308", "-1e308", "1e-308", "-1", "0.5", "990000", "-990000", "1000000000", "9223372036854775807",
            "-9223372036854775808", "18446744073709551615", "null", "[]"}) {
        const std::string arguments = text.substr(0, first) + extreme + text.substr(end);
        SCOPED_TRACE(std::string(valid.command) + " " + arguments);
        try {
          (void)client_.ask(valid.command, arguments);
        } catch (const Error& error) {
          EXPECT_TRUE(error.kind() == ErrorKind::bad_input || error.kind() == ErrorKind::usage) << error.what();
          ++refused;
        }
      }
      first = end;
    }
  }
  EXPECT_GT(refused, 300);
  (void)client_.ask("set_item", R"j({"item": 0})j");
  wait_until_loaded(client_, page_);  // it was released
  (void)client_.ask("set_scan_roi", "{}");
  EXPECT_EQ(image(), before);
}

TEST_F(OneScan, AStateWithExtremeNumbersIsRefusedOrShown) {
  (void)client_.ask("set_detector", R"j({"channel": 0, "expr": "bf"})j");
  (void)client_.ask("set_centre", R"j({"row": 15, "col": 19, "radius": 5})j");
  const std::string state = to_json(*client_.ask("save_state").find("state"), -1);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = state;
    EXPECT_NE(changed.find(from), std::string::npos) << from << " in " << state;
    return R"j({"state": )j" + changed.replace(changed.find(from), from.size(), to) + "}";
  };
  EXPECT_THAT(client_.error("load_state", with("\"row\":15.0", "\"row\":1e308")), HasSubstr("far from the 32 x 40"));
  EXPECT_THAT(client_.error("load_state", with("\"radius\":5.0", "\"radius\":-1")), HasSubstr("expected more than 0"));
  EXPECT_THAT(client_.error("load_state", with("\"dataset\":0", "\"dataset\":1e308")), HasSubstr("whole number"));
  // One data set named a thousand times is compared once.
  std::string many = "0";
  for (int i = 0; i < 1000; ++i) many += ",0";
  (void)client_.ask("load_state", with("\"compared\":[]", "\"compared\":[" + many + "]"));
  EXPECT_EQ(client_.ask("save_state").find("state")->find("compared")->size(), 1U);
}

TEST_F(OneScan, ACancelledCommandLeavesWhatWasShown) {
  const std::string region = R"j({"expr": "rect(1,1,9,8)"})j", larger = R"j({"expr": "rect(1,1,9,9)"})j";
  (void)client_.ask("set_scan_roi", region);
  {
    Cancel cancel;
    cancel.request();
    const CancelScope scope(&cancel);
    for (const auto& [command, arguments] :
         {std::pair("set_scan_roi", larger),
          {"set_detector", std::string(R"j({"channel": 1, "expr": "all"})j")},
          {"line_profile", std::string(R"j({"panel": "pattern", "p0": [0, 0], "p1": [9, 9]})j")}})
      EXPECT_THAT(sonde::testing::error_of(ErrorKind::interrupted, [&] { (void)client_.ask(command, arguments); }),
                  HasSubstr("cancelled"))
          << command;
  }
  // The pattern that grows by what the region gains begins anew instead of from a sum that is half made.
  const auto sum = elements<std::uint64_t>(client_.show(FrameKind::reduced_pattern, "set_scan_roi", larger));
  std::vector<std::uint64_t> expected(sum.size(), 0);
  for (Index row = 1; row < 9; ++row)
    for (Index col = 1; col < 9; ++col) {
      const Array pattern = scan_.pattern(row, col);
      for (std::size_t q = 0; q < expected.size(); ++q) expected[q] += count(pattern, static_cast<Index>(q));
    }
  EXPECT_EQ(sum, expected);
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

TEST_F(Viewed, WhatOthersHoldIsInTheMemoryLine) {
  const auto dataset = std::make_shared<const Dataset>(load(write("scan"), {}, plenty()));
  const panel::Page page = make_page(dataset, plenty());
  const Value state = page.state();
  const Value& memory = *state.find("memory");
  EXPECT_GE(memory.find("resident")->as_whole(), static_cast<Index>(dataset->held_bytes()));
  EXPECT_EQ(memory.find("budget")->as_whole(), static_cast<Index>(plenty().limit_bytes() + dataset->held_bytes()));
  EXPECT_EQ(memory.find("items")->items().at(0).find("resident")->as_whole(),
            static_cast<Index>(dataset->held_bytes()));
}

TEST_F(Viewed, AScanThatIsNotThereIsTheErrorOfLoading) {
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_file, [&] { (void)page_of({folder_.file("x_master.h5")}); }),
              HasSubstr("x_master.h5: no such file"));
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::usage, [&] { (void)page_of({}); }), HasSubstr("no scan was named"));
}

}  // namespace
}  // namespace sonde::stem

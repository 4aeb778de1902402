// SPDX-License-Identifier: Apache-2.0
// Several items, and several data sets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "sonde/instruments/stem/results/detector_images.h"
#include "sonde/instruments/stem/view/test_scans.h"

namespace sonde::stem {
namespace {

using panel::Frame;
using panel::FrameKind;
using stem::testing::Client;
using stem::testing::cols;
using stem::testing::elements;
using stem::testing::plenty;
using stem::testing::rows;
using stem::testing::scan_cols;
using stem::testing::scan_rows;
using stem::testing::Viewed;
using ::testing::ElementsAre;

/// The image of circle(16,20,6).
std::vector<std::uint64_t> image_of_circle(const Dataset& scan) {
  const std::vector<DetectorImage> images =
      mask_images(scan, std::vector<Mask>{detector_mask("circle(16,20,6)", {rows, cols, {}, {}, {}, scan.good()})});
  const auto* values = static_cast<const std::uint64_t*>(images[0].image.data());
  return {values, values + scan_rows * scan_cols};
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
    if (reply.find("waiting") != nullptr) client.wait_for_final(3);
    const std::vector<Frame> frames = client.take_final();
    ASSERT_EQ(frames.size(), 3u);
    const Dataset expected = load(folder_.file(std::string(name) + "_master.h5"), {}, plenty());
    EXPECT_EQ(frames[2].item, static_cast<std::uint32_t>(item));
    EXPECT_EQ(elements<std::uint64_t>(frames[2]), image_of_circle(expected));
  }
}

TEST_F(Viewed, ItemsInMemoryAreMadeWhenTheClientRests) {
  for (const int tilt : {1, 2, 3}) write("tilt_" + std::to_string(tilt), tilt);
  const panel::Page page = page_of({folder_.path().string()});
  Client client(page);
  for (const std::size_t item : {0, 1, 2}) {
    (void)client.ask("set_item", "{\"item\": " + std::to_string(item) + "}");
    wait_until_loaded(client, page, 0, item);
  }
  (void)client.outlet->take_events();
  (void)client.ask("set_detector", R"j({"channel": 0, "expr": "circle(16,20,6)"})j");
  client.outlet->wait([](const auto&, const auto& events) {
    return std::any_of(events.begin(), events.end(), [](const auto& event) {
      return event.name == "series" && event.what.find("ready")->size() == 3;
    });
  });
  for (const char* item : {"0", "1"}) {
    (void)client.ask("set_item", std::string(R"j({"item": )j") + item + "}");
    const std::vector<Frame> frames = client.outlet->take_frames();
    ASSERT_EQ(frames.size(), 3u);
    for (const Frame& frame : frames) EXPECT_TRUE(frame.cached);
    const Dataset expected =
        load(folder_.file("tilt_" + std::to_string(item[0] - '0' + 1) + "_master.h5"), {}, plenty());
    EXPECT_EQ(elements<std::uint64_t>(frames[2]), image_of_circle(expected));
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

TEST_F(Viewed, AFolderMayBeWatchedFromBeforeItsFirstScan) {
  // What a microscope leaves meanwhile: a master that is cut off, and one whose data are not there yet.
  std::filesystem::create_directory(folder_.path() / "elsewhere");
  const std::string whole = write("elsewhere/b", 2);
  const auto bring = [&](const std::string& name) {
    std::filesystem::rename(folder_.path() / "elsewhere" / name, folder_.path() / name);
  };
  for (const bool half_written : {false, true}) {
    SCOPED_TRACE(half_written);
    if (half_written) {
      std::filesystem::copy_file(whole, folder_.path() / "a_master.h5");
      std::filesystem::resize_file(folder_.path() / "a_master.h5", 1000);
      bring("b_master.h5");
    }
    EXPECT_THROW((void)page_of({folder_.path().string()}), Error) << "nobody would look for the first scan";
    ViewOptions options;
    options.watch_s = 0.01;  // only how soon the test sees it
    const panel::Page page = make_page({folder_.path().string()}, options, plenty());
    Client client(page);
    const auto dataset = [&] { return page.state().find("datasets")->items().at(0); };
    EXPECT_TRUE(dataset().find("waiting")->as_bool());
    EXPECT_TRUE(dataset().find("items")->items().empty());
    EXPECT_EQ(dataset().find("error"), nullptr);
    EXPECT_THAT(client.error("set_position", R"j({"row": 1, "col": 1})j"), ::testing::HasSubstr("no scan is finished"));
    EXPECT_THAT(client.error("set_item", R"j({"item": 0})j"), ::testing::HasSubstr("item"));
    EXPECT_TRUE(client.ask("save_state").find("state")->find("datasets")->items().at(0).find("path")->is_null());
    (void)client.ask("play");
    (void)client.ask("play", R"j({"playing": false})j");
    if (!half_written) continue;

    bring("b.h5");
    bring("b_data_000001.h5");
    client.outlet->wait([&](const auto&, const auto&) { return dataset().find("items")->size() == 1; });
    wait_until_loaded(client, page);
    EXPECT_EQ(dataset().find("waiting"), nullptr);
    EXPECT_EQ(dataset().find("scan")->items().at(0).as_whole(), scan_rows);
    const Dataset expected = load(folder_.file("b_master.h5"), {}, plenty());
    const Frame image = client.show(FrameKind::image, "set_detector", R"j({"channel": 0, "expr": "circle(16,20,6)"})j");
    EXPECT_EQ(elements<std::uint64_t>(image), image_of_circle(expected));
    for (const auto& event : client.outlet->take_events()) EXPECT_NE(event.name, "notice") << to_json(event.what);
    write("c", 3);  // and it goes on as with any series
    client.outlet->wait([&](const auto&, const auto&) { return dataset().find("items")->size() == 2; });
  }
}

TEST_F(Viewed, AFileThatIsBrokenIsNotWaitedFor) {
  const std::string master = write("a");
  std::filesystem::resize_file(master, 1000);
  EXPECT_THROW((void)make_page({master}, {}, plenty()), Error);
  EXPECT_THROW((void)make_page({folder_.file("nowhere")}, {}, plenty()), Error);
}

}  // namespace
}  // namespace sonde::stem

// SPDX-License-Identifier: Apache-2.0
// Scans that come and go while they are looked at.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <functional>
#include <mutex>
#include <random>
#include <thread>

#include "sonde/instruments/stem/view/entry.h"
#include "sonde/instruments/stem/view/test_scans.h"

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

TEST_F(OneScan, ReleasedMemoryIsFreeAndComesBackWhenWanted) {
  (void)client_.ask("set_detector", R"j({"channel": 0, "expr": "all"})j");
  const Index before = page_.state().find("memory")->find("resident")->as_whole();
  const Index freed = client_.ask("release", R"j({"dataset": 0})j").find("freed")->as_whole();
  EXPECT_GT(freed, scan_rows * scan_cols * rows * cols);
  EXPECT_EQ(page_.state().find("memory")->find("resident")->as_whole(), before - freed);
  EXPECT_TRUE(client_.ask("set_item", R"j({"item": 0})j").find("waiting")->as_bool());
  client_.wait_for_final(3);
  const std::vector<Frame> frames = client_.take_final();
  EXPECT_EQ(frames[2].request, 0u);  // nobody asked again
  expect_image(frames[2], [](Index, Index) { return true; });
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

TEST(InWords, TellsWhatWasBeingDoneAndNamesTheFile) {
  Error error(ErrorKind::bad_file, "chunk 3 is damaged");
  EXPECT_EQ(in_words(error, "/data/a_master.h5"), "/data/a_master.h5: chunk 3 is damaged");
  error.add_activity("decoding frame 12");
  EXPECT_EQ(in_words(error, "/data/a_master.h5"), "/data/a_master.h5: chunk 3 is damaged, while decoding frame 12");
  error.add_activity("loading /data/a_master.h5");
  EXPECT_EQ(in_words(error, "/data/a_master.h5"),
            "chunk 3 is damaged, while decoding frame 12, while loading /data/a_master.h5");
}

/// Waits for the notice about an item whose load failed, and returns it.
Value notice_of_item(Client& client, Index item) {
  Value notice;
  client.outlet->wait([&](const auto&, const auto& events) {
    for (const auto& event : events)
      if (event.name == "notice" && event.what.find("item") != nullptr && event.what.find("item")->as_whole() == item)
        notice = event.what;
    return !notice.is_null();
  });
  return notice;
}

TEST_F(Viewed, AnItemThatBreaksLeavesTheOthersAlone) {
  for (const char* name : {"a", "b", "c"}) write(name, name[0]);
  const panel::Page page = page_of({folder_.path().string()});
  Client client(page);
  wait_until_loaded(client, page);
  const std::string data = folder_.file("b_data_000001.h5"), elsewhere = folder_.file("elsewhere.h5");
  std::filesystem::rename(data, elsewhere);
  (void)client.ask("set_item", R"j({"item": 1})j");
  const Value notice = notice_of_item(client, 1);
  EXPECT_THAT(notice.find("message")->as_text(), HasSubstr("b_data_000001.h5"));
  EXPECT_THAT(notice.find("message")->as_text(), HasSubstr("b_master.h5"));
  EXPECT_EQ(notice.find("dataset")->as_whole(), 0);

  const auto item_error = [&](std::size_t item) -> std::string {
    const Value state = page.state();
    const Value* error = state.find("datasets")->items().at(0).find("items")->items().at(item).find("error");
    return error == nullptr ? "" : error->as_text();
  };
  EXPECT_THAT(item_error(1), HasSubstr("b_data_000001.h5"));
  EXPECT_EQ(item_error(0) + item_error(2), "");
  EXPECT_EQ(page.state().find("datasets")->items().at(0).find("error"), nullptr) << "of the series much can be shown";

  // What is chosen meanwhile is kept for the items that can be shown.
  const Value reply = client.ask("set_detector", R"j({"channel": 2, "expr": "circle(16,20,6)"})j");
  EXPECT_TRUE(reply.find("waiting")->as_bool());
  EXPECT_THAT(reply.find("failed")->as_text(), HasSubstr("b_data_000001.h5"));
  EXPECT_TRUE(client.outlet->take_frames().empty()) << "nothing of the item before";
  EXPECT_THAT(client.ask("set_position", R"j({"row": 1, "col": 1})j").find("failed")->as_text(), HasSubstr("b_data"));
  const Frame first = client.show(FrameKind::image, "set_item", R"j({"item": 0})j", 2);
  EXPECT_EQ(first.item, 0u);

  // A client that comes later sees the others too.
  Client second(page);
  (void)second.ask("set_detector", R"j({"channel": 0, "expr": "circle(16,20,6)"})j");
  EXPECT_EQ(elements<double>(second.frame(FrameKind::image)), elements<double>(first));
  (void)second.ask("set_item", R"j({"item": 2})j");
  second.wait_for_final(3);
  for (const Frame& frame : second.take_final()) EXPECT_EQ(frame.item, 2u);

  // Choosing it again tries again.
  std::filesystem::rename(elsewhere, data);
  (void)client.ask("set_item", R"j({"item": 1})j");
  client.wait_for_final(3);
  for (const Frame& frame : client.take_final()) EXPECT_EQ(frame.item, 1u);
  EXPECT_EQ(item_error(1), "");
}

TEST_F(Viewed, ReleasingAnItemForgetsThatItsLoadFailed) {
  for (const char* name : {"a", "b"}) write(name, name[0]);
  const panel::Page page = page_of({folder_.path().string()});
  Client client(page);
  wait_until_loaded(client, page);
  const std::string data = folder_.file("b_data_000001.h5"), elsewhere = folder_.file("elsewhere.h5");
  std::filesystem::rename(data, elsewhere);
  (void)client.ask("set_item", R"j({"item": 1})j");
  (void)notice_of_item(client, 1);
  EXPECT_NE(client.ask("set_reduction", R"j({"reduction": "max"})j").find("failed"), nullptr);
  std::filesystem::rename(elsewhere, data);
  (void)client.ask("release", R"j({"item": 1})j");
  const Value state = page.state();
  EXPECT_EQ(state.find("datasets")->items().at(0).find("items")->items().at(1).find("error"), nullptr);
  EXPECT_EQ(client.ask("set_reduction", R"j({"reduction": "max"})j").find("failed"), nullptr);
  client.wait_for_final(2);
}

TEST_F(Viewed, ASeriesOfWhichNothingCanBeShownFailsAsAWhole) {
  for (const char* name : {"a", "b"}) write(name, name[0]);
  const panel::Page page = page_of({folder_.path().string()});
  Client client(page);
  wait_until_loaded(client, page);
  (void)client.ask("release", R"j({"dataset": 0})j");
  const auto failed = [&] { return page.state().find("datasets")->items().at(0).find("error") != nullptr; };
  for (const Index item : {0, 1}) {
    EXPECT_FALSE(failed());
    std::filesystem::remove(folder_.file(std::string(item == 0 ? "a" : "b") + "_data_000001.h5"));
    (void)client.ask("set_item", "{\"item\": " + std::to_string(item) + "}");
    (void)notice_of_item(client, item);
  }
  EXPECT_TRUE(failed());
}

TEST_F(OneScan, ImagesComeFromAFewPatternsWhileItIsBeingLoaded) {
  // Bad pixels are not known yet, so the detector leaves them out.
  std::string detector = "circle(15.25,19.5,6)";
  for (Index q = 0; q < rows * cols; ++q)
    if (scan_.good()[static_cast<std::size_t>(q)] == 0)
      detector += " - point(" + std::to_string(q / cols) + "," + std::to_string(q % cols) + ")";
  const auto inside = [](Index row, Index col) {
    return std::hypot(static_cast<double>(row) - 15.25, static_cast<double>(col) - 19.5) < 6;
  };
  (void)client_.ask("release", R"j({"dataset": 0})j");
  const Value reply = client_.ask("set_detector", R"j({"channel": 3, "expr": ")j" + detector + "\"}");
  EXPECT_TRUE(reply.find("waiting")->as_bool());
  client_.wait_for_final(3);
  const std::vector<Frame> frames = client_.outlet->take_frames();
  ASSERT_FALSE(frames.empty());
  EXPECT_TRUE(frames[0].preview);
  EXPECT_EQ(frames[0].kind, FrameKind::image);
  EXPECT_EQ(frames[0].channel, 3);
  EXPECT_EQ(frames[0].request, client_.last_id);
  expect_image(frames[0], inside);  // the grid holds every position of so small a scan
  const Frame& last = frames.back();
  EXPECT_FALSE(last.preview);
  EXPECT_EQ(last.request, 0u);
  expect_image(last, inside);
}

TEST_F(Viewed, PresetsAreShownBeforeTheScanIsThere) {
  const std::string first = write("a"), second = write("b", 2);
  const panel::Page page = page_of({first, second});
  Client client(page);
  wait_until_loaded(client, page, 1);
  (void)client.ask("set_detector", R"j({"channel": 0, "expr": "bf"})j");
  (void)client.ask("set_detector", R"j({"channel": 1, "expr": "com-row"})j");
  (void)client.ask("release", R"j({"dataset": 1})j");
  (void)client.ask("set_dataset", R"j({"dataset": 1})j");
  client.wait_for_final(4);
  std::vector<Frame> frames = client.outlet->take_frames();
  std::erase_if(frames, [](const Frame& frame) { return frame.kind != FrameKind::image; });
  ASSERT_EQ(frames.size(), 4u);
  for (const std::size_t channel : {0, 1}) {
    const auto before = elements<double>(frames[channel]), after = elements<double>(frames[channel + 2]);
    EXPECT_TRUE(frames[channel].preview);
    EXPECT_FALSE(frames[channel + 2].preview);
    ASSERT_EQ(before.size(), after.size());
    if (channel == 0) {
      EXPECT_EQ(before, after);  // the hot pixel, which is not known yet, does not lie in the disk
    }
  }
}

/// Does something once, when the first frame comes that nobody asked for.
class ReactingOutlet final : public panel::Outlet {
 public:
  void send(Frame frame) override {
    if (frame.request != 0) return;
    std::function<void()> react;
    {
      const std::lock_guard lock(mutex_);
      react = std::exchange(react_, nullptr);
    }
    if (!react) return;
    react();
    reacted_ = true;
  }
  [[nodiscard]] bool reacted() const { return reacted_; }
  void reply(const panel::Command&, Value) override {}
  void event(std::string_view, Value) override {}
  void react_with(std::function<void()> react) {
    const std::lock_guard lock(mutex_);
    react_ = std::move(react);
  }

 private:
  std::mutex mutex_;
  std::function<void()> react_;
  std::atomic<bool> reacted_{false};
};

TEST_F(Viewed, AnItemThatGoesBeforeAllHaveHeardOfItIsNotShown) {
  const panel::Page page = page_of({write("a")});
  const auto outlet = std::make_shared<ReactingOutlet>();
  const auto first = page.open(outlet);  // hears of loads before the other
  Client second(page);
  wait_until_loaded(second, page);
  (void)second.ask("release", R"j({"dataset": 0})j");
  outlet->react_with([&] { second.session->run({1000, "release", Value::object()}); });
  (void)second.ask("set_item", R"j({"item": 0})j");
  second.outlet->wait([&](const auto&, const auto&) {
    const Value state = page.state();
    const Value& entry = state.find("datasets")->items().at(0);
    return outlet->reacted() && entry.find("loading")->is_null() &&
           !entry.find("items")->items().at(0).find("held")->as_bool();
  });
  for (const Frame& frame : second.outlet->take_frames()) EXPECT_TRUE(frame.preview);
  (void)second.ask("set_item", R"j({"item": 0})j");
  second.wait_for_final(2);
}

TEST_F(Viewed, ClientsMayReleaseAndSwitchWhileScansAreLoaded) {
  for (const int tilt : {1, 2, 3}) write("tilt_" + std::to_string(tilt), tilt);
  std::filesystem::create_directory(folder_.path() / "other");
  const std::string other = write("other/a", 4);
  const panel::Page page = page_of({folder_.path().string(), other});
  std::vector<std::jthread> people;
  for (const std::uint32_t seed : {1u, 2u, 3u})
    people.emplace_back([&page, seed] {
      Client client(page);
      std::mt19937 random(seed);
      for (int step = 0; step < 25; ++step) {
        const std::string dataset = std::to_string(random() % 2);
        switch (random() % 6) {
          case 0:
            (void)client.ask("release", "{\"dataset\": " + dataset + "}");
            break;
          case 1:
            (void)client.ask("set_dataset", "{\"dataset\": " + dataset + "}");
            break;
          case 2:
            (void)client.ask("set_item", R"j({"dataset": 0, "item": )j" + std::to_string(random() % 3) + "}");
            break;
          case 3:
            (void)client.ask("set_detector", R"j({"channel": 0, "expr": "circle(16,20,)j" +
                                                 std::to_string(3 + random() % 5) + R"j()"})j");
            break;
          case 4:
            (void)client.ask("play", step % 2 == 0 ? R"j({"playing": true})j" : R"j({"playing": false})j");
            break;
          default:
            (void)client.ask("set_position", R"j({"row": 3, "col": 4})j");
        }
      }
    });
  people.clear();
  Client client(page);
  (void)client.ask("set_dataset", R"j({"dataset": 1})j");
  wait_until_loaded(client, page, 1);
  (void)client.ask("set_dataset", R"j({"dataset": 1})j");
  const auto values =
      elements<std::uint64_t>(client.show(FrameKind::image, "set_detector", R"j({"channel": 0, "expr": "all"})j"));
  const Dataset expected = load(other, {}, plenty());
  const auto* total = static_cast<const std::uint64_t*>(expected.moments().total.data());
  EXPECT_EQ(values, std::vector<std::uint64_t>(total, total + scan_rows * scan_cols));
}

TEST_F(OneScan, MemoryIsToldByItem) {
  const Value before = page_.state();
  const auto& items = before.find("memory")->find("items")->items();
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].find("dataset")->as_whole(), 0);
  EXPECT_EQ(items[0].find("item")->as_whole(), 0);
  EXPECT_EQ(items[0].find("label")->as_text(), "scan");
  // Elements of a byte, their 120 positions rounded up to 128, and no more than eight sums of eight bytes.
  const Index sums = 64 * (scan_rows * scan_cols + rows * cols);
  EXPECT_GT(items[0].find("resident")->as_whole(), rows * cols * scan_rows * scan_cols);
  EXPECT_LT(items[0].find("resident")->as_whole(), rows * cols * 128 + sums);
  (void)client_.ask("release", R"j({"dataset": 0})j");
  EXPECT_TRUE(page_.state().find("memory")->find("items")->items().empty());
}

}  // namespace
}  // namespace sonde::stem

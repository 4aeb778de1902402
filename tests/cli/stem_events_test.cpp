// SPDX-License-Identifier: Apache-2.0
// `sonde stem events`: what it says and writes, what it refuses, and that inputs are never replaced.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sonde/instruments/stem/count/event_file.h"
#include "sonde/instruments/stem/timepix/test_words.h"
#include "tests/cli/stem.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using testing::at;
using testing::Ended;
using ::testing::HasSubstr;

class Events : public ::testing::Test {
 protected:
  Events() {
    stem::testing::WordFile words;
    words.words(stem::testing::words_of(stem::testing::random_hits(500, 640, 1)));
    words.save(file("in.tpx3"));
    std::ofstream(file("chips.toml")) << "[[chip]]\nquarter_turns = 2\n";
  }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }
  [[nodiscard]] Ended run(std::vector<std::string> more) const {
    std::vector<std::string> words = {"stem", "events", file("in.tpx3"), "--dwell", "5us", "--scan-shape", "9x11"};
    words.insert(words.end(), more.begin(), more.end());
    return testing::run(words);
  }
  testing::TemporaryFolder folder_;
};

TEST_F(Events, AreFoundDrawnAndWritten) {
  const Ended ended = run({"-o", file("events.h5"), "--png", file("sum.png"), "--chips", file("chips.toml")});
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("500 of 500 hits"));
  EXPECT_THAT(ended.err, HasSubstr("wrote     " + file("events.h5")));
  EXPECT_EQ(stem::read_event_file(file("events.h5")).scan_cols, 11);
  EXPECT_GT(fs::file_size(file("sum.png")), 1000U);
}

TEST_F(Events, AreAScanForOtherCommands) {
  ASSERT_EQ(run({"-o", file("events.h5")}).status, 0);
  ASSERT_EQ(run({"-o", file("stempy.h5"), "--format", "stempy"}).status, 0);
  (void)testing::json_of({"stem", "convert", file("events.h5"), file("frames.npy"), "--hot-pixels", "none"});
  std::vector<std::vector<std::uint8_t>> images;
  for (const std::string input : {"frames.npy", "events.h5", "stempy.h5"}) {
    const Value made = testing::json_of({"stem", "image", file(input), "-d", "annulus(100,110,20,90)", "-d", "com-row",
                                         "-o", file("of_" + input + "/"), "--hot-pixels", "none"});
    const Value& image = at(made, {"images"}).items().at(0);
    EXPECT_EQ(at(image, {"computed_from"}).as_text() == "electrons", input != "frames.npy") << input;
    EXPECT_GT(at(image, {"total"}).as_whole(), 50);
    const Value summed = testing::json_of({"stem", "image", file(input), "-d", "annulus(100,110,20,90)", "-o",
                                           file(input + ".npy"), "--hot-pixels", "none"});
    EXPECT_EQ(at(at(summed, {"images"}).items().at(0), {"computed_from"}).as_text() == "electrons",
              input != "frames.npy");
    images.push_back(testing::read_bytes(file(input + ".npy")));
  }
  EXPECT_EQ(images[1], images[0]);
  EXPECT_EQ(images[2], images[0]);
}

TEST_F(Events, OfStempyGoIntoAnH5FileOnly) {
  const Ended ended = run({"-o", file("events.npz"), "--format", "stempy"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr(".h5"));
  EXPECT_FALSE(fs::exists(file("events.npz")));
}

TEST_F(Events, ADryRunPlansAndWritesNothing) {
  const Ended ended = run({"-o", file("events.h5"), "--dry-run"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("hits that wait for earlier ones"));
  EXPECT_FALSE(fs::exists(file("events.h5")));
}

TEST_F(Events, SettingsMayBeInAFile) {
  std::ofstream(file("run.toml")) << "[stem.events]\nscan_shape = [3, 4]\ncluster_time = 0\n";
  const Ended ended = testing::run(
      {"stem", "events", file("in.tpx3"), "--dwell", "5us", "--config", file("run.toml"), "-o", file("events.h5")});
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(stem::read_event_file(file("events.h5")).scan_rows, 3);
  EXPECT_THAT(ended.err, HasSubstr("every hit is one"));
}

TEST_F(Events, RefuseWithTheRightStatusAndLeaveNothing) {
  const auto refused = [&](std::vector<std::string> words, int status, const std::string& text) {
    words.insert(words.begin(), {"stem", "events"});
    words.insert(words.end(), {"-o", file("events.h5")});
    const Ended ended = testing::run(words);
    EXPECT_EQ(ended.status, status);
    EXPECT_THAT(ended.err, HasSubstr(text));
    EXPECT_FALSE(fs::exists(file("events.h5")));
  };
  const std::string in = file("in.tpx3");
  refused({in, "--scan-shape", "9x11"}, 2, "no dwell time was given");
  refused({in, "--scan-shape", "9", "--dwell", "1us"}, 2, "--scan-shape: \"9\"; expected ROWSxCOLS");
  refused({file("none.tpx3"), "--scan-shape", "9x11", "--dwell", "1us"}, 3, "none.tpx3");
  refused({file("chips.toml"), "--scan-shape", "9x11", "--dwell", "1us"}, 3, "chips.toml: not a TPX3 file");
  refused({in, "--scan-shape", "9x11", "--dwell", "1us", "--lines", "tdc1"}, 3,
          "no rises of TDC1 in the first 3.95 KiB, but no edges of the TDC");
  refused({in, "--scan-shape", "9x11", "--dwell", "1us", "--memory", "1M"}, 4, "--memory");
  fs::resize_file(in, 3000);
  refused({in, "--scan-shape", "9x11", "--dwell", "1us"}, 3, "ends within a chunk");
}

TEST_F(Events, NeverReplaceAnInput) {
  for (const std::string& input : {file("in.tpx3"), file("chips.toml")})
    for (const auto& [flag, ending] : {std::pair{"-o", ".h5"}, {"-o", ".npz"}, {"--png", ".png"}}) {
      const std::string link = file(std::string("link") + ending);
      fs::remove(link);
      fs::create_symlink(input, link);
      const auto before = testing::read_bytes(input);
      const Ended ended = run({"--chips", file("chips.toml"), flag, link});
      EXPECT_EQ(ended.status, 3) << input << flag << ending;
      EXPECT_THAT(ended.err, HasSubstr("an output never replaces an input"));
      EXPECT_EQ(testing::read_bytes(input), before);
    }
}

}  // namespace
}  // namespace sonde

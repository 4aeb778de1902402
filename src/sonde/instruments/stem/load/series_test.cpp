// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sonde/instruments/stem/write/write_arina.h"
#include "tests/support/budget.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::stem {
namespace {

namespace fs = std::filesystem;
using sonde::testing::error_of;
using sonde::testing::plenty;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr Index rows = 8, cols = 6;

/// A folder of small scans; every frame of a scan holds `value` in all pixels.
class SeriesOf : public ::testing::Test {
 protected:
  std::string write(const std::string& name, std::uint16_t value, Index scan_rows = 3, Index scan_cols = 4) {
    ArinaDescription description;
    description.scan_rows = scan_rows;
    description.scan_cols = scan_cols;
    description.rows = rows;
    description.cols = cols;
    const std::vector<std::uint16_t> frames(static_cast<std::size_t>(scan_rows * scan_cols * rows * cols), value);
    const std::string path = folder_.file(name + "_master.h5");
    ArinaWriter writer(path, description);
    writer.append(Array::from(frames, {scan_rows * scan_cols, rows, cols}));
    (void)writer.finish();
    return path;
  }
  [[nodiscard]] Series open(const SeriesOptions& series = {}) const { return open(series, plenty()); }
  [[nodiscard]] Series open(const SeriesOptions& series, Budget budget) const {
    return Series::open({folder_.path().string()}, series, LoadOptions{}, std::move(budget));
  }
  /// A budget that holds exactly `items`: one at the peak of its load, the others as they stay.
  [[nodiscard]] static Budget room_for(const std::string& scan, std::size_t items) {
    const Budget budget = plenty();
    const Dataset dataset = load(scan, LoadOptions{}, budget);
    const std::size_t kept = budget.reserved_bytes();
    return Budget(dataset.estimate().predicted_peak_bytes + (items - 1) * kept + kept / 2, "test");
  }
  static std::vector<std::string> labels(const Series& series) {
    std::vector<std::string> all;
    for (const SeriesItem& item : series.items()) all.push_back(item.label);
    return all;
  }
  static Index first_count(const Dataset& dataset) {
    return static_cast<const std::uint8_t*>(dataset.pattern(0, 0).data())[0];
  }

  sonde::testing::TemporaryFolder folder_;
};

TEST_F(SeriesOf, AFolderIsInNaturalOrder) {
  for (const int tilt : {10, 9, 1, 100}) write("tilt_" + std::to_string(tilt), static_cast<std::uint16_t>(tilt));
  EXPECT_THAT(labels(open()), ElementsAre("tilt_1", "tilt_9", "tilt_10", "tilt_100"));
}

TEST_F(SeriesOf, ThePatternChoosesByName) {
  for (const char* name : {"tilt_a_1", "tilt_b_1", "focus_a_1"}) write(name, 1);
  SeriesOptions series;
  series.pattern = "tilt";
  EXPECT_THAT(labels(open(series)), ElementsAre("tilt_a_1", "tilt_b_1"));
  series.pattern = "tilt*b";
  EXPECT_THAT(labels(open(series)), ElementsAre("tilt_b_1"));
  series.pattern = "nothing";
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)open(series); }),
              AllOf(HasSubstr("no *_master.h5"), HasSubstr("\"nothing\" in its name")));
}

TEST_F(SeriesOf, SubFoldersCountWhenAsked) {
  write("a", 1);
  fs::create_directory(folder_.path() / "more");
  write("more/b", 2);
  SeriesOptions series;
  EXPECT_THAT(labels(open(series)), ElementsAre("a"));
  series.recursive = true;
  EXPECT_THAT(labels(open(series)), ElementsAre("a", "b"));
  series.max_files = 1;
  EXPECT_THAT(labels(open(series)), ElementsAre("a"));
}

TEST_F(SeriesOf, ScansOfOtherShapesAreSkippedWithTheReason) {
  write("a", 1);
  write("b", 2, 5, 2);
  std::ofstream(folder_.file("c_master.h5")) << "no scan";
  const Series series = open();
  EXPECT_THAT(labels(series), ElementsAre("a"));
  ASSERT_EQ(series.skipped().size(), 2u);
  // The reason does not name the scan once more.
  EXPECT_THAT(series.skipped()[0].path, HasSubstr("c_master.h5"));
  EXPECT_THAT(series.skipped()[0].reason, AllOf(Not(HasSubstr("c_master.h5")), Not(IsEmpty())));
  EXPECT_EQ(series.skipped()[1].reason, "shape (5, 2, 8, 6), the series has (3, 4, 8, 6)");
}

TEST_F(SeriesOf, AScanOfAnotherShapeThatIsNamedIsRefused) {
  const std::vector<std::string> named = {write("a", 1), write("b", 2, 4, 4), write("c", 3)};
  const ScanSelection selected = select_scans(named, {}, {}, plenty());
  ASSERT_EQ(selected.items.size(), 2u);
  EXPECT_EQ(selected.items[1].label, "c");
  ASSERT_EQ(selected.skipped.size(), 1u);
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { require_named(selected, named); }),
              AllOf(HasSubstr("b_master.h5: shape (4, 4, 8, 6), the series has (3, 4, 8, 6)"),
                    HasSubstr("give it to a command of its own")));
  EXPECT_NO_THROW(require_named(selected, {folder_.path().string()}));  // of a folder: left out
}

TEST_F(SeriesOf, TheShapeMayBeGiven) {
  write("a", 1);
  write("b", 2, 5, 2);
  SeriesOptions series;
  series.shape = "5,2,8,6";
  EXPECT_THAT(labels(open(series)), ElementsAre("b"));
}

TEST_F(SeriesOf, WhenNoneFitsTheShapesFoundAreListed) {
  write("a", 1);
  write("b", 2);
  write("c", 2, 5, 2);
  SeriesOptions series;
  series.shape = "9,9,8,6";
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)open(series); }),
              AllOf(HasSubstr("no scan has shape (9, 9, 8, 6); found 2 of (3, 4, 8, 6) and 1 of (5, 2, 8, 6)"),
                    HasSubstr("give --series-shape with one of the shapes found")));
}

TEST_F(SeriesOf, WhenNoneOpensAllReasonsAreListed) {
  std::ofstream(folder_.file("a_master.h5")) << "no scan";
  std::ofstream(folder_.file("b_master.h5")) << "no scan either";
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)open(); }),
              AllOf(HasSubstr("no scan could be opened"), HasSubstr("a_master.h5: "), HasSubstr("b_master.h5: ")));
}

TEST_F(SeriesOf, ThatFitsIsHeldWhole) {
  for (const int i : {1, 2, 3}) write("s" + std::to_string(i), static_cast<std::uint16_t>(i));
  Series series = open();
  EXPECT_TRUE(series.eager());
  EXPECT_FALSE(series.held(0));
  for (Index i = 0; i < 3; ++i) EXPECT_EQ(first_count(*series.item(i)), i + 1);
  for (Index i = 0; i < 3; ++i) EXPECT_TRUE(series.held(i));
}

TEST_F(SeriesOf, SwitchingIsAPointer) {
  write("a", 1);
  Series series = open();
  const auto first = series.item(0);
  EXPECT_EQ(series.item(0), first);
}

TEST_F(SeriesOf, ALoadedScanStays) {
  const auto scan = std::make_shared<const Dataset>(load(write("focus", 7), LoadOptions{}, plenty()));
  Series series = Series::of(scan);
  EXPECT_THAT(labels(series), ElementsAre("focus"));
  series.release(0);
  series.release();
  EXPECT_TRUE(series.held(0));
  EXPECT_EQ(series.item(0), scan);
  EXPECT_EQ(series.held_item(0), scan);
}

TEST_F(SeriesOf, ThatDoesNotFitHoldsTheRecentlyUsed) {
  std::string scan;
  for (const int i : {1, 2, 3, 4}) scan = write("s" + std::to_string(i), static_cast<std::uint16_t>(i));
  Series series = open({}, room_for(scan, 2));
  EXPECT_FALSE(series.eager());
  EXPECT_THAT(series.eager_because(), HasSubstr("the 2 most recently used are held"));
  (void)series.item(0);
  (void)series.item(1);
  (void)series.item(0);  // now 1 is the older
  (void)series.item(2);
  EXPECT_TRUE(series.held(0));
  EXPECT_FALSE(series.held(1));
  EXPECT_TRUE(series.held(2));
  EXPECT_EQ(first_count(*series.item(1)), 2);
}

TEST_F(SeriesOf, ItemsLoadAheadInTheBackground) {
  std::string scan;
  for (const int i : {1, 2, 3, 4}) scan = write("s" + std::to_string(i), static_cast<std::uint16_t>(i));
  Series series = open({}, room_for(scan, 2));
  (void)series.item(0);
  series.prefetch(1);
  series.wait();
  EXPECT_TRUE(series.held(0));
  EXPECT_TRUE(series.held(1));
  EXPECT_EQ(first_count(*series.item(1)), 2);
}

TEST_F(SeriesOf, LoadingAheadNeverPushesTheCurrentItemOut) {
  std::string scan;
  for (const int i : {1, 2, 3}) scan = write("s" + std::to_string(i), static_cast<std::uint16_t>(i));
  Series series = open({}, room_for(scan, 1));
  (void)series.item(0);
  series.prefetch(1);
  series.wait();
  EXPECT_TRUE(series.held(0));
  EXPECT_FALSE(series.held(1));
}

TEST_F(SeriesOf, AnItemThatFailedInTheBackgroundFailsWithItsErrorWhenUsed) {
  write("a", 1);
  const std::string second = write("b", 2);
  Series series = open();
  fs::remove(folder_.file("b_data_000001.h5"));
  series.prefetch(1);
  series.wait();
  EXPECT_FALSE(series.held(1));
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)series.item(1); }),
              HasSubstr("b_data_000001.h5: no such file"));
}

TEST_F(SeriesOf, ReleaseLetsGoButPointersStayValid) {
  write("a", 7);
  Budget budget = plenty();
  Series series = open({}, budget);
  auto kept = series.item(0);
  series.release();
  EXPECT_FALSE(series.held(0));
  EXPECT_EQ(first_count(*kept), 7);
  EXPECT_GT(budget.reserved_bytes(), 0u);
  kept.reset();
  EXPECT_EQ(budget.reserved_bytes(), 0u);
}

TEST_F(SeriesOf, OneItemIsReleasedAlone) {
  for (const char* name : {"a", "b"}) write(name, 1);
  Series series = open();
  (void)series.item(0);
  (void)series.item(1);
  series.release(0);
  EXPECT_EQ(series.held_item(0), nullptr);
  EXPECT_NE(series.held_item(1), nullptr);
}

TEST_F(SeriesOf, ScansOfTheSameShapeAreAppended) {
  write("a", 1);
  Series series = open();
  series.append(write("b", 9));
  ASSERT_EQ(series.size(), 2);
  EXPECT_EQ(first_count(*series.item(1)), 9);
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { series.append(write("c", 1, 5, 2)); }),
              HasSubstr("shape (5, 2, 8, 6), the series has (3, 4, 8, 6)"));
  EXPECT_EQ(series.size(), 2);
}

TEST_F(SeriesOf, ItemsOutsideAreRefused) {
  write("a", 1);
  Series series = open();
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)series.item(1); }), HasSubstr("item 1 of a series of 1"));
}

TEST_F(SeriesOf, NotEvenOneFitting) {
  write("a", 1);
  EXPECT_THAT(error_of(ErrorKind::budget, [&] { (void)open({}, Budget(1000, "test")); }), HasSubstr("smallest need"));
}

}  // namespace
}  // namespace sonde::stem

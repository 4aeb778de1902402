// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/bench/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

namespace sonde {
namespace {

using ::testing::HasSubstr;

Value operation(const char* name, double median, double mad = 0) {
  Value made;
  made["name"] = name;
  made["steady_s"]["median"] = median;
  made["steady_s"]["mad"] = mad;
  made["steady_s"]["samples"] = 9;
  return made;
}

Value point(const char* size, int workers, std::vector<Value> operations) {
  Value made;
  made["size"] = size;
  made["device"] = "cpu";
  made["workers"] = workers;
  made["operations"] = Value::list();
  for (Value& each : operations) made["operations"].push_back(std::move(each));
  return made;
}

Value two_points() {
  Value points = Value::list();
  points.push_back(point("1", 1, {operation("F", 2), operation("gd", 4, 0.04)}));
  points.push_back(point("1", 2, {operation("F", 2), operation("gd", 3)}));
  return points;
}

TEST(Targets, AreRatiosOfMediansBesideTheirLimits) {
  const Value rows = judge_targets(
      {{.name = "T1", .of = {"gd", 1}, .over = {"F", 1}, .limit = 2},
       {.name = "T2", .of = {"gd", 2}, .over = {"F", 2}, .limit = 1.25},
       {.name = "T6", .of = {"gd", 1}, .over = {"gd", 2}, .limit = 1.3, .bound = Target::Bound::at_least}},
      two_points(), {"1"});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows.items()[0].find("ratio")->as_real(), 2);
  EXPECT_TRUE(rows.items()[0].find("met")->as_bool());
  // Of the median of nine with this spread: 1.2533 x 1.4826 x 0.04 / 3, of 4, times the ratio.
  EXPECT_NEAR(rows.items()[0].find("uncertainty")->as_real(), 2 * 1.2533 * 1.4826 * 0.01 / 3, 1e-6);
  EXPECT_EQ(rows.items()[1].find("ratio")->as_real(), 1.5);
  EXPECT_FALSE(rows.items()[1].find("met")->as_bool());
  EXPECT_NEAR(rows.items()[2].find("ratio")->as_real(), 4.0 / 3, 1e-12);
  EXPECT_TRUE(rows.items()[2].find("met")->as_bool());
  EXPECT_THAT(targets_text(rows), HasSubstr("T2    1.500 ± 0.000, at most 1.25: missed, gd on 2 threads over F on 2"));
  EXPECT_THAT(targets_text(rows), HasSubstr("at least 1.3: met,    gd on 1 thread over gd on 2 threads"));
}

TEST(Targets, MayBeSetAgainstAPeer) {
  Value measured = point("1", 1, {operation("F", 2)});
  measured["peers"] = Value::list();
  measured["peers"].push_back(operation("Meep", 5));
  Value points = Value::list();
  points.push_back(std::move(measured));
  const Target twice{.name = "P", .of = {"Meep", 1}, .over = {"F", 1}, .limit = 2, .bound = Target::Bound::at_least};
  const Value rows = judge_targets({twice}, points, {"1"});
  EXPECT_EQ(rows.items().front().find("ratio")->as_real(), 2.5);
  EXPECT_TRUE(rows.items().front().find("met")->as_bool());
}

TEST(Targets, MayBeSetForMemory) {
  Value measured = point("1", 1, {operation("F", 2)});
  measured["peak_rss_bytes"] = 300.0;
  Value peer = operation("Meep", 5);
  peer["peak_rss_bytes"] = 400.0;
  measured["peers"] = Value::list();
  measured["peers"].push_back(std::move(peer));
  Value points = Value::list();
  points.push_back(std::move(measured));
  const Target less{.name = "M", .of = {"F"}, .over = {"Meep"}, .limit = 0.8, .what = Target::What::peak_memory};
  const Value rows = judge_targets({less}, points, {"1"});
  EXPECT_EQ(rows.items().front().find("ratio")->as_real(), 0.75);
  EXPECT_TRUE(rows.items().front().find("met")->as_bool());
}

TEST(Targets, MayBeSetForTheTimeOfOneItem) {
  Value frames = operation("rings", 0.006, 0.0003);
  frames["items"] = 2000.0;
  Value points = Value::list();
  points.push_back(point("128", 2, {frames, operation("no items", 1)}));
  const auto limit = [](const char* name, double seconds) {
    return Target{.name = "R", .of = {name, 2}, .over = {}, .limit = seconds, .what = Target::What::item_time};
  };
  const Value rows =
      judge_targets({limit("rings", 3.5e-6), limit("rings", 2.5e-6), limit("no items", 1)}, points, {"128"});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_NEAR(rows.items()[0].find("seconds")->as_real(), 3e-6, 1e-12);
  EXPECT_NEAR(rows.items()[0].find("uncertainty")->as_real(), 1.2533 * 1.4826 * 1.5e-7 / 3, 1e-12);
  EXPECT_TRUE(rows.items()[0].find("met")->as_bool());
  EXPECT_FALSE(rows.items()[1].find("met")->as_bool());
  EXPECT_EQ(rows.items()[2].find("absent")->as_text(), "no items on 2 threads was not measured");
  EXPECT_THAT(targets_text(rows), HasSubstr("rings on 2 threads, 128"));
}

TEST(Targets, ThatLeaveThreadsOpenAreJudgedOnAll) {
  const Value rows = judge_targets({{.name = "T7", .of = {"gd"}, .over = {"F"}, .limit = 1.8}}, two_points(), {"1"});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_FALSE(rows.items()[0].find("met")->as_bool());
  EXPECT_TRUE(rows.items()[1].find("met")->as_bool());
}

TEST(Targets, SayWhatWasNotMeasured) {
  const Value rows =
      judge_targets({{.name = "T2", .of = {"gd", 4}, .over = {"F", 4}, .limit = 1}}, two_points(), {"1"});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows.items()[0].find("met"), nullptr);
  EXPECT_THAT(targets_text(rows), HasSubstr("T2   not judged: gd on 4 threads was not measured"));
}

TEST(Targets, AreForTheSizesThatTheyWereSetFor) {
  EXPECT_EQ(judge_targets({{.name = "T1", .of = {"gd", 1}, .over = {"F", 1}, .limit = 2}}, two_points(), {"7"}).size(),
            0u);
  Target one{.name = "T1", .of = {"gd", 1}, .over = {"F", 1}, .limit = 2, .size = "2"};
  EXPECT_EQ(judge_targets({one}, two_points(), {"1"}).size(), 0u);
  one.size = "1";
  EXPECT_EQ(judge_targets({one}, two_points(), {"1"}).size(), 1u);
}

}  // namespace
}  // namespace sonde

// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/bench/case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/report/json.h"
#include "tests/support/files.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;

constexpr Sampling quick{.least = 3, .most = 3};

BenchCase counting_case(std::vector<Peer> peers = {}) {
  return {.name = "count",
          .summary = "Count",
          .sizes = {"small"},
          .devices = {DeviceKind::cpu},
          .prepare = [peers](const BenchPoint&) {
            PreparedCase prepared;
            prepared.input = "nothing";
            prepared.peers = peers;
            prepared.operations = {
                {.name = "plain", .run = [] {}, .bytes = 1000, .flops = 10, .difference = [] { return 0.5; }},
                {.name = "from disk", .run = [] {}, .bytes = 1000, .traffic = Traffic::disk}};
            return prepared;
          }};
}

TEST(BenchPoint, HoldsRatesAndFractions) {
  const Value point = run_bench_point(counting_case(), {"small", Device::cpu(), 2},
                                      {.memory_bytes_per_s = 1e9, .disk_bytes_per_s = 1e6, .flops_per_s = 1e12}, quick);
  EXPECT_EQ(point.find("size")->as_text(), "small");
  EXPECT_EQ(point.find("device")->as_text(), "cpu");
  EXPECT_EQ(point.find("workers")->as_whole(), 2);
  EXPECT_EQ(point.find("input")->as_text(), "nothing");
  EXPECT_GT(point.find("peak_rss_bytes")->as_whole(), 0);
  const Value& plain = point.find("operations")->items()[0];
  const double median = plain.find("steady_s")->find("median")->as_real();
  EXPECT_DOUBLE_EQ(plain.find("bytes_per_s")->as_real(), 1000 / median);
  EXPECT_DOUBLE_EQ(plain.find("bandwidth_fraction")->as_real(), 1000 / median / 1e9);
  EXPECT_DOUBLE_EQ(plain.find("flops_fraction")->as_real(), 10 / median / 1e12);
  EXPECT_EQ(plain.find("difference")->as_real(), 0.5);
  const Value& disk = point.find("operations")->items()[1];
  EXPECT_DOUBLE_EQ(disk.find("bandwidth_fraction")->as_real(), disk.find("bytes_per_s")->as_real() / 1e6);
  EXPECT_EQ(disk.find("difference"), nullptr);
}

TEST(BenchPoint, OperationsMayHaveAClockOfTheirOwn) {
  BenchCase part = counting_case();
  part.prepare = [](const BenchPoint&) {
    PreparedCase prepared;
    prepared.operations = {{.name = "a part of the call", .run = [] {}, .own_s = [] { return 0.25; }}};
    return prepared;
  };
  const Value point = run_bench_point(part, {"small", Device::cpu(), 1}, {}, quick);
  EXPECT_EQ(point.find("operations")->items()[0].find("steady_s")->find("median")->as_real(), 0.25);
}

TEST(BenchPoint, PeersAreTimedByTheirOwnClock) {
  const Peer peer{"other program", {"sh", "-c", "echo chatter; echo '{\"seconds\": 2.5, \"peak_rss_bytes\": 4096}'"}};
  const Value point = run_bench_point(counting_case({peer}), {"small", Device::cpu(), 1}, {}, quick);
  const Value& row = point.find("peers")->items().front();
  EXPECT_EQ(row.find("steady_s")->find("median")->as_real(), 2.5);
  EXPECT_GT(row.find("ratio")->as_real(), 1);
  EXPECT_EQ(row.find("peak_rss_bytes")->as_whole(), 4096);
}

TEST(BenchPoint, AbsentPeersAreLeftOutWithTheReason) {
  const std::vector<Peer> peers = {
      {"not there", {"sonde-no-such-program"}}, {"fails", {"sh", "-c", "exit 3"}}, {"mute", {"sh", "-c", "echo '{}'"}}};
  const Value point = run_bench_point(counting_case(peers), {"small", Device::cpu(), 1}, {}, quick);
  const Value& rows = *point.find("peers");
  EXPECT_EQ(rows.items()[0].find("absent")->as_text(), "`sonde-no-such-program` could not be run, or failed");
  EXPECT_EQ(rows.items()[1].find("absent")->as_text(), "`sh -c exit 3` could not be run, or failed");
  EXPECT_EQ(rows.items()[2].find("absent")->as_text(), "mute: no \"seconds\" in its last line");
}

TEST(BenchPoint, ASizeThatDoesNotFitIsLeftOutWithTheReason) {
  BenchCase large = counting_case();
  large.prepare = [](const BenchPoint&) -> PreparedCase { throw Error(ErrorKind::budget, "9.7 GB are too much"); };
  const Value point = run_bench_point(large, {"full", Device::cpu(), 1}, {}, quick);
  EXPECT_EQ(point.find("absent")->as_text(), "9.7 GB are too much");
  Value points;
  points.push_back(point);
  EXPECT_NE(bench_text(points).find("not run: 9.7 GB are too much"), std::string::npos);
  large.prepare = [](const BenchPoint&) -> PreparedCase { throw Error(ErrorKind::bad_file, "broken"); };
  EXPECT_THROW(run_bench_point(large, {"full", Device::cpu(), 1}, {}, quick), Error);
}

TEST(BenchPoint, APeerThatFailsLaterDoesNotEndTheOthers) {
  const testing::TemporaryFolder folder;
  // Succeeds twice: when it is looked for, and in its first turn.
  const std::string script = "echo x >> " + folder.file("runs") + "; [ $(wc -l < " + folder.file("runs") +
                             ") -le 2 ] && echo '{\"seconds\": 1}'";
  const std::vector<Peer> peers = {{"tires", {"sh", "-c", script}}, {"lasts", {"sh", "-c", "echo '{\"seconds\": 2}'"}}};
  Value points = Value::list();
  points.push_back(run_bench_point(counting_case(peers), {"small", Device::cpu(), 1}, {}, quick));
  std::map<std::string, Value> rows;
  for (const Value& row : points.items().front().find("peers")->items()) rows[row.find("name")->as_text()] = row;
  EXPECT_THAT(rows.at("tires").find("failed")->as_text(), HasSubstr("could not be run, or failed"));
  EXPECT_EQ(rows.at("tires").find("steady_s"), nullptr);
  EXPECT_EQ(rows.at("lasts").find("steady_s")->find("median")->as_real(), 2);
  EXPECT_THAT(bench_text(points), HasSubstr("tires: failed while measuring, "));
  EXPECT_EQ(std::filesystem::file_size(folder.file("runs")), 6u);  // three lines: not started again
}

Value point(const char* size, const char* device, int workers, double median) {
  Value operation;
  operation["name"] = "plain";
  operation["steady_s"]["median"] = median;
  Value value;
  value["size"] = size;
  value["device"] = device;
  value["workers"] = workers;
  value["operations"].push_back(operation);
  value["peers"] = Value::list();
  return value;
}

TEST(Crossovers, AreFoundBetweenSizes) {
  Value points = Value::list();
  points.push_back(point("1", "cpu", 1, 1.0));
  points.push_back(point("1", "cuda:0", 1, 3.0));
  points.push_back(point("2", "cpu", 1, 2.0));
  points.push_back(point("2", "cuda:0", 1, 3.0));
  points.push_back(point("4", "cpu", 1, 4.0));
  points.push_back(point("4", "cuda:0", 1, 3.1));
  EXPECT_EQ(to_json(crossovers(points), -1), R"([{"between":["2","4"],"from":"cpu x 1","to":"cuda:0 x 1"}])");
}

TEST(Crossovers, AreThoseOfAllOperationsThatDoTheSameWork) {
  const auto lanes = [](const char* size, double threads, double processes) {
    Value made = point(size, "cpu", 2, threads);
    Value other;
    other["name"] = "processes";
    other["steady_s"]["median"] = processes;
    made["operations"].push_back(other);
    return made;
  };
  Value points = Value::list();
  points.push_back(lanes("8", 1, 5));
  points.push_back(lanes("16", 6, 5));
  EXPECT_EQ(crossovers(points).size(), 0U);
  EXPECT_EQ(to_json(crossovers(points, true), -1),
            R"([{"between":["8","16"],"from":"cpu x 2, plain","to":"cpu x 2, processes"}])");
}

TEST(Speedups, AreThoseOverOneWorker) {
  Value points = Value::list();
  points.push_back(point("1", "cpu", 1, 6.0));
  points.push_back(point("1", "cpu", 4, 2.0));
  points.push_back(point("2", "cpu", 2, 1.0));  // nothing to compare with
  EXPECT_EQ(to_json(speedups(points), -1),
            R"([{"size":"1","device":"cpu","operation":"plain","workers":4,"speedup":3.0,"efficiency":0.75}])");
}

TEST(BenchPoint, ItemsHaveATimeAndFloorsADistance) {
  BenchCase part = counting_case();
  part.prepare = [](const BenchPoint&) {
    PreparedCase prepared;
    prepared.operations = {
        {.name = "sums", .run = [] {}, .own_s = [] { return 0.5; }, .items = 1000, .floor = "reading"},
        {.name = "reading", .run = [] {}, .own_s = [] { return 0.2; }, .items = 800},
        {.name = "without", .run = [] {}, .own_s = [] { return 0.2; }, .floor = "not there"}};
    return prepared;
  };
  Value points = Value::list();
  points.push_back(run_bench_point(part, {"small", Device::cpu(), 2}, {}, quick));
  const Value::List& rows = points.items().front().find("operations")->items();
  EXPECT_DOUBLE_EQ(rows[0].find("item_s")->as_real(), 0.5e-3);
  EXPECT_DOUBLE_EQ(rows[0].find("distance")->as_real(), 2);  // of one item: 0.5 ms over 0.25 ms
  EXPECT_EQ(rows[2].find("distance"), nullptr);
  EXPECT_THAT(items_text(points, "frame"), HasSubstr("per frame, 2.00 x reading"));
}

TEST(Growth, IsTheSlopeOfLogarithms) {
  Value points = Value::list();
  for (const auto& [size, median] : {std::pair("64", 1.0), {"128", 4.0}, {"256", 16.0}, {"word", 7.0}})
    points.push_back(point(size, "cpu", 2, median));
  points.push_back(point("64", "cpu", 1, 1.0));  // two sizes are too few
  points.push_back(point("128", "cpu", 1, 2.0));
  const Value found = growth(points);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(found.items()[0].find("exponent")->as_real(), 2, 1e-12);
  EXPECT_NEAR(found.items()[0].find("scatter")->as_real(), 0, 1e-7);
  EXPECT_EQ(found.items()[0].find("workers")->as_whole(), 2);
}

TEST(BenchPoint, EveryCallIsASpanOfTheTrace) {
  Trace trace;
  (void)run_bench_point(counting_case(), {"small", Device::cpu(), 2}, {}, quick, &trace);
  const Value written = trace.to_value();
  std::map<std::string, int> spans;
  for (const Value& event : written.find("traceEvents")->items()) {
    ++spans[text_at(event, "name")];
    EXPECT_EQ(text_at(*event.find("args"), "size"), "small");
  }
  EXPECT_EQ(spans, (std::map<std::string, int>{{"prepare", 1}, {"plain", 4}, {"from disk", 4}}));
}

TEST(Crossovers, NoiseIsNoCrossover) {
  Value points = Value::list();
  points.push_back(point("1", "cpu", 1, 1.00));
  points.push_back(point("1", "cpu", 2, 1.01));
  points.push_back(point("2", "cpu", 1, 2.01));
  points.push_back(point("2", "cpu", 2, 2.00));
  EXPECT_EQ(crossovers(points).size(), 0u);
}

TEST(BenchText, ShowsEveryOperation) {
  Value points = Value::list();
  points.push_back(run_bench_point(counting_case({{"not there", {"sonde-no-such-program"}}}),
                                   {"small", Device::cpu(), 1}, {}, quick));
  const std::string text = bench_text(points);
  EXPECT_THAT(text, HasSubstr("plain"));
  EXPECT_THAT(text, HasSubstr("from disk"));
  EXPECT_THAT(text, HasSubstr("GB/s"));
  EXPECT_THAT(text, HasSubstr("not there: not run, `sonde-no-such-program` could not be run, or failed"));
}

TEST(Peers, AreFoundInThePrefixAndInTheSourceTree) {
  const testing::TemporaryFolder folder;
  const char* named = std::getenv("SONDE_PEERS");
  const std::string before = named != nullptr ? named : "";
  unsetenv("SONDE_PEERS");
  std::filesystem::create_directories(folder.file("prefix/share/sonde/peers"));
  EXPECT_EQ(peers_folder(folder.file("prefix/bin/sonde")), folder.file("prefix/share/sonde/peers"));
  std::filesystem::create_directories(folder.file("source/bench/peers"));
  EXPECT_EQ(peers_folder(folder.file("source/build/ci/sonde")), folder.file("source/bench/peers"));
  EXPECT_EQ(peers_folder(folder.file("elsewhere/sonde")), "bench/peers");
  setenv("SONDE_PEERS", "/mine", 1);
  EXPECT_EQ(peers_folder(folder.file("prefix/bin/sonde")), "/mine");
  before.empty() ? unsetenv("SONDE_PEERS") : setenv("SONDE_PEERS", before.c_str(), 1);
}

}  // namespace
}  // namespace sonde

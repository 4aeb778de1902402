// SPDX-License-Identifier: Apache-2.0
// `sonde machine` and `sonde bench`: what they write, keep and refuse. No test looks at a speed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>

#include "sonde/engine/device/device.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/report/json.h"
#include "tests/cli/program.h"
#include "tests/cli/stem.h"
#include "tests/support/places.h"
#ifdef SONDE_MPIRUN
#include "tests/cli/ranks.h"
#endif

namespace sonde {
namespace {

using testing::Ended;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Keeps the cache of the machine's numbers in the test's own folder.
class Bench : public ::testing::Test {
 protected:
  void SetUp() override { setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1); }
  void TearDown() override { unsetenv("XDG_CACHE_HOME"); }

  Ended machine(std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {"machine", "--seconds", "0.001", "--array", "1M", "--file", "1M", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return testing::run(words);
  }

  testing::TemporaryFolder folder_;
};

TEST_F(Bench, MachineMeasuresOnceAndKeepsTheNumbers) {
  const Ended first = machine();
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_THAT(first.err, HasSubstr("kept in " + folder_.file("sonde/machine.json")));
  const Ended second = machine();
  EXPECT_THAT(second.err, HasSubstr("cached in "));
  EXPECT_EQ(second.out, first.out);
  EXPECT_THAT(machine({"--refresh"}).err, HasSubstr("kept in "));
}

TEST_F(Bench, MachineShowsItsNumbersWhereTheyCannotBeKept) {
  std::ofstream(folder_.file("sonde")) << "a file where the folder of caches should be\n";
  const Ended ended = machine();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("the numbers of this machine are not kept: " + folder_.file("sonde")));
  EXPECT_NE(parse_json(ended.out, "standard output").find("memory"), nullptr);
}

TEST_F(Bench, MachineNamesAFolderThatCannotBeWritten) {
  const Ended ended = machine({"--folder", "/nowhere"});
  EXPECT_EQ(ended.status, 5);
  EXPECT_THAT(ended.err, StartsWith("error: /nowhere: making a temporary file failed: No such file or directory"));
}

TEST_F(Bench, ReportsGiveFractionsOfAMeasuredMachine) {
  const std::string master = testing::make_small_scan(folder_);
  const auto load = [&] {
    const Ended ended = testing::run({"stem", "load", master, "--report", folder_.file("run.json")});
    EXPECT_EQ(ended.status, 0) << ended.err;
    return ended.err;
  };
  const auto report = [&](std::initializer_list<const char*> path) {
    Value found = read_json(folder_.file("run.json"));
    for (const char* key : path) found = found.find(key) != nullptr ? Value(*found.find(key)) : Value();
    return found;
  };
  EXPECT_THAT(load(), HasSubstr("`sonde machine` measures what this machine can do at most"));
  EXPECT_EQ(report({"host", "limits"}), Value());
  EXPECT_EQ(report({"results", "run", "stages", "decode", "bandwidth_fraction"}), Value());

  machine();
  EXPECT_THAT(load(), HasSubstr("% of memory"));
  const double limit = report({"host", "limits", "memory_bytes_per_s"}).as_real();
  EXPECT_GT(limit, 0);
  const Value decode = report({"results", "run", "stages", "decode"});
  const double moved = decode.find("bytes_in")->as_real() + decode.find("bytes_out")->as_real();
  const double threads = static_cast<double>(thread_count());  // that of the child: --threads was not given
  EXPECT_NEAR(decode.find("bandwidth_fraction")->as_real(), moved / decode.find("seconds")->as_real() * threads / limit,
              1e-6);
}

TEST_F(Bench, WithoutACaseListsThem) {
  const Ended ended = testing::run({"bench"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err, HasSubstr("copy "));
}

TEST_F(Bench, UnknownCasesNameTheNearest) {
  const Ended ended = testing::run({"bench", "cpoy"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_EQ(ended.err, "error: unknown case \"cpoy\"; did you mean \"copy\"?\nhint: `sonde bench` lists the cases\n");
}

#ifdef SONDE_WITH_MAXWELL
TEST_F(Bench, ACaseIsNotTheBeginningOfOthers) {
  machine();
  const Ended ended = testing::run({"bench", "maxwell-forward", "--sizes", "32", "--workers", "1", "--samples", "3",
                                    "--seconds", "0", "--no-files", "--json", "--devices", "cpu"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(parse_json(ended.out, "out").find("cases")->size(), 1U);  // and not maxwell-forward-2d
}
#endif

#ifdef SONDE_WITH_STEM
TEST_F(Bench, TimesOfItemsAndTheirGrowthAreReported) {
  machine();
  const Ended ended = testing::run({"bench", "stem-analysis-phase", "--sizes", "16,32,64", "--workers", "1",
                                    "--samples", "3", "--seconds", "0", "--no-files", "--json"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr(" per scan\n"));
  EXPECT_THAT(ended.err, HasSubstr("dct, cpu x 1: time grows as (positions along a side)^"));
  const Value output = parse_json(ended.out, "out");
  const Value& result = output.find("cases")->items().front();
  EXPECT_EQ(result.find("growth")->size(), 2U);
  EXPECT_EQ(result.find("targets")->size(), 0U);  // set for 512 only
  const Value& operation = result.find("points")->items().front().find("operations")->items().front();
  EXPECT_EQ(operation.find("item_s")->as_real(), operation.find("steady_s")->find("median")->as_real());
}

TEST_F(Bench, AnalysesOfSmallScansRun) {
  machine();
  const struct {
    const char* name;
    const char* size;
  } cases[] = {{"disk-count", "1"}, {"orient", "16"}, {"strain", "6"}};
  for (const auto& each : cases) {
    SCOPED_TRACE(each.name);
    const Ended ended = testing::run({"bench", std::string("stem-analysis-") + each.name, "--sizes", each.size,
                                      "--workers", "1", "--samples", "3", "--seconds", "0", "--no-files"});
    EXPECT_EQ(ended.status, 0) << ended.err;
  }
}
#endif

TEST_F(Bench, WorkersThatAreNoNumbersAreRefused) {
  EXPECT_THAT(testing::run({"bench", "copy", "--workers", "1,some"}).err,
              StartsWith("error: --workers: \"some\" is not a number of threads\n"));
}

TEST_F(Bench, WritesPointsAndChart) {
  machine();
  const std::string stem = folder_.file("copy");
  const Ended ended = testing::run({"bench", "copy", "--sizes", "64k,128k", "--workers", "1", "--samples", "3",
                                    "--json", "-o", stem, "--devices", "cpu"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  const Value result = read_json(stem + ".json");
  ASSERT_EQ(result.find("points")->size(), 2u);
  const Value& operation = result.find("points")->items().front().find("operations")->items().front();
  EXPECT_EQ(operation.find("bytes")->as_real(), 2 * 65536);
  EXPECT_EQ(operation.find("difference")->as_real(), 0);
  EXPECT_GT(operation.find("bandwidth_fraction")->as_real(), 0);
  EXPECT_TRUE(std::filesystem::exists(stem + "-chart.gp"));
  EXPECT_EQ(*parse_json(ended.out, "out").find("cases")->items().front().find("points"), *result.find("points"));
  EXPECT_THAT(ended.err, HasSubstr("written: " + stem + ".json"));
}

#ifdef SONDE_WITH_NEOCLASSICAL
TEST_F(Bench, NeoclassicalScansAgreeWithTheirReferences) {
  machine();
  // Dense elimination against Cholesky: 1e-9 where nu_hat >= 1e-5, single precision refined: 1e-8. Scans repeat their
  // points bit for bit.
#ifdef SONDE_MPIRUN
  testing::keep_launchers_apart();
  const std::size_t ways = 3;  // threads, processes, MPI
#else
  const std::size_t ways = 2;
#endif
  const struct {
    const char *name, *sizes;
    std::size_t operations;
    double tolerance;
  } cases[] = {{"point", "5x5x4", 5, 1e-8},  {"crossover", "5,7", 7, 1e-8}, {"scaling-smoke", "16", ways, 0},
               {"scaling-smoke", "9", 1, 0}, {"precision", "4", 2, 1e-8},   {"reuse", "2,130", 2, 0}};
  for (const auto& each : cases) {
    SCOPED_TRACE(each.name);
    const Ended ended = testing::run({"bench", std::string("neoclassical-") + each.name, "--sizes", each.sizes,
                                      "--workers", "1,2", "--samples", "3", "--seconds", "0", "--no-files", "--json"});
    ASSERT_EQ(ended.status, 0) << ended.err;
    const Value result = parse_json(ended.out, "out").find("cases")->items().front();
    for (const Value& point : result.find("points")->items()) {
      ASSERT_EQ(point.find("operations")->size(), each.operations);
      for (const Value& operation : point.find("operations")->items()) {
        const std::string name(operation.find("name")->as_text());
        // Weak fields of one collisionality share their work, which no point can be charged with.
        const std::string_view of(each.name);
        const bool shares = (of != "point" && of != "crossover") || name.ends_with("weak E, by itself") ||
                            name.find(" points, ") != std::string::npos;
        const Value* const rate = operation.find("flops_per_s");
        EXPECT_EQ(rate == nullptr, shares) << name;
        if (rate != nullptr) {
          EXPECT_GT(rate->as_real(), 0) << name;
        }
        EXPECT_LE(operation.find("difference")->as_real(), each.tolerance) << name;
      }
    }
    EXPECT_GE(result.find("speedups")->size(), each.operations) << "of two workers over one";
  }
}

TEST_F(Bench, CrossoversAreKeptForThisMachine) {
  machine();
  const Ended ended = testing::run({"bench", "neoclassical-crossover", "--sizes", "5", "--workers", "1,2", "--samples",
                                    "3", "--seconds", "0", "-o", folder_.file("crossover")});
  ASSERT_EQ(ended.status, 0) << ended.err;
  const std::string map = folder_.file("sonde/neoclassical-crossover.json");
  EXPECT_THAT(ended.err, HasSubstr("kept:    " + map));
  const Value kept = read_json(map);
  ASSERT_EQ(kept.find("scans")->size(), 4U) << "8 and 32 points on one thread and on two";
  for (const Value& scan : kept.find("scans")->items()) {
    EXPECT_EQ(number_at(scan, "unknowns"), 25);
    EXPECT_GT(number_at(scan, "CPU, f64"), 0);
    EXPECT_GT(number_at(scan, "CPU, f32-refine"), 0);
  }
}

TEST_F(Bench, CallsAreWrittenAsATrace) {
  machine();
  const Ended ended = testing::run({"bench", "neoclassical-reuse", "--sizes", "2", "--workers", "1", "--samples", "3",
                                    "--no-files", "--trace-dir", folder_.file("traces")});
  ASSERT_EQ(ended.status, 0) << ended.err;
  const Value trace = read_json(folder_.file("traces/neoclassical-reuse.trace.json"));
  EXPECT_EQ(trace.find("traceEvents")->size(), 1U + 2 * 4) << "preparation, and a first and three calls of both";
}

TEST_F(Bench, ComparesWithMonkesWhenThatIsGiven) {
  machine();
  const std::vector<std::string> words = {"bench",   "neoclassical-peers", "--sizes", "5x5x4",      "--workers",
                                          "1",       "--samples",          "3",       "--no-files", "--json",
                                          "--monkes"};
  const auto with = [&](const std::string& program) {
    std::vector<std::string> all = words;
    all.push_back(program);
    return testing::run(all);
  };
  const Ended without = testing::run({"bench", "neoclassical-peers"});
  EXPECT_EQ(without.status, 2);
  EXPECT_EQ(without.err,
            "error: case neoclassical-peers compares with MONKES, which was not given\n"
            "hint: --monkes PATH of its executable\n");
  const Ended missing = with(folder_.file("main_monkes.x"));
  EXPECT_EQ(missing.status, 3);
  EXPECT_THAT(missing.err, HasSubstr("main_monkes.x: No such file or directory"));
  // What stands for it looks at its input as the program itself does: namelists of these names.
  const std::string program = folder_.file("monkes");
  std::ofstream(program) << "#!/bin/sh\ngrep -q 'borbi(1,1) = -0.094228' ddkes2.data && grep -q 'N_xi = 4' "
                            "monkes_input.parameters && echo > monkes_Monoenergetic_Database.dat\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  setenv("SONDE_PEERS", (testing::source_folder() + "/bench/peers").c_str(), 1);
  const Ended ended = with(program);
  unsetenv("SONDE_PEERS");
  ASSERT_EQ(ended.status, 0) << ended.err;
  const Value out = parse_json(ended.out, "out");
  const Value& peers = *out.find("cases")->items().front().find("points")->items().front().find("peers");
  ASSERT_EQ(peers.size(), 2U) << ended.err;
  for (const Value& peer : peers.items()) EXPECT_GE(number_at(peer, "ratio"), 0) << to_json(peer);
}

TEST_F(Bench, NeoclassicalWorkflowHasItsStages) {
  machine();
  const Ended ended = testing::run(
      {"bench", "neoclassical-workflow", "--sizes", "2", "--workers", "1", "--samples", "3", "--no-files", "--json"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  const Value out = parse_json(ended.out, "out");
  const Value& point = out.find("cases")->items().front().find("points")->items().front();
  EXPECT_EQ(point.find("operations")->size(), 4u);
}

TEST_F(Bench, NeoclassicalSizesThatAreNoGridsAreRefused) {
  machine();
  const Ended ended = testing::run({"bench", "neoclassical-point", "--sizes", "9x11"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_EQ(ended.err, "error: --sizes: \"9x11\" is not a grid\nhint: angles and largest Legendre index, 25x25x60\n");
}
#endif

#ifdef SONDE_WITH_PTYCHO
// A device that a case runs on and this machine lacks is told, not left out in silence.
TEST_F(Bench, PtychoCrossoverHasAllBatchesAndNamesTheDeviceThatIsMissing) {
  machine();
  const std::string stem = folder_.file("crossover");
  const Ended ended = testing::run({"bench", "ptycho-crossover", "--sizes", "2x2x16,3x3x16", "--workers", "1",
                                    "--samples", "3", "--seconds", "0", "-o", stem});
  ASSERT_EQ(ended.status, 0) << ended.err;
  const Value result = read_json(stem + ".json");
  std::size_t on_cpu = 0;
  for (const Value& point : result.find("points")->items()) {
    EXPECT_EQ(point.find("operations")->size(), 3u);
    on_cpu += point.find("device")->as_text() == "cpu" ? 1 : 0;
  }
  EXPECT_EQ(on_cpu, 2u);
  const Value& absent = *result.find("absent_devices");
  const std::string& why = Device::why_no_gpu();
  ASSERT_EQ(absent.size(), why.empty() ? 0u : 1u);
  if (!why.empty()) {
    EXPECT_EQ(absent.items().front().find("because")->as_text(), why);
    EXPECT_THAT(ended.err, HasSubstr("no device cuda: " + why));
  }
  const Value chart = read_json(stem + "-chart.chart.json");
  ASSERT_EQ(chart.find("facets")->size(), 2u) << "times, and times over the fastest";
  std::ifstream script(stem + "-chart.gp");
  const std::string text{std::istreambuf_iterator<char>(script), {}};
  EXPECT_THAT(text, HasSubstr("2x2x16")) << "sizes stand below the axis as they are";
}
#endif

TEST_F(Bench, WritesNothingWhenToldSo) {
  machine();
  const Ended ended =
      testing::run({"bench", "copy", "--sizes", "64k", "--workers", "1", "--samples", "3", "--no-files"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, ::testing::Not(HasSubstr("written")));
}

}  // namespace
}  // namespace sonde

// SPDX-License-Identifier: Apache-2.0
// The same commands by several processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "sonde/engine/report/json.h"
#include "tests/cli/neoclassical.h"
#include "tests/cli/ranks.h"
#include "tests/support/data.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using testing::Ended;
using ::testing::HasSubstr;
using testing::Neoclassical;
using testing::run;

/// A number of the report that several ranks have written.
std::vector<Index> points_per_rank(const std::string& report) {
  const Value written = read_json(report);
  std::vector<Index> points;
  for (const Value& each : written.find("results")->find("points_per_rank")->items()) points.push_back(each.as_whole());
  return points;
}

TEST_F(Neoclassical, SeveralRanksMakeTheDatabaseOfOne) {
  SONDE_NEED_DATA(data);
  const std::string wout = (data / "neoclassical/wout_li383_1.4m.nc").string();
  const auto words = [&](const std::string& name) {
    return std::vector<std::string>{"neoclassical",
                                    "database",
                                    wout,
                                    "-o",
                                    file(name),
                                    "--n-theta",
                                    "9",
                                    "--n-zeta",
                                    "7",
                                    "--n-xi",
                                    "8",
                                    "--rho",
                                    "0.25,0.75",
                                    "--nu-v",
                                    "1e-3,1e-1",
                                    "--er-tilde",
                                    "0,1e-4,1e-3",
                                    "--report",
                                    file("report.json")};
  };
  ASSERT_EQ(run(words("one.h5")).status, 0);
  EXPECT_EQ(points_per_rank(file("report.json")), std::vector<Index>{12});
  for (const int ranks : {2, 4}) {
    SCOPED_TRACE(ranks);
    const Ended ended = testing::run_together(ranks, words("several.h5"));
    ASSERT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("ranks     " + std::to_string(ranks) + ", points "));
    EXPECT_EQ(testing::read_bytes(file("several.h5")), testing::read_bytes(file("one.h5")));
    const std::vector<Index> points = points_per_rank(file("report.json"));
    EXPECT_EQ(points.size(), static_cast<std::size_t>(ranks));
    EXPECT_EQ(std::accumulate(points.begin(), points.end(), Index{0}), 12);
  }
}

TEST_F(Neoclassical, SeveralRanksFindTheScanOfOne) {
  const auto words = [&](const std::string& name) {
    return with_grid({"neoclassical", "scan", "analytic-demo", "--nu-v", "1e-3,1e-2,1e-1,1", "--er-hat", "0,1e-3,1e-2",
                      "-o", file(name)},
                     "5", "7", "6");
  };
  ASSERT_EQ(run(words("one.h5")).status, 0);
  const Ended ended = testing::run_together(2, words("two.h5"));
  ASSERT_EQ(ended.status, 0) << ended.err;
  testing::python(
      "import sys, h5py, numpy as np\n"
      "a, b = (h5py.File(sys.argv[1] + n) for n in ('/one.h5', '/two.h5'))\n"
      "assert a['D11'].shape == (1, 4, 3) and set(a) == set(b)\n"
      "for n in ('D11', 'D31', 'D13', 'D33', 'residual', 'path_code', 'status', 'n_xi_used', 'epsi_hat', 'iota'):\n"
      "    assert np.array_equal(a[n][()], b[n][()]), n\n",
      folder_.path().string());
}

TEST_F(Neoclassical, SeveralRanksWriteTheProfileOfOne) {
  SONDE_NEED_DATA(data);
  const auto words = [&](const std::string& name) {
    return std::vector<std::string>{"neoclassical",
                                    "profile",
                                    (data / "neoclassical/wout_circular_tokamak.nc").string(),
                                    "--rho",
                                    "0.3,0.5,0.7",
                                    "--n-theta",
                                    "9",
                                    "--n-zeta",
                                    "1",
                                    "--n-xi",
                                    "8",
                                    "--energies",
                                    "8",
                                    "--E-r",
                                    "0",
                                    "-o",
                                    file(name)};
  };
  ASSERT_EQ(run(words("one.h5")).status, 0);
  const Ended ended = testing::run_together(2, words("two.h5"));
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(testing::read_bytes(file("two.h5")), testing::read_bytes(file("one.h5")));
}

TEST_F(Neoclassical, SeveralRanksSayAnErrorOnce) {
  const Ended ended = testing::run_together(
      3, {"neoclassical", "scan", "analytic-demo", "--nu-v", "1e-3,-1", "--er-hat", "0", "-o", file("scan.h5")});
  EXPECT_EQ(ended.status, 3) << ended.err;
  const std::size_t first = ended.err.find("error: ");
  ASSERT_NE(first, std::string::npos) << ended.err;
  EXPECT_EQ(ended.err.find("error: ", first + 1), std::string::npos) << ended.err;
  EXPECT_FALSE(fs::exists(file("scan.h5")));
}

TEST_F(Neoclassical, DatabaseOfSeveralRanksGoesOnAfterAKillAndAfterCtrlC) {
  SONDE_NEED_DATA(data);
  const std::string wout = (data / "neoclassical/wout_circular_tokamak.nc").string();
  const auto words = [&](const std::string& name) {
    return std::vector<std::string>{"neoclassical", "database",
                                    wout,           "-o",
                                    file(name),     "--resume",
                                    "--threads",    "1",
                                    "--n-theta",    "21",
                                    "--n-zeta",     "13",
                                    "--n-xi",       "60",
                                    "--rho",        "0.25,0.75",
                                    "--nu-v",       "1e-4,1e-3,1e-2,1e-1",
                                    "--er-tilde",   "0,1e-4,3e-4,1e-3"};
  };
  const std::string part = file("d.h5.part");
  // Ends it, in the way of `how`, once there are `points` of its 32 points.
  const auto broken_off = [&](int points, const std::string& how) {
    return testing::python(
        "import glob, os, signal, subprocess, time\n"
        "job = subprocess.Popen(" +
            testing::words_together(2, words("d.h5")) +
            ", stderr=subprocess.DEVNULL)\n"
            "def points():\n"
            "    return os.path.getsize('" +
            part + "') // 128 if os.path.exists('" + part +
            "') else 0\n"
            "start = points()\n"
            "while points() < start + " +
            std::to_string(points) +
            " and job.poll() is None: time.sleep(0.002)\n"
            "tasks = glob.glob(f'/proc/{job.pid}/task/*/children')\n"
            "ranks = sorted(int(word) for task in tasks for word in open(task).read().split())\n" +
            how + "\nprint(job.wait())\n",
        "");
  };
  EXPECT_EQ(broken_off(4, "os.kill(ranks[-1], signal.SIGKILL)"), "137\n") << "one rank has died";
  EXPECT_EQ(broken_off(4, "for rank in ranks: os.kill(rank, signal.SIGINT)"), "130\n") << "Ctrl-C";
  EXPECT_FALSE(fs::exists(file("d.h5")));
  const Ended ended = testing::run_together(2, words("d.h5"));
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("resuming  "));
  EXPECT_FALSE(fs::exists(part));
  ASSERT_EQ(run(words("whole.h5")).status, 0);
  EXPECT_EQ(testing::read_bytes(file("d.h5")), testing::read_bytes(file("whole.h5")));
}

}  // namespace
}  // namespace sonde

// SPDX-License-Identifier: Apache-2.0
// The neoclassical commands as people use them: files in, numbers, files and pictures out, and what they say when
// wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "sonde/engine/report/json.h"
#include "sonde/instruments/neoclassical/read/test_equilibria.h"
#include "tests/cli/program.h"
#ifdef SONDE_MPIRUN
#include "tests/cli/ranks.h"
#endif
#include "tests/support/data.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::Ended;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::run;

class Neoclassical : public ::testing::Test {
 protected:
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }

  /// `sonde neoclassical ...`.
  static Ended command(std::vector<std::string> words) {
    words.insert(words.begin(), "neoclassical");
    return run(words);
  }
  static Value results(std::vector<std::string> words) {
    words.emplace_back("--json");
    const Ended ended = command(words);
    EXPECT_EQ(ended.status, 0) << ended.err;
    return parse_json(ended.out, "output");
  }
  static std::vector<std::string> with_grid(std::vector<std::string> words, const std::string& theta,
                                            const std::string& zeta, const std::string& xi) {
    for (const auto& [key, value] : {std::pair{"n_theta", theta}, std::pair{"n_zeta", zeta}, std::pair{"n_xi", xi}}) {
      words.emplace_back("--set");
      words.push_back(std::string("grid.") + key + "=" + value);
    }
    return words;
  }
  struct Wrong {
    std::vector<std::string> words;
    int status;
    std::string text;  ///< of the message
  };
  /// The command ends so, and leaves no file `out`.
  static void expect_refused(const Wrong& wrong, const std::string& out) {
    SCOPED_TRACE(wrong.words[0] + " " + wrong.words[1] + ": " + wrong.text);
    const Ended ended = command(wrong.words);
    EXPECT_EQ(ended.status, wrong.status) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(wrong.text));
    EXPECT_FALSE(fs::exists(out));
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(file(name)) << text; }

  testing::TemporaryFolder folder_;
};

TEST_F(Neoclassical, SinglePrecisionGivesTheSameNumbersAndSaysWhatRan) {
  const auto words = [&](const std::string& precision, const std::string& nu_hat) {
    return with_grid({"run", "analytic-demo", "--nu-hat", nu_hat, "--er-hat", "1e-3", "--precision", precision}, "9",
                     "9", "16");
  };
  const Value full = results(words("f64", "1e-2")), single = results(words("f32-refine", "1e-2"));
  EXPECT_EQ(text_at(full, "precision"), "f64");
  EXPECT_EQ(text_at(single, "precision"), "f32-refine");
  EXPECT_GT(number_at(single, "iterations"), 0);
  for (const char* name : {"D11", "D31", "D33"})
    EXPECT_NEAR(number_at(single, name) / number_at(full, name), 1, 1e-8) << name;
  EXPECT_EQ(text_at(results(words("f32-refine", "1e-6")), "precision"), "f64");  // and that it did not suffice
  EXPECT_THAT(command(words("f32-refine", "1e-6")).err, HasSubstr("precision f64"));
  const Ended wrong = command(words("f16", "1e-2"));
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("precision"));
}

// Values of an independent prototype of the skew discretisation.
TEST_F(Neoclassical, RunGivesThePublishedNumbersOfTheDemo) {
  const Value found = results(
      with_grid({"run", "analytic-demo", "--nu-hat", "1e-3", "-o", file("run.nc"), "--plot"}, "17", "25", "32"));
  EXPECT_NEAR(number_at(found, "D11") / 3.7268234285e-3, 1, 1e-8);
  EXPECT_NEAR(number_at(found, "D31") / -2.2237235201e-1, 1, 1e-8);
  EXPECT_NEAR(number_at(found, "D33") / 420.86583356, 1, 1e-8);
  EXPECT_TRUE(fs::exists(file("run.nc")));
  EXPECT_GT(fs::file_size(file("run_b.png")), 1000U);
  EXPECT_EQ(command({"plot", file("run.nc"), "-o", file("b.png")}).status, 0);
}

TEST_F(Neoclassical, ResultsOfEveryFormatAreReadByOthers) {
  for (const char* name : {"r.nc", "r.h5", "r.npz"})
    ASSERT_EQ(command(with_grid({"run", "analytic-demo", "--nu-hat", "1e-2", "--er-hat", "1e-3", "-o", file(name),
                                 "--include-modes"},
                                "5", "7", "6"))
                  .status,
              0);
  testing::python(
      "import sys, h5py, numpy as np\n"
      "d = sys.argv[1]\n"
      "n, h, z = h5py.File(d + '/r.nc'), h5py.File(d + '/r.h5'), np.load(d + '/r.npz')\n"
      "for f in (n, h, z):\n"
      "    assert f['b'].shape == (5, 7) and f['f1_modes'].shape == (3, 5, 7)\n"
      "    assert float(f['D11'][()]) == float(h['D11'][()]) and float(f['nu_hat'][()]) == 1e-2\n"
      "assert h['D11'].attrs['units'] in (b'm^-1 T^-2', 'm^-1 T^-2')\n"
      "import json\n"
      "assert json.loads(str(z['attributes_json']))['D11']['units'] == 'm^-1 T^-2'\n"
      "assert str(z['path']) == 'quasidefinite' and str(z['angles']) == 'boozer'\n"
      "assert n['b'].dims[0][0].name == '/theta'\n"
      "assert abs(float(h['D13'][()]) + float(h['D31'][()])) < 1e-12 * abs(float(h['D31'][()]))\n",
      folder_.path().string());
}

TEST_F(Neoclassical, RunFileSaysEverythingOfARun) {
  write(
      "run.toml",
      "[surface]\nm = [0, 1]\nn = [0, 0]\nb_cos = [1, 0.1]\nnfp = 1\niota = 0.41\npsi_p = 1\nb_theta = 0\nb_zeta = 1\n"
      "[grid]\nn_theta = 7\nn_zeta = 1\nn_xi = 6\n[case]\nnu_hat = 1e-2\n"
      "[output]\npath = \"out.npz\"\nreport = \"out.json\"\n[logging]\nverbose = true\n");
  const Ended ended = command({"run", file("run.toml")});
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_TRUE(fs::exists(file("out.npz")));
  const Value report = read_json(file("out.json"));
  EXPECT_EQ(text_at(report, "command"), "neoclassical run");
  EXPECT_EQ(number_at(*report.find("options")->find("run_file")->find("case"), "nu_hat"), 1e-2);
  EXPECT_EQ(number_at(*report.find("results")->find("case"), "n_xi"), 6);
  EXPECT_GT(number_at(report, "total_s"), 0);
  ASSERT_EQ(report.find("checks")->size(), 2U);
  EXPECT_TRUE(report.find("checks")->items()[0].find("pass")->as_bool());
  const Ended planned = command({"run", file("run.toml"), "--nu-hat", "0.5", "--dry-run"});
  EXPECT_THAT(planned.err, HasSubstr("case.nu_hat          0.5"));
  EXPECT_THAT(planned.err, HasSubstr("grid.n_theta         7"));
  const Ended quiet = command({"run", file("run.toml"), "--set", "logging.verbose=false"});
  EXPECT_GT(ended.err.size(), quiet.err.size()) << "the table of phases";
}

// iota = 3/4: the mode (4, -3) of the grid is constant along the lines.
TEST_F(Neoclassical, WarningsStandInReportAndFile) {
  write("run.toml",
        "[surface]\nm = [0, 1, 1]\nn = [0, 0, 1]\nb_cos = [1, 0.1, 0.05]\nnfp = 1\niota = 0.75\npsi_p = 1\nb_theta = "
        "0\nb_zeta = 1\n[grid]\nn_theta = 9\nn_zeta = 9\nn_xi = 6\n[case]\nnu_hat = 1e-2\n");
  const Ended ended = command({"run", file("run.toml"), "-o", file("run.npz"), "--report", file("report.json")});
  ASSERT_EQ(ended.status, 0) << ended.err;
  const Value message = read_json(file("report.json")).find("messages")->items().at(0);
  EXPECT_EQ(text_at(message, "level"), "warning");
  EXPECT_THAT(text_at(message, "text"), HasSubstr("rational surface"));
  testing::python(
      "import sys, numpy as np\n"
      "f = np.load(sys.argv[1] + '/run.npz')\n"
      "assert 'rational surface' in str(f['warnings']), f['warnings']\n",
      folder_.path().string());
}

TEST_F(Neoclassical, ScanIsDrawnAndHoldsWhatRunFinds) {
  ASSERT_EQ(command(with_grid({"scan", "analytic-demo", "--nu-v", "1e-2,1e-1,1", "--er-hat", "0,1e-3", "-o",
                               file("scan.h5"), "--plot"},
                              "5", "7", "6"))
                .status,
            0);
  EXPECT_TRUE(fs::exists(file("scan.png")));
  const Value one = results(with_grid({"run", "analytic-demo", "--nu-hat", "1e-1", "--er-hat", "1e-3"}, "5", "7", "6"));
  testing::python(
      "import sys, h5py\n"
      "f = h5py.File(sys.argv[1] + '/scan.h5')\n"
      "assert f['D11'].shape == (1, 3, 2) and float(f['D11'][0, 1, 1]) == " +
          to_json(*one.find("D11"), -1) + "\n",
      folder_.path().string());
  EXPECT_EQ(command({"plot", file("scan.h5"), "-o", file("again.pdf")}).status, 0);
}

// The report is written last, beside data of the same stem: neither may take the other's place, now or later.
TEST_F(Neoclassical, ChartsTellTheirFilesAndReplaceNoOther) {
  const Value found = results(
      with_grid({"scan", "analytic-demo", "--nu-v", "1e-1,1", "-o", file("q.nc"), "--plot", "--report", file("q.json")},
                "5", "5", "4"));
  std::vector<std::string> names;
  for (const Value& each : found.find("files")->items()) {
    EXPECT_TRUE(fs::exists(each.as_text()));
    names.push_back(fs::path(each.as_text()).filename().string());
  }
  EXPECT_THAT(names, ::testing::ElementsAre("q.nc", "q.png", "q.pdf", "q.chart.json", "q.gp"));
  ASSERT_EQ(command({"plot", file("q.nc"), "--quantity", "D11,D33", "-o", file("q.svg")}).status, 0);
  EXPECT_EQ(text_at(read_json(file("q.json")), "schema"), "sonde.report/1");
  EXPECT_EQ(read_json(file("q.chart.json")).find("facets")->size(), 2U);
  const Ended wrong = command({"plot", file("q.nc"), "--quantity", "b", "-o", file("b.png")});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("of which D11, D31, D33, onsager can be drawn"));
  EXPECT_FALSE(fs::exists(file("b.png")));
}

TEST_F(Neoclassical, ScansOfAnEquilibriumSayUnitsAndLengths) {
  SONDE_NEED_DATA(data);
  const std::string wout = (data / "neoclassical/wout_circular_tokamak.nc").string();
  ASSERT_EQ(
      command(with_grid({"scan", wout, "--s", "0.25", "--nu-v", "1e-1", "-o", file("scan.h5")}, "9", "1", "6")).status,
      0);
  testing::python(
      "import sys, h5py\n"
      "f = h5py.File(sys.argv[1] + '/scan.h5')\n"
      "text = lambda v: v.decode() if isinstance(v, bytes) else v\n"
      "units = {k: text(f[k].attrs['units']) for k in ('D11', 'D31', 'D13', 'D33', 'nu_v', 'R0', 'a_b', 'psi_a')}\n"
      "assert units == dict(D11='m^-3 T^-2', D31='m^-1 T^-1', D13='m^-1 T^-1', D33='m', nu_v='m^-1', R0='m', a_b='m', "
      "psi_a='T m^2'), units\n"
      "assert text(f['D11'].attrs['radial_label']) == 's' and f['nfp'][()] == 1\n"
      "# A torus of nearly even field: its flux is that through a circle, to the order of the aspect ratio squared.\n"
      "a, R0 = f['a_b'][()], f['R0'][0]\n"
      "assert abs(abs(f['psi_a'][()]) / (f['B0'][0] * a * a / 2) - 1) < (a / R0) ** 2, (f['psi_a'][()], f['B0'][0], "
      "a)\n"
      "assert f['stellarator_symmetric'][()] == 1\n",
      folder_.path().string());
}

TEST_F(Neoclassical, DatabaseIsTheSameByteForByteWithAnyThreads) {
  SONDE_NEED_DATA(data);
  const std::string wout = (data / "neoclassical/wout_circular_tokamak.nc").string();
  const auto build = [&](const std::string& name, std::vector<std::string> more) {
    std::vector<std::string> words = {"database",
                                      wout,
                                      "-o",
                                      file(name),
                                      "--n-theta",
                                      "9",
                                      "--n-zeta",
                                      "1",
                                      "--n-xi",
                                      "8",
                                      "--nu-v",
                                      "1e-3,1e-1",
                                      "--rho-linspace",
                                      "0.25,0.75,2",
                                      "--er-tilde-logspace",
                                      "1e-4,1e-2,3",
                                      "--er-tilde-include-zero"};
    words.insert(words.end(), more.begin(), more.end());
    return results(words);
  };
  EXPECT_EQ(number_at(build("a.h5", {"--threads", "1"}), "points"), 16);
  EXPECT_FALSE(fs::exists(file("a.h5.part")));
  (void)build("b.h5", {"--plot"});
  EXPECT_TRUE(fs::exists(file("b_rho2.png")));
  EXPECT_EQ(testing::read_bytes(file("a.h5")), testing::read_bytes(file("b.h5")));
  // The data sets of the layout, ours beside them, and no time of any kind.
  testing::python(R"(
import sys, h5py
layout = set('''rho nu_v Er_tilde Er Es Er_to_Ertilde drds dr_tildedr dr_tildeds D11 D13 D31 D33 D33_spitzer B00 R00 I G iota
    Fac_MONKES_TO_SFINCS_11 Fac_MONKES_TO_SFINCS_31 Fac_MONKES_TO_SFINCS_33 Fac_REFERENCE_TO_SFINCS_11
    Fac_REFERENCE_TO_SFINCS_31 Fac_REFERENCE_TO_SFINCS_33 Fac_SFINCS_TO_DKES_11 Fac_SFINCS_TO_DKES_31
    Fac_SFINCS_TO_DKES_33 Fac_DKES_TO_D11star Fac_DKES_TO_D31star Fac_DKES_TO_D33star'''.split())
f = h5py.File(sys.argv[1] + '/a.h5')
assert set(f) == layout | {'B0_solver', 'onsager_residual', 'residual', 'n_xi_used'}, sorted(f)
assert all(d.dtype == float for d in f.values())
)",
                  folder_.path().string());
  EXPECT_EQ(command({"plot", file("a.h5"), "--radius", "1", "-o", file("r.png")}).status, 0);
}

#ifdef SONDE_MPIRUN
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
#endif

TEST_F(Neoclassical, FromAnEquilibriumToABootstrapCurrent) {
  SONDE_NEED_DATA(data);
  const std::string wout = (data / "neoclassical/wout_circular_tokamak.nc").string();
  ASSERT_EQ(command({"database", wout, "-o", file("D.h5"), "--n-theta", "15", "--n-zeta", "1", "--n-xi", "30", "--rho",
                     "0.3,0.5,0.7", "--nu-v", "1e-4,1e-3,1e-2,1e-1,1"})
                .status,
            0);
  const Value found = results({"profile", file("D.h5"), "-o", file("profiles.h5"), "--E-r", "0", "--rho", "0.4,0.6"});
  EXPECT_EQ(number_at(found, "radii"), 2);
  EXPECT_TRUE(fs::exists(file("profiles.png")));
  // The plasma current of this file runs against B, and the bootstrap current with it.
  testing::python(
      "import sys, h5py\n"
      "f = h5py.File(sys.argv[1] + '/profiles.h5')\n"
      "assert (f['total_current'][()] < 0).all() and (f['corrected_total_current'][()] < 0).all()\n"
      "assert f['gamma'].shape == (2, 3)\n",
      folder_.path().string());
  write("plasma.toml", "[profiles]\nn0 = 1\nT0 = 3\n");
  EXPECT_EQ(command({"profile", file("D.h5"), "-o", file("p.nc"), "--profiles", file("plasma.toml"), "--rho", "0.5",
                     "--momentum-correction", "none", "--quantity", "ambipolar"})
                .status,
            0);
  const Ended nowhere = command({"profile", file("D.h5"), "-o", file("n.nc"), "--rho", "0.5", "--E-r-lowest", "49e3",
                                 "--E-r-highest", "50e3", "--E-r-points", "3"});
  EXPECT_EQ(nowhere.status, 0) << nowhere.err;
  EXPECT_THAT(nowhere.err, HasSubstr("nothing to draw"));
  EXPECT_FALSE(fs::exists(file("n.png")));
}

TEST_F(Neoclassical, AGuidedSearchFindsTheRootOfTheExhaustiveOne) {
  SONDE_NEED_DATA(data);
  const auto found = [&](const std::string& search) {
    return results({"profile",      (data / "neoclassical/wout_li383_1.4m.nc").string(),
                    "--rho",        "0.5",
                    "--n-theta",    "7",
                    "--n-zeta",     "7",
                    "--n-xi",       "10",
                    "--energies",   "8",
                    "--E-r-points", "40",
                    "--E-r-search", search,
                    "--tol",        "1e-3",
                    "-o",           file(search + ".h5")});
  };
  const Value guided = found("guided"), exhaustive = found("exhaustive");
  EXPECT_EQ(guided.find("roots_of")->as_text(), "corrected");
  EXPECT_GT(number_at(guided, "search_table_points"), 100);
  EXPECT_GT(number_at(guided, "search_fields_solved"), 0);
  EXPECT_EQ(exhaustive.find("search_table_points"), nullptr);
  testing::python(
      "import sys, h5py, numpy as np\n"
      "g, e = (h5py.File(sys.argv[1] + n) for n in ('/guided.h5', '/exhaustive.h5'))\n"
      // A root is found to 1e-6 of a step, 2.6 kV/m.
      "assert np.allclose(g['roots'][()], e['roots'][()], rtol=0, atol=6e-3, equal_nan=True), (g['roots'][()], "
      "e['roots'][()])\n"
      "assert g['search_table_error_L11'].shape == (1, 3) and 'search_table_error_L11' not in e\n",
      folder_.path().string());
}

TEST_F(Neoclassical, BoozerFileOfAnEquilibriumGivesTheSameCoefficients) {
  SONDE_NEED_DATA(data);
  const std::string wout = (data / "neoclassical/wout_circular_tokamak.nc").string();
  EXPECT_LT(number_at(results({"boozer", wout, "-o", file("boozmn.nc")}), "largest_defect"), 1e-3);
  const Value in_vmec = results(with_grid({"run", wout, "--s", "0.53125", "--nu-hat", "1e-2"}, "31", "1", "20"));
  const Value in_boozer =
      results(with_grid({"run", file("boozmn.nc"), "--s", "0.53125", "--nu-hat", "1e-2"}, "31", "1", "20"));
  // D11 does not know the angles; both are converged to about 1e-5 on this grid.
  EXPECT_NEAR(number_at(in_boozer, "D11") / number_at(in_vmec, "D11"), 1, 1e-4);
  EXPECT_EQ(number_at(in_boozer, "D31") > 0, number_at(in_vmec, "D31") > 0);
}

TEST_F(Neoclassical, ConversionsComeBack) {
  ASSERT_EQ(command(with_grid({"run", "analytic-demo", "--nu-hat", "1e-2", "--er-hat", "1e-3", "-o", file("run.nc")},
                              "5", "7", "6"))
                .status,
            0);
  const Value psi = results({"convert", file("run.nc"), "--to", "ntx", "-o", file("psi.nc")});
  for (const char* code : {"dkes", "sfincs", "stars"}) {
    SCOPED_TRACE(code);
    (void)results(
        {"convert", file("run.nc"), "--to", code, "-o", file("there.h5"), "--major-radius", "5.5", "--radius", "0.25"});
    const Value back = results({"convert", file("there.h5"), "--from", code, "--to", "ntx", "-o", file("back.npz")});
    for (const char* name : {"D11", "D31", "D13", "D33", "nu_hat", "e_hat"})
      EXPECT_NEAR(number_at(back, name) / number_at(psi, name), 1, 1e-12) << name;
  }
}

TEST_F(Neoclassical, ConversionSaysWhatItLacks) {
  ASSERT_EQ(
      command(with_grid({"run", "analytic-demo", "--nu-hat", "1e-2", "-o", file("run.nc")}, "5", "7", "6")).status, 0);
  const Ended ended = command({"convert", file("run.nc"), "--to", "stars", "-o", file("stars.nc")});
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("R0 is 0"), HasSubstr("--major-radius")));
  EXPECT_FALSE(fs::exists(file("stars.nc")));
}

TEST_F(Neoclassical, AResultOfAnEquilibriumHasTheLengthsOfAConversion) {
  SONDE_NEED_DATA(data);
  const std::string wout = (data / "neoclassical/wout_circular_tokamak.nc").string();
  ASSERT_EQ(
      command(with_grid({"run", wout, "--s", "0.25", "--nu-hat", "1", "-o", file("run.h5")}, "9", "1", "6")).status, 0);
  EXPECT_GT(number_at(results({"convert", file("run.h5"), "--to", "stars", "-o", file("stars.h5")}), "D11_star"), 0);
  EXPECT_GT(number_at(results({"convert", file("run.h5"), "--to", "dkes", "-o", file("dkes.h5")}), "D11"), 0);
  testing::python(
      "import sys, h5py\n"
      "run, dkes = (h5py.File(sys.argv[1] + '/' + name + '.h5') for name in ('run', 'dkes'))\n"
      "drds = run['a_b'][()] / (2 * 0.5)\n"
      "assert abs(dkes['D11'][()] / (run['D11'][()] * drds ** 2) - 1) < 1e-12\n"
      "assert dkes['D11'].attrs['units'] == b'm^-1 T^-2' or dkes['D11'].attrs['units'] == 'm^-1 T^-2'\n"
      "assert 'normalisation' in dkes\n",
      folder_.path().string());
}

TEST_F(Neoclassical, AFluxThatTheFileLacksCanBeGiven) {
  SONDE_NEED_DATA(data);
  const std::string of = (data / "neoclassical").string() + "/";
  const auto words = [&](const std::string& flag, const std::string& value) {
    return with_grid({"run", of + "boozmn_HSX_QHS_vacuum_ns201.nc", "--s", "0.5", "--nu-hat", "1", flag, value}, "9",
                     "9", "6");
  };
  const Value by_file = results(words("--wout", of + "wout_HSX_QHS_vacuum_ns201.nc"));
  const Value by_number = results(words("--psi-a", "0.42608464"));  // 2.6771688118 / 2 pi
  EXPECT_NEAR(number_at(by_number, "D11") / number_at(by_file, "D11"), 1, 1e-6);
}

TEST_F(Neoclassical, AFlagOfTheRadiusTakesThePlaceOfThatOfTheRunFile) {
  SONDE_NEED_DATA(data);
  const std::string of = (data / "neoclassical").string() + "/";
  const std::string rest = "[grid]\nn_theta = 9\nn_zeta = 9\nn_xi = 6\n[scan]\nnu_v = [1]\n";
  write("list.toml", "[surface]\npath = \"" + of + "wout_li383_1.4m.nc\"\n" + rest + "rho = [0.2, 0.3]\n");
  write("rho.toml", "[surface]\npath = \"" + of + "wout_li383_1.4m.nc\"\nrho = 0.2\n" + rest);
  for (const char* name : {"list.toml", "rho.toml"}) {
    const Value found = results({"scan", file(name), "--s", "0.49", "-o", file("scan.nc")});
    EXPECT_EQ(number_at(found, "points"), 1) << name;
  }
  // 0.3 lies in a gap of the surfaces of this file.
  const Ended snapped =
      command(with_grid({"run", of + "boozmn_li383_1.4m.nc", "--s", "0.3", "--snap", "--nu-hat", "1"}, "9", "9", "6"));
  EXPECT_EQ(snapped.status, 0) << snapped.err;
  EXPECT_THAT(snapped.err, HasSubstr("the nearest surface has s = "));
}

TEST_F(Neoclassical, AFieldThatTheEquilibriumScalesIsInTheFile) {
  SONDE_NEED_DATA(data);
  const std::string wout = (data / "neoclassical/wout_circular_tokamak.nc").string();
  for (const char* field : {"0", "1e-3"})
    ASSERT_EQ(command(with_grid({"run", wout, "--s", "0.25", "--nu-hat", "1", "--epsi-hat", field, "-o",
                                 file(std::string(field) + ".h5")},
                                "9", "1", "6"))
                  .status,
              0);
  testing::python(
      "import sys, h5py\n"
      "assert h5py.File(sys.argv[1] + '/0.h5')['er_hat'][()] == 0\n"
      "assert h5py.File(sys.argv[1] + '/1e-3.h5')['er_hat'][()] > 0\n",
      folder_.path().string());
}

TEST_F(Neoclassical, WithoutSymmetryAndWithAFieldOnsagerIsNotTold) {
  SONDE_NEED_DATA(data);
  const std::string wout = (data / "neoclassical/wout_up_down_asymmetric_tokamak.nc").string();
  const auto said = [&](const std::string& field) {
    return command(with_grid({"run", wout, "--s", "0.25", "--nu-hat", "1", "--epsi-hat", field}, "9", "1", "6")).err;
  };
  EXPECT_THAT(said("0"), HasSubstr("Onsager "));
  EXPECT_THAT(said("1e-3"), AllOf(HasSubstr("D13 is not -D31"), Not(HasSubstr("Onsager "))));
}

TEST_F(Neoclassical, InterpolationOfADatabaseIsComparedWithWhatIsSolved) {
  SONDE_NEED_DATA(data);
  const std::string wout = (data / "neoclassical/wout_circular_tokamak.nc").string();
  const std::vector<std::string> grid = {"--n-theta", "9", "--n-zeta", "1", "--n-xi", "12"};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.end(), grid.begin(), grid.end());
    return words;
  };
  ASSERT_EQ(command(with({"database", wout, "-o", file("D.h5"), "--rho", "0.4,0.5,0.6", "--nu-v",
                          "1e-6,1e-5,1e-4,1e-3,1e-2,1e-1,1,10", "--er-tilde", "0,1e-4", "--tol", "1e-3"}))
                .status,
            0);
  const Value found = results(with({"profile", wout, "--rho", "0.5", "--E-r", "0", "--energies", "16", "--compare",
                                    file("D.h5"), "--tol", "1e-3", "-o", file("p.h5")}));
  EXPECT_GT(number_at(found, "largest_interpolation_error"), 0);
  EXPECT_LT(number_at(found, "largest_interpolation_error"), 0.2);
}

TEST_F(Neoclassical, ConvergenceTellsWhatIsConverged) {
  const Value found =
      results(with_grid({"convergence", "analytic-demo", "--nu-hat", "1", "-o", file("study.png")}, "9", "9", "8"));
  EXPECT_TRUE(found.find("converged")->as_bool());
  EXPECT_LT(number_at(found, "error"), 1e-3);
  EXPECT_TRUE(fs::exists(file("study.png")));
  EXPECT_FALSE(fs::exists(file("study.pdf"))) << "the picture that was asked for, alone";
  const Value kept = results(
      with_grid({"convergence", "analytic-demo", "--nu-hat", "1", "--er-hat", "1e-3", "-o", file("kept.nc"), "--plot"},
                "9", "9", "8"));
  EXPECT_TRUE(fs::exists(file("kept.pdf")));
  EXPECT_NE(number_at(kept, "error"), number_at(found, "error")) << "the field counts";
  ASSERT_EQ(command({"plot", file("kept.nc"), "--quantity", "convergence", "-o", file("again.svg")}).status, 0);
  EXPECT_EQ(read_json(file("again.chart.json")), read_json(file("kept.chart.json")));
  const Ended not_yet = command(
      with_grid({"convergence", "analytic-demo", "--nu-hat", "1e-5", "--steps", "1", "--tol", "1e-8"}, "5", "5", "4"));
  EXPECT_EQ(not_yet.status, 7) << not_yet.err;
}

TEST_F(Neoclassical, WrongInputIsNamedWithItsStatus) {
  SONDE_NEED_DATA(data);
  const std::string of = (data / "neoclassical").string() + "/";
  write("keys.toml", "[surface]\npath = \"analytic-demo\"\n[case]\nnu_hat = 1e-3\nepsi = 1\n");
  write("twice.toml", "[surface]\npath = \"analytic-demo\"\n[case]\nnu_hat = 1e-3\nepsi_hat = 1e-3\ner_hat = 1e-3\n");
  const auto bytes = testing::read_bytes(of + "wout_circular_tokamak.nc");
  testing::write_bytes(file("cut.nc"), {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2)});
  write("before.h5.part", "");
  const std::string out = file("out.nc");
  for (const Wrong& c : std::vector<Wrong>{
           {{"run", "analytic-demo", "--nuhat", "1", "-o", out}, 2, "unknown flag \"--nuhat\""},
           {{"run", "analytic-demo", "--nu-hat", "0", "-o", out}, 3, "nu_hat = 0"},
           {{"run", "analytic-demo", "--nu-hat", "-1e-3", "-o", out}, 3, "nu_hat = -0.001"},
           {{"run", "analytic-demo", "-o", out}, 3, "no nu_hat"},
           {{"run", "analytic-demo", "--nu-hat", "1e-3", "--set", "grid.n_theta=24", "-o", out}, 3, "25"},
           {with_grid({"run", "analytic-demo", "--nu-hat", "1e-3", "-o", out}, "1", "1", "6"), 3, "hold 100 %"},
           {with_grid({"run", "analytic-demo", "--nu-hat", "1e-3", "-o", out}, "9999", "999", "6"), 4,
            "a grid of 9999"},
           {{"run", "analytic-demo", "--nu-hat", "1e-3", "--er-tilde", "1e-3", "-o", out}, 3, "er_tilde needs"},
           {{"run", "analytic-demo", "--nu-hat", "1e-3", "--er-hat", "1", "--epsi-hat", "1", "-o", out}, 2, "twice"},
           {{"run", file("keys.toml"), "-o", out}, 3, "unknown key \"epsi\""},
           {{"run", file("twice.toml"), "-o", out}, 3, "epsi_hat and er_hat"},
           {{"run", file("none.nc"), "--nu-hat", "1", "-o", out}, 3, "none.nc"},
           {{"run", file("cut.nc"), "--s", "0.5", "--nu-hat", "1", "-o", out}, 3, "cut.nc"},
           {{"run", of + "wout_circular_tokamak.nc", "--nu-hat", "1", "-o", out}, 3, "rho"},
           {{"run", of + "wout_circular_tokamak.nc", "--s", "1.5", "--nu-hat", "1", "-o", out}, 2, "--s"},
           {{"run", of + "boozmn_HSX_QHS_vacuum_ns201.nc", "--s", "0.5", "--nu-hat", "1", "-o", out}, 3, "--psi-a"},
           {{"run", "analytic-demo", "--nu-hat", "1", "-o", file("out.txt")}, 2, ".nc, .h5 or .npz"},
           {{"run", "analytic-demo", "--nu-hat", "1", "-o", file("no/where.nc")}, 5, "no"},
           {{"run", "analytic-demo", "--nu-hat", "1e-3", "--memory", "1M", "-o", out}, 4, "a grid of 25 x 25"},
           {{"run", "analytic-demo", "--nu-hat", "1e-3", "--memory", "6M", "-o", out}, 4, "one solve"},
           {{"run", "analytic-demo", "--nu-hat", "1e-3", "--set", "solver.path=spd", "--er-hat", "1", "-o", out},
            3,
            "spd"},
           {{"run", "analytic-demo", "--nu-hat", "1", "--device", "cuda", "-o", out}, 6, "cuda"},
           {{"scan", "analytic-demo", "--nu-v", "1", "--device", "cuda:7", "-o", out}, 6, "cuda:7"},
           {{"scan", "analytic-demo", "--nu-v", "1", "--set", "solver.device=cuda:7", "-o", out}, 6, "cuda:7"},
           {{"scan", "analytic-demo", "-o", out}, 3, "no nu_v"},
           {{"scan", "analytic-demo", "--nu-v", "1", "--er-hat", "1", "--epsi-hat", "1", "-o", out}, 2, "twice"},
           {{"scan", "analytic-demo", "--nu-v", "1,a", "-o", out}, 2, "nu_v \"1,a\""},
           {{"scan", "analytic-demo", "--nu-v", "1", "--rho", "0.5", "-o", out}, 3, "no radius"},
           {{"database", of + "wout_circular_tokamak.nc"}, 2, "--output"},
           {{"database", of + "wout_circular_tokamak.nc", "-o", file("d.txt")}, 2, ".h5"},
           {{"database", of + "wout_circular_tokamak.nc", "-o", file("before.h5")}, 2, "--resume"},
           {{"database", of + "wout_circular_tokamak.nc", "-o", file("d.h5"), "--device", "cuda:7"}, 6, "cuda:7"},
           {{"database", of + "wout_circular_tokamak.nc", "-o", file("d.h5"), "--rho", "1.5"}, 3, "rho"},
           {{"database", of + "wout_circular_tokamak.nc", "-o", file("d.h5"), "--surface-backend", "boozer"},
            2,
            "--booz"},
           {{"scan", "analytic-demo", "--nu-v", "1", "--rho", "0.5", "--s", "0.5", "-o", out}, 2, "--s and --rho"},
           {{"database", of + "wout_li383_1.4m.nc", "--booz", of + "boozmn_LandremanSenguptaPlunk_section5p3.nc",
             "--rho", "0.1021", "-o", file("d.h5")},
            3,
            "is not of the equilibrium"},
           {{"boozer", of + "boozmn_li383_1.4m.nc", "-o", out}, 3, "boozmn_li383"},
           {{"boozer", of + "wout_li383_1.4m.nc", "--s", "0.5,2", "-o", out}, 3, "s = 2 is outside"},
           {{"boozer", of + "wout_li383_1.4m.nc", "-o", file("bz.txt")}, 2, "as .nc"},
           {{"profile", file("none.h5"), "-o", out}, 3, "none.h5"},
           {{"convert", file("cut.nc"), "-o", out}, 3, "cut.nc"},
           {{"plot", file("cut.nc"), "-o", file("out.jpg")}, 2, ".png, .pdf or .svg"},
       })
    expect_refused(c, out);
}

// What the reader finds inconsistent comes to the user with its field; nothing is written.
TEST_F(Neoclassical, WrongFieldsOfAFileAreNamed) {
  using Values = std::map<std::string, std::vector<double>>;
  struct Field {
    const char* text;
    std::function<void(Values&)> change;
  };
  const std::string wout = file("wout.nc"), out = file("out.nc");
  for (const Field& field : std::vector<Field>{
           {"there is no variable bsupvmnc", [](Values& v) { v.erase("bsupvmnc"); }},
           {"bmnc is nan", [](Values& v) { v["bmnc"][7] = std::nan(""); }},
           {"phi is 0 at the edge", [](Values& v) { v["phi"].assign(5, 0); }},
           {"psi_a = -0.31831",
            [](Values& v) {
              v["phi"] = {0, -0.5, -1, -1.5, -2};
            }},
           {"xn_nyq holds 4",
            [](Values& v) {
              v["xn_nyq"] = {0, 0, 4};
            }},
       }) {
    testing::write_small_wout(wout, field.change);
    expect_refused({{"run", wout, "--s", "0.5", "--nu-hat", "1", "-o", out}, 3, field.text}, out);
    expect_refused({{"database", wout, "-o", file("D.h5")}, 3, field.text}, file("D.h5"));
  }
  SONDE_NEED_DATA(data);
  // Between the surfaces of a file with gaps the ones that it has are listed.
  expect_refused(
      {{"run", (data / "neoclassical/boozmn_li383_1.4m.nc").string(), "--s", "0.3", "--nu-hat", "1", "-o", out},
       3,
       "jlist of 0.05 and more; its surfaces have s = 0.0104167"},
      out);
}

TEST_F(Neoclassical, WhatIsNotSolvedIsNoNumber) {
  const std::string out = file("out.nc");
  expect_refused(
      {with_grid({"run", "analytic-demo", "--nu-hat", "1e-9", "--set", "solver.path=dense", "-o", out}, "9", "9", "20"),
       7, "above the tolerance"},
      out);
  // iota 10 = 4 * 3: the mode (10,-3) of 21 x 7 points is constant along the field.
  write("resonant.toml",
        "[surface]\nm = [0, 1]\nn = [0, -1]\nb_cos = [1, 0.1]\nnfp = 4\niota = 1.2\npsi_p = 1\nb_theta = 0.1\n"
        "b_zeta = 1.5\n[grid]\nn_theta = 21\nn_zeta = 7\nn_xi = 6\ndiscretisation = \"collocation\"\n"
        "[case]\nnu_hat = 2e-2\n");
  expect_refused({{"run", file("resonant.toml"), "-o", out}, 7, "resonant (10,-3)"}, out);
  EXPECT_EQ(command({"run", file("resonant.toml"), "--set", "grid.discretisation=skew", "-o", out}).status, 0);
  // A scan keeps its other points, and says with its status that some are missing.
  EXPECT_EQ(command({"scan", file("resonant.toml"), "--nu-v", "1e-2,1e-1", "-o", file("scan.h5")}).status, 7);
  testing::python(
      "import sys, h5py, numpy as np\n"
      "f = h5py.File(sys.argv[1] + '/scan.h5')\n"
      "assert (f['status'][()] == 3).all() and np.isnan(f['D11'][()]).all()\n",
      folder_.path().string());
}

TEST_F(Neoclassical, LittleMemoryMakesSmallerBatchesOfTheSameNumbers) {
  const auto scanned = [&](const std::string& memory, const std::string& output) {
    const Value found = read_json([&] {
      const std::string report = file("report.json");
      const Ended ended = command(
          with_grid({"scan", "analytic-demo", "--nu-v", "1e-3,1e-2,1e-1,1,2,3,4,5", "--threads", "8", "--memory",
                     memory, "--set", "grid.discretisation=collocation", "--report", report, "-o", file(output)},
                    "17", "17", "4"));
      EXPECT_EQ(ended.status, 0) << ended.err;
      return report;
    }());
    for (const Value& choice : found.find("choices")->items())
      if (text_at(choice, "what") == "at a time") return number_at(choice, "value");
    return 0.0;
  };
  // Eight matrices of 289 x 289 a point: 5.4 MB.
  EXPECT_EQ(scanned("1G", "much.h5"), 8);
  EXPECT_EQ(scanned("20M", "little.h5"), 3);
  testing::python(
      "import sys, h5py\n"
      "a, b = (h5py.File(sys.argv[1] + name) for name in ('/much.h5', '/little.h5'))\n"
      "assert all((a[k][()] == b[k][()]).all() for k in ('D11', 'D31', 'D13', 'D33'))\n",
      folder_.path().string());
}

}  // namespace
}  // namespace sonde

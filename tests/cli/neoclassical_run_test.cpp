// SPDX-License-Identifier: Apache-2.0
// One surface as a user solves it, refines it, or turns it to Boozer angles: the numbers, the files and what is said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "sonde/engine/report/json.h"
#include "sonde/instruments/neoclassical/scan/crossover_map.h"
#include "tests/cli/neoclassical.h"
#include "tests/support/data.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
namespace nc = neoclassical;
using ::testing::AllOf;
using testing::Ended;
using ::testing::HasSubstr;
using testing::Neoclassical;
using ::testing::Not;

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

TEST_F(Neoclassical, PrecisionAutoIsThatOfTheMapOfThisMachine) {
  setenv("XDG_CACHE_HOME", file("cache").c_str(), 1);
  const std::string map = nc::crossover_map_path();
  struct Made {
    Value results;
    std::string compute_path, err;
  };
  const auto run_with = [&](const std::string& precision) {
    const Ended ended = command(with_grid({"run", "analytic-demo", "--nu-hat", "1e-2", "--er-hat", "1e-3",
                                           "--precision", precision, "--json", "--report", file("report.json")},
                                          "9", "9", "16"));
    EXPECT_EQ(ended.status, 0) << ended.err;
    Made made{parse_json(ended.out, "output"), "", ended.err};
    const Value report = read_json(file("report.json"));
    for (const Value& choice : report.find("choices")->items())
      if (text_at(choice, "what") == "compute path")
        made.compute_path = text_at(choice, "value") + ", " + text_at(choice, "because");
    return made;
  };
  EXPECT_EQ(run_with("auto").compute_path,
            "CPU, f64, by rule, no map of this machine: `sonde bench neoclassical-crossover` makes one");
  nc::keep_crossover_map(
      std::vector<nc::MeasuredScan>{{.unknowns = 81, .points = 8, .threads = 2, .seconds = {2.0, 1.0, {}}}}, map);
  const Made chosen = run_with("auto"), again = run_with("auto"), asked = run_with("f32-refine");
  EXPECT_EQ(chosen.compute_path, "CPU, f32-refine, by the map of this machine, " + map +
                                     ": 8 points of 81 unknowns on 2 threads took: CPU, f64 2 s, CPU, f32-refine 1 s");
  EXPECT_EQ(asked.compute_path, "") << "nothing is left open";
  EXPECT_EQ(text_at(chosen.results, "precision"), "f32-refine");
  for (const char* name : {"D11", "D31", "D33"}) {
    EXPECT_EQ(number_at(chosen.results, name), number_at(again.results, name)) << name;
    EXPECT_EQ(number_at(chosen.results, name), number_at(asked.results, name)) << name;
  }
  std::ofstream(map) << "{";
  const Made damaged = run_with("auto");
  EXPECT_EQ(text_at(damaged.results, "precision"), "f64");
  EXPECT_THAT(damaged.err, HasSubstr("note      " + map + ": is damaged and not used"));
  unsetenv("XDG_CACHE_HOME");
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

TEST_F(Neoclassical, TheModesThatASearchFindsAreSaidAndKeptWithTheirError) {
  const std::vector<std::string> grid = {"--n-theta", "5", "--n-zeta", "7", "--n-xi", "8", "--adapt-n-xi", "1e-2"};
  std::vector<std::string> one = {"run", "analytic-demo", "--nu-hat", "1e-2", "-o", file("run.nc")},
                           two = {"scan", "analytic-demo", "--nu-v", "1e-2,1", "-o", file("scan.nc")};
  one.insert(one.end(), grid.begin(), grid.end());
  two.insert(two.end(), grid.begin(), grid.end());
  const Value found = results(one);
  EXPECT_EQ(number_at(*found.find("case"), "n_theta"), 5);
  EXPECT_LT(number_at(found, "error_of_n_xi"), 1e-2);
  EXPECT_THAT(command(one).err, HasSubstr("which leaves an error of"));
  EXPECT_THAT(command(two).err, HasSubstr("which leave errors of up to"));
  testing::python(
      "import sys, h5py\n"
      "one, two = (h5py.File(sys.argv[1] + name) for name in ('/run.nc', '/scan.nc'))\n"
      "assert 0 < float(one['error_of_n_xi'][()]) < 1e-2\n"
      "assert float(two['error_of_n_xi'][0, 0, 0]) == float(one['error_of_n_xi'][()])\n"
      "assert two['n_xi_used'][0, 0, 0] == one['n_xi'][()] > two['n_xi_used'][0, 1, 0]\n",
      folder_.path().string());
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

}  // namespace
}  // namespace sonde

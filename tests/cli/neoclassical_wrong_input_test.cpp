// SPDX-License-Identifier: Apache-2.0
// What the commands say of wrong input: its name, its status, and nothing written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sonde/instruments/neoclassical/read/test_equilibria.h"
#include "tests/cli/neoclassical.h"
#include "tests/support/data.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

using testing::Neoclassical;

TEST_F(Neoclassical, WrongInputIsNamedWithItsStatus) {
  SONDE_NEED_DATA(data);
  const std::string of = (data / "neoclassical").string() + "/";
  write("keys.toml", "[surface]\npath = \"analytic-demo\"\n[case]\nnu_hat = 1e-3\nepsi_ht = 1\n");
  write("twice.toml", "[surface]\npath = \"analytic-demo\"\n[case]\nnu_hat = 1e-3\nepsi_hat = 1e-3\ner_hat = 1e-3\n");
  write("text.toml", "[surface]\npath = \"analytic-demo\"\n[scan]\nnu_v = \"1,a\"\n");
  write("broken.toml", "[surface]\npath = \n");
  write("misplaced.toml", "[case]\nepsi = 0\nnu = 1\ner = 1\nn_thet = 9\n");
  write("limits.toml", "[grid]\nn_xi = 1\n");
  write("flags.toml", "nu_hatt = 1\n");
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
           {{"run", file("keys.toml"), "-o", out}, 3, "keys.toml line 5; did you mean \"epsi_hat\"?"},
           {{"run", file("text.toml"), "-o", out}, 3, "nu_v in [scan] of " + file("text.toml") + " line 4 \"1,a\""},
           {{"run", file("broken.toml"), "-o", out}, 3, "broken.toml line 2"},
           {{"run", file("limits.toml"), "-o", out}, 3, "limits.toml line 2: 1 is below the smallest allowed value"},
           {{"run", "analytic-demo", "--config", file("flags.toml"), "-o", out}, 3, "flags.toml line 1"},
           {{"run", "analytic-demo", "--nu-hat", "1", "--set", "grid.n_xj=9", "-o", out}, 2, "did you mean \"n_xi\""},
           {{"run", file("misplaced.toml"), "-o", out}, 3, "unknown key \"epsi\" in [case] of"},
           {{"run", file("misplaced.toml"), "-o", out}, 3, "did you mean \"epsi_hat\""},
           {{"run", file("misplaced.toml"), "-o", out}, 3, "did you mean \"nu_hat\""},
           {{"run", file("misplaced.toml"), "-o", out}, 3, "did you mean \"er_hat\" or \"er_tilde\""},
           {{"run", file("misplaced.toml"), "-o", out}, 3, "[grid] has \"n_theta\""},
           {{"run", "analytic-demo", "--nu-hat", "1", "--set", "scan.nu_v=1;2", "-o", out}, 2, "scan.nu_v \"1;2\""},
           {{"run", "analytic-demo", "--nu-hat", "1", "--set", "scan.nu_v=1", "-o", out}, 2, "scan.nu_v has no effect"},
           {{"scan", "analytic-demo", "--nu-v", "1", "--set", "case.nu_hat=1", "-o", out},
            2,
            "case.nu_hat has no effect"},
           {{"convergence", "analytic-demo", "--nu-hat", "1", "--set", "solver.adapt_n_xi=1e-3", "-o", out},
            2,
            "solver.adapt_n_xi has no"},
           {{"run", file("twice.toml"), "-o", out}, 3, "epsi_hat and er_hat"},
           {{"run", file("none.nc"), "--nu-hat", "1", "-o", out}, 3, "none.nc"},
           {{"run", file("cut.nc"), "--s", "0.5", "--nu-hat", "1", "-o", out}, 3, "cut.nc"},
           {{"run", of + "wout_circular_tokamak.nc", "--nu-hat", "1", "-o", out}, 3, "rho"},
           {{"run", of + "wout_circular_tokamak.nc", "--s", "1.5", "--nu-hat", "1", "-o", out},
            2,
            "--s: 1.5 is above the largest allowed value, 1"},
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
           {{"scan", "analytic-demo", "--nu-v", "1,a", "-o", out}, 2, "--nu-v \"1,a\""},
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
    expect_refused(c);
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
    expect_refused({{"run", wout, "--s", "0.5", "--nu-hat", "1", "-o", out}, 3, field.text});
    expect_refused({{"database", wout, "-o", file("D.h5")}, 3, field.text});
  }
  SONDE_NEED_DATA(data);
  // Between the surfaces of a file with gaps the ones that it has are listed.
  expect_refused(
      {{"run", (data / "neoclassical/boozmn_li383_1.4m.nc").string(), "--s", "0.3", "--nu-hat", "1", "-o", out},
       3,
       "jlist of 0.05 and more; its surfaces have s = 0.0104167"});
}

TEST_F(Neoclassical, WhatIsNotSolvedIsNoNumber) {
  const std::string out = file("out.nc");
  expect_refused(
      {with_grid({"run", "analytic-demo", "--nu-hat", "1e-9", "--set", "solver.path=dense", "-o", out}, "9", "9", "20"),
       7, "above the tolerance"});
  // iota 10 = 4 * 3: the mode (10,-3) of 21 x 7 points is constant along the field.
  write("resonant.toml",
        "[surface]\nm = [0, 1]\nn = [0, -1]\nb_cos = [1, 0.1]\nnfp = 4\niota = 1.2\npsi_p = 1\nb_theta = 0.1\n"
        "b_zeta = 1.5\n[grid]\nn_theta = 21\nn_zeta = 7\nn_xi = 6\ndiscretisation = \"collocation\"\n"
        "[case]\nnu_hat = 2e-2\n");
  expect_refused({{"run", file("resonant.toml"), "-o", out}, 7, "resonant (10,-3)"});
  EXPECT_EQ(command({"run", file("resonant.toml"), "--set", "grid.discretisation=skew", "-o", out}).status, 0);
  // A scan keeps its other points, and says with its status that some are missing.
  EXPECT_EQ(command({"scan", file("resonant.toml"), "--nu-v", "1e-2,1e-1", "-o", file("scan.h5")}).status, 7);
  testing::python(
      "import sys, h5py, numpy as np\n"
      "f = h5py.File(sys.argv[1] + '/scan.h5')\n"
      "assert (f['status'][()] == 3).all() and np.isnan(f['D11'][()]).all()\n",
      folder_.path().string());
}

}  // namespace
}  // namespace sonde

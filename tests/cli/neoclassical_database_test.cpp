// SPDX-License-Identifier: Apache-2.0
// From an equilibrium to a database, and from there to a plasma.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "sonde/engine/report/json.h"
#include "tests/cli/neoclassical.h"
#include "tests/support/data.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::Ended;
using ::testing::HasSubstr;
using testing::Neoclassical;

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
assert set(f) == layout | {'B0_solver', 'signgs', 'onsager_residual', 'residual', 'n_xi_used'}, sorted(f)
assert all(d.dtype == float for d in f.values())
)",
                  folder_.path().string());
  EXPECT_EQ(command({"plot", file("a.h5"), "--radius", "1", "-o", file("r.png")}).status, 0);
}

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
  EXPECT_EQ(command({"plot", file("profiles.h5"), "-o", file("again.png")}).status, 0);
  EXPECT_EQ(testing::read_bytes(file("again.chart.json")), testing::read_bytes(file("profiles.chart.json")));
  EXPECT_EQ(command({"plot", file("profiles.h5"), "--quantity", "D11", "-o", file("again.png")}).status, 2);
  // The plasma current of this file runs against B, and the bootstrap current with it.
  testing::python(
      "import sys, h5py\n"
      "f = h5py.File(sys.argv[1] + '/profiles.h5')\n"
      "assert (f['total_current'][()] < 0).all() and (f['corrected_total_current'][()] < 0).all()\n"
      "assert f['gamma'].shape == (2, 3)\n"
      "settings = f['settings'][()].decode()\n"
      "assert 'sonine_order = 2' in settings and 'energies = 64' in settings and '[grid]' not in settings\n"
      "assert (abs(f['sonine_change'][()]) < abs(f['corrected_total_current'][()])).all()\n",
      folder_.path().string());
  // The plan tells what would be solved, before any work.
  const Ended planned = command({"database", wout, "-o", file("P.h5"), "--n-theta", "15", "--n-zeta", "1", "--n-xi",
                                 "8", "--nu-v", "0.25,0.5", "--er-tilde", "0,1e-3", "--dry-run"});
  EXPECT_THAT(planned.err, AllOf(HasSubstr("nu_v: [0.25,0.5] (as given)"), HasSubstr("rho: [0.12247,0.25,"),
                                 HasSubstr("path without field: \"spd\""),
                                 HasSubstr("path with field: \"quasidefinite\""), HasSubstr("file: \"")));
  EXPECT_FALSE(fs::exists(file("P.h5")));
  // Without stellarator symmetry the field is not searched by tables, whatever is asked for.
  const Ended searched =
      command({"profile", (data / "neoclassical/wout_up_down_asymmetric_tokamak.nc").string(), "-o", file("u.h5"),
               "--n-theta", "15", "--n-zeta", "1", "--n-xi", "8", "--rho", "0.5", "--dry-run"});
  EXPECT_EQ(searched.status, 0) << searched.err;
  EXPECT_THAT(searched.err, AllOf(HasSubstr("solves at 300 fields"), HasSubstr("without stellarator symmetry")));
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

TEST_F(Neoclassical, TablesWithoutSymmetrySayWhereOnsagerHolds) {
  SONDE_NEED_DATA(data);
  const std::string wout = (data / "neoclassical/wout_up_down_asymmetric_tokamak.nc").string();
  const std::vector<std::string> axes = {"--rho", "0.5", "--nu-v", "1", "--er-tilde", "0,1e-2"};
  std::vector<std::string> scan = with_grid({"scan", wout, "-o", file("scan.h5")}, "9", "1", "6"),
                           database = {"database", wout,       "-o", file("D.h5"), "--n-theta",
                                       "9",        "--n-zeta", "1",  "--n-xi",     "6"};
  for (std::vector<std::string>* words : {&scan, &database}) {
    words->insert(words->end(), axes.begin(), axes.end());
    words->emplace_back("--json");
    const Ended ended = command(*words);
    ASSERT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("D13 = -D31 holds only without a field"));
    EXPECT_FALSE(parse_json(ended.out, "output").find("stellarator_symmetric")->as_bool());
  }
  testing::python(
      "import sys, h5py\n"
      "text = lambda v: v if isinstance(v, str) else v.decode()\n"
      "d, s = (h5py.File(sys.argv[1] + n) for n in ('/D.h5', '/scan.h5'))\n"
      "assert d.attrs['stellarator_symmetric'] == 0 and 'says nothing' in text(d.attrs['comment'])\n"
      "assert s['stellarator_symmetric'][()] == 0 and 'says nothing' in text(s['onsager_residual'].attrs['comment'])\n"
      "assert s['onsager_residual'][0, 0, 0] < 1e-9 < s['onsager_residual'][0, 0, 1]\n",
      folder_.path().string());
}

}  // namespace
}  // namespace sonde

// SPDX-License-Identifier: Apache-2.0
// Results in the normalisations of other programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "sonde/engine/report/json.h"
#include "tests/cli/neoclassical.h"
#include "tests/support/data.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::Ended;
using ::testing::HasSubstr;
using testing::Neoclassical;

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

TEST_F(Neoclassical, ScansAndDatabasesAreConvertedWhole) {
  SONDE_NEED_DATA(data);
  const std::string wout = (data / "neoclassical/wout_circular_tokamak.nc").string();
  const std::vector<std::string> axes = {"--rho", "0.4,0.6", "--nu-v", "1e-2,1e-1", "--er-tilde", "0,1e-4,1e-3"};
  std::vector<std::string> scan = with_grid({"scan", wout, "-o", file("scan.nc")}, "9", "1", "6"),
                           database = {"database", wout,       "-o", file("D.h5"), "--n-theta",
                                       "9",        "--n-zeta", "1",  "--n-xi",     "6"};
  for (std::vector<std::string>* words : {&scan, &database}) {
    words->insert(words->end(), axes.begin(), axes.end());
    ASSERT_EQ(command(*words).status, 0);
  }
  ASSERT_EQ(command({"convert", file("scan.nc"), "--to", "dkes", "-o", file("scan_dkes.nc")}).status, 0);
  ASSERT_EQ(command({"convert", file("D.h5"), "--to", "dkes", "-o", file("D_dkes.h5")}).status, 0);
  const Value stars = results({"convert", file("D.h5"), "--to", "stars", "-o", file("D_stars.npz")});
  EXPECT_EQ(stars.find("D11_star")->size(), 2U);
  EXPECT_EQ(stars.find("D11_star")->items()[0].size(), 2U);
  ASSERT_EQ(
      command({"convert", file("D_stars.npz"), "--from", "stars", "--to", "dkes", "-o", file("again_dkes.h5")}).status,
      0);
  ASSERT_EQ(command({"convert", file("scan.nc"), "--to", "sfincs", "-o", file("sfincs.h5")}).status, 0);
  testing::python(
      "import sys, h5py, numpy as np\n"
      "a, b, c, s = (h5py.File(sys.argv[1] + n) for n in ('/scan_dkes.nc', '/D_dkes.h5', '/again_dkes.h5', "
      "'/sfincs.h5'))\n"
      "text = lambda v: v if isinstance(v, str) else v.decode()\n"
      "for name, shape in dict(D11=(2, 2, 3), D31=(2, 2, 3), D13=(2, 2, 3), D33=(2, 2, 3), nu_hat=(2, 2), "
      "er_hat=(2, 3)).items():\n"
      "    assert a[name].shape == b[name].shape == shape, name\n"
      "    np.testing.assert_allclose(a[name], b[name], rtol=1e-10, err_msg=name)\n"
      "    np.testing.assert_allclose(b[name], c[name], rtol=1e-12, err_msg=name)\n"
      "    assert text(b[name].attrs['normalisation']) == 'dkes'\n"
      "assert text(b['D11'].attrs['units']) == 'm^-1 T^-2' and text(b['r'].attrs['units']) == 'm'\n"
      "assert s['M11'].shape == (2, 2, 3) and s['nu_prime'].shape == (2, 2) and s['e_star'].shape == (2, 3)\n"
      "f = h5py.File(sys.argv[1] + '/D.h5', 'a'); f['D31'][0, 0, 0] = np.nan\n",
      folder_.path().string());
  expect_refused({{"convert", file("D.h5"), "--to", "dkes", "-o", file("out.h5")}, 3, "D31 is nan at rho = 0.4"});
}

}  // namespace
}  // namespace sonde

// SPDX-License-Identifier: Apache-2.0
// Results in the normalisations of other programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
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

TEST_F(Neoclassical, SignsAndSizesAreThoseThatSfincsPrints) {
  // The regression case monoenergetic_geometryScheme1 of SFINCS version 3: B = 1 + eps_t cos(theta) + eps_h cos(2 theta
  // - 10 zeta), nuPrime = 1.196132e-3, 27 x 29 x 70. Its tests.py has the four numbers.
  std::ofstream(file("scheme1.toml")) << R"([surface]
type = "analytic"
m = [0, 1, 2]
n = [0, 0, -1]
b_cos = [1.0, -0.07053, 0.05067]
nfp = 10
iota = 0.4542
psi_p = 1.0
b_theta = 0.0
b_zeta = 3.7481
[grid]
n_theta = 27
n_zeta = 29
n_xi = 70
[case]
nu_hat = 2.668019e-4
)";
  ASSERT_EQ(command({"run", file("scheme1.toml"), "-o", file("scheme1.nc")}).status, 0);
  const Value made = results({"convert", file("scheme1.nc"), "--to", "sfincs", "-o", file("sfincs.nc")});
  EXPECT_NEAR(number_at(made, "nu_prime"), 1.196132e-3, 1e-8);
  // SFINCS at this resolution is 3.5 % from the converged D11 and within 1 % of the others.
  EXPECT_NEAR(number_at(made, "M11") / -0.0919181, 1, 0.05);
  EXPECT_NEAR(number_at(made, "M12") / -1.08109, 1, 0.02);
  EXPECT_NEAR(number_at(made, "M21") / -1.07986, 1, 0.02);
  EXPECT_NEAR(number_at(made, "M22") / 440.285, 1, 0.02);
}

TEST_F(Neoclassical, LeftHandedAnglesHaveTheSignsThatSfincsPrints) {
  SONDE_NEED_DATA(data);
  // monoenergetic_geometryScheme11 of SFINCS: W7-X standard configuration at r/a = 0.5, nuPrime = 1, EStar = 0.2, from
  // another equilibrium of that configuration, whose harmonics differ by up to 8 % and D11, quadratic in them, by twice
  // that.
  ASSERT_EQ(command({"run", (data / "neoclassical/w7x-sc1.bc").string(), "--s", "0.25", "--snap", "--n-theta", "25",
                     "--n-zeta", "45", "--n-xi", "20", "--nu-hat", "0.1443898", "--epsi-hat", "-0.01156852", "-o",
                     file("w7x.nc")})
                .status,
            0);
  const Value made = results({"convert", file("w7x.nc"), "--to", "sfincs", "-o", file("sfincs.nc")});
  EXPECT_NEAR(number_at(made, "nu_prime"), 1, 1e-6);
  EXPECT_NEAR(number_at(made, "e_star"), 0.2, 1e-6);
  EXPECT_NEAR(number_at(made, "M11") / -2.84704e-3, 1, 0.16);
  EXPECT_NEAR(number_at(made, "M12") / -1.07315e-3, 1, 0.16);
  EXPECT_NEAR(number_at(made, "M21") / -1.07288e-3, 1, 0.16);
  EXPECT_NEAR(number_at(made, "M22") / 0.885061, 1, 0.01);
}

TEST_F(Neoclassical, AResultOfSfincsIsRead) {
  testing::python(
      "import sys, h5py, numpy as np\n"
      "f = h5py.File(sys.argv[1] + '/sfincsOutput.h5', 'w')\n"
      "f['transportMatrix'] = np.array([[-0.0919181, -1.07986], [-1.08109, 440.285]])\n"
      "f['RHSMode'] = np.int32(3)\n"
      "for name, value in dict(nuPrime=1.196132e-3, EStar=0, GHat=3.7481, IHat=0, B0OverBBar=1, iota=0.4542).items():\n"
      "    f[name] = float(value)\n"
      "f['input.namelist'] = '&general RHSMode = 3 /'\n",
      folder_.path().string());
  const Value made = results({"convert", file("sfincsOutput.h5"), "--to", "ntx", "-o", file("ntx.nc")});
  EXPECT_NEAR(number_at(made, "D11"), 0.0919181 * std::sqrt(std::numbers::pi) * 3.7481 / 8, 1e-9);
  EXPECT_NEAR(number_at(made, "nu_hat"), 1e-3 / 3.7481, 1e-9);
  const Value back = results({"convert", file("ntx.nc"), "--to", "sfincs", "-o", file("back.nc")});
  EXPECT_NEAR(number_at(back, "M12"), -1.08109, 1e-9);
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

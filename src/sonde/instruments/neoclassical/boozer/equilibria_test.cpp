// SPDX-License-Identifier: Apache-2.0
// Coefficients of real equilibria in VMEC's and in Boozer's angles: the same physics, so the same numbers and signs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "sonde/instruments/neoclassical/boozer/transform.h"
#include "sonde/instruments/neoclassical/read/bc.h"
#include "sonde/instruments/neoclassical/read/boozmn.h"
#include "sonde/instruments/neoclassical/read/dkes.h"
#include "sonde/instruments/neoclassical/read/equilibrium.h"
#include "sonde/instruments/neoclassical/solve/plan.h"
#include "tests/support/data.h"
#include "tests/support/files.h"

namespace sonde::neoclassical {
namespace {

struct Solved {
  Coefficients made;
  double b0 = 0;
};

Solved solved(const Surface& surface, const GridSpec& grid, const Case& at) {
  return {Plan::prepare(surface, grid).solve(at), surface.reference_field()};
}

Surface surface_of(const std::filesystem::path& data, const char* name, double s) {
  SurfaceOptions options;
  options.path = (data / "neoclassical" / name).string();
  options.s = s;
  return read_surface(options).surface;
}

/// D31 is per B0 and D33 per B0^2, each of its own angles.
void expect_same_physics(const Solved& a, const Solved& b, double tolerance) {
  EXPECT_NEAR(a.made.D11 / b.made.D11, 1, tolerance);
  EXPECT_NEAR(a.made.D31 * a.b0 / (b.made.D31 * b.b0), 1, tolerance);
  EXPECT_NEAR(a.made.D33 * a.b0 * a.b0 / (b.made.D33 * b.b0 * b.b0), 1, tolerance);
}

TEST(Equilibria, BothAnglesOfLi383GiveTheSameCoefficients) {
  SONDE_NEED_DATA(data);
  const double s = 2.5 / 48;
  const GridSpec grid{19, 27, 24};
  const Solved boozer = solved(surface_of(data, "boozmn_li383_1.4m.nc", s), grid, {1e-2, 0});
  const Solved vmec = solved(surface_of(data, "wout_li383_1.4m.nc", s), grid, {1e-2, 0});
  EXPECT_NEAR(boozer.made.D11, 0.1948537947, 1e-9);  // of an independent prototype
  EXPECT_NEAR(vmec.made.D11, 0.1948568161, 1e-9);
  EXPECT_GT(boozer.made.D31, 0);
  expect_same_physics(boozer, vmec, 1e-4);
}

TEST(Equilibria, BoozerCoefficientsOfLi383AreThoseOfThePrototype) {
  SONDE_NEED_DATA(data);
  const Plan plan = Plan::prepare(surface_of(data, "boozmn_li383_1.4m.nc", 0.48958333), {21, 29, 40});
  Plan::Workspace workspace = plan.workspace();
  struct Expected {
    Case at;
    double D11, D31, D33;
  };
  for (const auto& [at, d11, d31, d33] :
       {Expected{{1e-2, 0}, 1.2509404146, 2.8484073202, 55.890975369},
        Expected{{1e-3, 0}, 0.64147648963, 5.7859268982, 451.52830423},
        Expected{{1e-3, 8.186707455726773e-5}, 0.63921915514, 5.7896433217, 451.61212544}}) {
    const Coefficients made = plan.solve(at, workspace);
    EXPECT_NEAR(made.D11 / d11, 1, 1e-7);
    EXPECT_NEAR(made.D31 / d31, 1, 1e-7);
    EXPECT_NEAR(made.D33 / d33, 1, 1e-7);
  }
}

TEST(Equilibria, NegativeFluxOfW7xGivesNegativeD31InBothAngles) {
  SONDE_NEED_DATA(data);
  const Surface vmec_surface = surface_of(data, "wout_w7x_standardConfig.nc", 0.25);
  const Solved coarse = solved(vmec_surface, {17, 21, 16}, {1e-2, 0});
  EXPECT_NEAR(coarse.made.D11 / 9.1198e-3, 1, 1e-4);
  EXPECT_NEAR(coarse.made.D31 / -0.069555, 1, 1e-4);

  const GridSpec grid{25, 31, 16};
  const Solved vmec = solved(vmec_surface, grid, {1e-2, 0});
  EXPECT_NEAR(vmec.made.D11 / 8.8299e-3, 1, 1e-4);
  EXPECT_NEAR(vmec.made.D31 / -0.070518, 1, 1e-4);
  Notes notes;
  const Wout wout = read_wout((data / "neoclassical/wout_w7x_standardConfig.nc").string());
  const BoozerFile file = boozer_transform(wout, {0.25}, {21, 20}, notes);
  const Solved boozer = solved(surface_at(file, 0.25, {}, notes), grid, {1e-2, 0});
  EXPECT_NEAR(boozer.b0, 2.79892, 1e-5);
  EXPECT_NEAR(boozer.made.D11 / 8.8334e-3, 1, 1e-4);
  EXPECT_NEAR(boozer.made.D31 / -0.070181, 1, 1e-4);
  expect_same_physics(vmec, boozer, 1e-3);
}

/// The surface as the input of STELLOPT's DKES, with r such that dr/ds = `slope`.
AnalyticSurface by_dkes(const Surface& surface, double slope) {
  const auto& field = std::get<BoozerField>(surface.field);
  const double psip = field.flux / slope;
  std::string text = fmt::format(
      " &dkes_indata\n nzperiod= {},\n chip = {:.17g}, psip = {:.17g},\n btheta = {:.17g}, bzeta = {:.17g},\n",
      surface.periods, surface.iota * psip, psip, field.b_theta, field.b_zeta);
  for (std::size_t i = 0; i < surface.b.modes.size(); ++i)
    text += fmt::format(" borbi({},{})= {:.17g},\n", -surface.b.modes[i].n, surface.b.modes[i].m, surface.b.cosine[i]);
  Notes notes;
  return parse_dkes(text + " /\n", "input_dkes", notes);
}

// Flux and G are positive in the one and negative in the other.
TEST(Equilibria, TheInputOfDkesMadeOfASurfaceGivesItsCoefficientsPerMetre) {
  SONDE_NEED_DATA(data);
  const double slope = 0.4;  // dr/ds, m
  for (const char* name : {"boozmn_li383_1.4m.nc", "w7x-sc1.bc"}) {
    const Surface per_s = surface_of(data, name, std::string(name) == "w7x-sc1.bc" ? 0.25 : 2.5 / 48);
    const double psi_a = std::get<BoozerField>(per_s.field).flux;
    const Surface per_r = make_surface(by_dkes(per_s, slope));
    for (const double e_s : {0.0, 1e-4}) {
      SCOPED_TRACE(name + std::to_string(e_s));
      const GridSpec grid{13, 15, 12};
      const Coefficients s = solved(per_s, grid, {1e-3, e_s}).made, r = solved(per_r, grid, {1e-3, e_s / psi_a}).made;
      EXPECT_NEAR(r.D11 / (s.D11 * slope * slope), 1, 1e-9);
      EXPECT_NEAR(r.D31 / (s.D31 * slope), 1, 1e-9);
      EXPECT_NEAR(r.D13 / (s.D13 * slope), 1, 1e-9);
      EXPECT_NEAR(r.D33 / s.D33, 1, 1e-9);
    }
  }
}

TEST(Equilibria, ABcFileAndTheBoozmnMadeOfItGiveTheSameCoefficients) {
  SONDE_NEED_DATA(data);
  const sonde::testing::TemporaryFolder folder;
  const BoozerFile file = read_bc((data / "neoclassical/w7x-sc1.bc").string());
  write_boozmn(folder.file("b.nc"), file);
  const BoozerFile again = read_boozmn(folder.file("b.nc"));
  Notes notes;
  const GridSpec grid{13, 15, 12};
  const Coefficients a = solved(surface_at(file, file.s[30], {}, notes), grid, {1e-3, 0}).made;
  const Coefficients b = solved(surface_at(again, again.s[30], {}, notes), grid, {1e-3, 0}).made;
  EXPECT_NEAR(a.D11 / b.D11, 1, 1e-10);
  EXPECT_NEAR(a.D31 / b.D31, 1, 1e-10);
  EXPECT_NEAR(a.D33 / b.D33, 1, 1e-10);
}

}  // namespace
}  // namespace sonde::neoclassical

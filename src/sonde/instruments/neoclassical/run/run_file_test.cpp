// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/run/run_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sonde/engine/base/error.h"
#include "tests/support/errors.h"

namespace sonde::neoclassical {
namespace {

using sonde::testing::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(RunFile, HoldsTheTablesOfNtx) {
  RunFile run;
  run.parse(R"(
    [surface]
    type = "vmec"
    path = "wout.nc"
    psi_n = 0.25
    [grid]
    n_theta = 17
    n_zeta = 21
    n_xi = 40
    discretisation = "collocation"
    [scan]
    nu_v = [1e-5, 1e-3]
    er_tilde = [0, 1e-4]
    [solver]
    path = "dense"
    tol = 1e-7
    [output]
    npz = "out.npz")",
            "run.toml");
  EXPECT_EQ(run.surface.type, SurfaceType::vmec);
  EXPECT_EQ(run.surface.s, 0.25);
  EXPECT_EQ(run.grid.spec(), (GridSpec{17, 21, 40, Discretisation::collocation}));
  EXPECT_THAT(run.scan_nu(), ElementsAre(1e-5, 1e-3));
  EXPECT_EQ(run.scan_field().kind, FieldKind::er_tilde);
  EXPECT_THAT(run.scan_field().values, ElementsAre(0, 1e-4));
  EXPECT_THAT(run.scan_rho(), ElementsAre(0.5));
  EXPECT_EQ(run.solver.solver().path, Path::dense);
  EXPECT_EQ(run.output.path, "out.npz");
  RunFile again;
  again.parse(run.text(), "again");
  EXPECT_EQ(again.text(), run.text());
}

TEST(RunFile, CaseIsOneCollisionalityAndOneField) {
  RunFile run;
  run.parse("[case]\nnu_hat = 1e-3\ner_hat = 2e-4", "run.toml");
  EXPECT_EQ(run.case_nu(), 1e-3);
  EXPECT_EQ(run.case_field().kind, FieldKind::er_hat);
  EXPECT_THAT(RunFile().case_field().values, ElementsAre(0));
  EXPECT_EQ(RunFile().solver.solver().path, std::nullopt);
}

TEST(RunFile, WhatMakesNoSenseIsNamed) {
  const auto refused = [](const char* text, ErrorKind kind, auto&& use) {
    return error_of(kind, [&] {
      RunFile run;
      run.parse(text, "run.toml");
      use(run);
    });
  };
  const auto field = [](RunFile& run) { (void)run.case_field(); };
  const auto nu = [](RunFile& run) { (void)run.case_nu(); };
  EXPECT_THAT(refused("[case]\ner_hat = 1\nepsi_hat = 1", ErrorKind::bad_input, field),
              HasSubstr("epsi_hat and er_hat"));
  EXPECT_THAT(refused("[case]", ErrorKind::bad_input, nu), HasSubstr("no nu_hat"));
  EXPECT_THAT(refused("[case]\nnu_hat = 0", ErrorKind::bad_input, nu), HasSubstr("nu_hat = 0"));
  EXPECT_THAT(refused("[case]\nnu = 1", ErrorKind::bad_file, nu), HasSubstr("unknown key \"nu\""));
  EXPECT_THAT(refused("[scan]\nnu_v = [1e-5, -1]", ErrorKind::bad_input, [](RunFile& run) { (void)run.scan_nu(); }),
              HasSubstr("nu_v = -1"));
  EXPECT_THAT(refused("[scan]\nrho = \"a\"", ErrorKind::bad_file, [](RunFile&) {}),
              HasSubstr("rho in [scan] of run.toml line 2 \"a\": expected numbers"));
  EXPECT_THAT(refused("[grid]\nn_zeta = 24", ErrorKind::bad_input, [](RunFile& run) { (void)run.grid.spec(); }),
              HasSubstr("25"));
  RunFile rounded;
  rounded.parse("[grid]\nn_zeta = 24\nround_odd = true", "run.toml");
  EXPECT_EQ(rounded.grid.spec().n_zeta, 25);
}

TEST(FieldAxis, EveryWayOfSayingIsOneFieldOfTheSolver) {
  Surface dkes;
  dkes.psi_scale = -0.5;
  EXPECT_THAT((FieldAxis{FieldKind::epsi_hat, {1, 2}}.epsi_hat(field_scale(dkes))), ElementsAre(1, 2));
  EXPECT_THAT((FieldAxis{FieldKind::er_hat, {1e-3}}.epsi_hat(field_scale(dkes))), ElementsAre(-2e-3));
  EXPECT_THAT(error_of(ErrorKind::bad_input,
                       [&] {
                         (void)FieldAxis{FieldKind::er_tilde, {1}}.epsi_hat(field_scale(dkes));
                       }),
              HasSubstr("er_tilde needs"));
  // s = (r / a_b)^2: dr/ds = a_b / (2 rho). Er_tilde counts in psia / (a_b rho) of E_s.
  const FieldScale scale = field_scale(0.5, 2, 3);
  EXPECT_THAT((FieldAxis{FieldKind::er_hat, {1}}.epsi_hat(scale)), ElementsAre(2));
  EXPECT_THAT((FieldAxis{FieldKind::er_tilde, {1}}.epsi_hat(scale)), ElementsAre(3));
}

TEST(RunFile, ReferenceExplainsEveryTable) {
  const std::string page = run_file_reference();
  for (const std::string& name : RunFile().tables().names()) EXPECT_THAT(page, HasSubstr("## [" + name + "]"));
  EXPECT_THAT(page, HasSubstr("n_theta"));
}

}  // namespace
}  // namespace sonde::neoclassical

// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/transport/radial_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/neoclassical/database/database_file.h"
#include "sonde/instruments/neoclassical/transport/profiles.h"
#include "sonde/instruments/neoclassical/transport/table_source.h"
#include "sonde/instruments/neoclassical/transport/test_source.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"

namespace sonde::neoclassical {
namespace {

using sonde::testing::error_of;
using testing::Formula;
using testing::FormulaEverywhere;
using ::testing::HasSubstr;
using testing::mixed_plasma;

TEST(RadialTransport, FluxesAreTheMatrixTimesTheForces) {
  const FormulaEverywhere source(Formula([](double, double) { return Dij{2e-4, 0.03, -0.03, 50}; }));
  const std::vector<RadialInput> input{{0.5, mixed_plasma(), 4e3, 0.01}};
  const RadialResult made = radial_transport(source, input, {}).at(0);
  EXPECT_EQ(made.E_r, 4e3);
  EXPECT_TRUE(made.roots.roots.empty());
  EXPECT_TRUE(made.corrected.empty());
  double total = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    const Population& p = input[0].plasma[a];
    const double a2 = p.temperature_slope / p.temperature,
                 a1 = p.density_slope / p.density - 1.5 * a2 - p.species.charge * 4e3 / p.temperature,
                 a3 = -p.species.charge / p.temperature * 0.01;
    const ThermalMatrix& matrix = made.L[a];
    EXPECT_NEAR(made.fluxes[a].gamma / (-p.density * (matrix.L11 * a1 + matrix.L12 * a2 + matrix.L13 * a3)), 1, 1e-13);
    EXPECT_NEAR(made.fluxes[a].q / (-p.density * p.temperature * (matrix.L21 * a1 + matrix.L22 * a2 + matrix.L23 * a3)),
                1, 1e-13);
    EXPECT_NEAR(made.fluxes[a].u_par / (-p.density * (matrix.L31 * a1 + matrix.L32 * a2 + matrix.L33 * a3)), 1, 1e-13);
    EXPECT_EQ(made.current[a], p.species.charge * made.fluxes[a].u_par);
    total += made.current[a];
  }
  EXPECT_DOUBLE_EQ(made.total_current, total);
}

TEST(RadialTransport, TheTwoQuadraturesAgreeOnSmoothCoefficients) {
  const FormulaEverywhere source(Formula([](double nu_hat, double er_hat) {
    return Dij{1e-4 / (nu_hat + 10 * er_hat * er_hat + 1e-4), 0.1 / (1 + nu_hat), -0.1 / (1 + nu_hat), 0.5 / nu_hat};
  }));
  const std::vector<RadialInput> input{{0.5, mixed_plasma(), 4e3, 0}};
  TransportOptions options;
  const RadialResult laguerre = radial_transport(source, input, options).at(0);
  options.quadrature = EnergyQuadrature::maxwell_polynomials;
  options.energies = 40;
  const RadialResult maxwell = radial_transport(source, input, options).at(0);
  for (std::size_t a = 0; a < 3; ++a) {
    // 64 nodes of Laguerre on odd powers of the speed leave some 1e-5 of each integral.
    EXPECT_NEAR(laguerre.fluxes[a].gamma / maxwell.fluxes[a].gamma, 1, 3e-4);
    EXPECT_NEAR(laguerre.fluxes[a].u_par / maxwell.fluxes[a].u_par, 1, 3e-4);
  }
}

/// D11 that falls with the field as in the 1/nu regime, so that electrons and ions pull to different sides.
FormulaEverywhere stellarator() {
  return FormulaEverywhere(Formula([](double nu_hat, double er_hat) {
    const double d11 = 1e-4 * nu_hat / (nu_hat * nu_hat + 30 * er_hat * er_hat + 1e-12) * 1e-2;
    return Dij{d11, 0.02, -0.02, 0.4 / nu_hat};
  }));
}

TEST(RadialTransport, AtTheAmbipolarFieldNoChargeCrossesTheSurface) {
  const FormulaEverywhere source = stellarator();
  const std::vector<RadialInput> input{{0.5, mixed_plasma(), std::nullopt, 0}};
  const RadialResult made = radial_transport(source, input, {}).at(0);
  ASSERT_FALSE(made.without_root);
  ASSERT_FALSE(made.roots.roots.empty());
  EXPECT_EQ(made.E_r, made.roots.roots[*made.roots.chosen].E_r);
  double sum = 0, sizes = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    const double part = input[0].plasma[a].species.charge * made.fluxes[a].gamma;
    sum += part;
    sizes += std::abs(part);
  }
  EXPECT_LT(std::abs(sum), 1e-4 * sizes);
}

TEST(RadialTransport, TheLastSonineOrderTellsWhatItHasChanged) {
  const FormulaEverywhere source(Formula([](double nu_hat, double) {
    return Dij{1e-4, 0.1 / (1 + nu_hat), -0.1 / (1 + nu_hat), 0.5 / nu_hat};
  }));
  const std::vector<RadialInput> input{{0.5, mixed_plasma(), 4e3, 0}};
  const auto at_order = [&](int order) {
    TransportOptions options;
    options.sonine_order = order;
    return radial_transport(source, input, options).at(0);
  };
  const RadialResult third = at_order(3), second = at_order(2);
  // The orders leave out other tails of the energies, 1e-15 of the integrals.
  EXPECT_NEAR(third.sonine_change, third.corrected_total_current - second.corrected_total_current,
              1e-9 * std::abs(third.corrected_total_current));
  EXPECT_GT(std::abs(third.sonine_change), 1e-6 * std::abs(third.corrected_total_current));
  EXPECT_TRUE(std::isnan(at_order(0).sonine_change));
}

TEST(RadialTransport, WithoutAnAmbipolarFieldItSaysSo) {
  const FormulaEverywhere source = stellarator();
  TransportOptions options;
  options.ambipolar.lowest = 40e3;
  options.ambipolar.highest = 50e3;
  const std::vector<RadialInput> input{{0.5, mixed_plasma(), std::nullopt, 0}};
  const RadialResult made = radial_transport(source, input, options).at(0);
  EXPECT_TRUE(made.without_root);
  EXPECT_TRUE(std::isnan(made.E_r)) << "no number that looks like a field";
  ASSERT_EQ(made.fluxes.size(), 3);
  EXPECT_TRUE(std::isnan(made.fluxes[1].gamma));
  EXPECT_TRUE(std::isnan(made.total_current));
  EXPECT_TRUE(made.corrected.empty());
}

TEST(RadialTransport, APlasmaThatIsNotNeutralIsRefused) {
  const FormulaEverywhere source = stellarator();
  std::vector<RadialInput> input{{0.5, mixed_plasma(), 0.0, 0}};
  input[0].plasma[0].density *= 2;
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)radial_transport(source, input, {}); }),
              HasSubstr("not neutral: sum Z n = -1e+20"));
  input[0].plasma.resize(1);
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)radial_transport(source, input, {}); }),
              HasSubstr("not neutral"));
  input[0].plasma = mixed_plasma();
  input[0].plasma[0].density *= 1.01;  // the digits of a table
  EXPECT_NO_THROW((void)radial_transport(source, input, {}));
}

/// Coefficients with no answer below a collisionality.
struct Gap : RadialSource {
  double least;
  mutable std::atomic<Index> asked{0};
  explicit Gap(double lowest) : least(lowest) {}
  [[nodiscard]] double minor_radius() const override { return 1; }
  [[nodiscard]] std::unique_ptr<SurfaceSource> at(double) const override { return std::make_unique<Surface>(*this); }
  struct Surface : SurfaceSource {
    const Gap& gap;
    explicit Surface(const Gap& of) : gap(of) {}
    [[nodiscard]] double reference_field() const override { return 2; }
    [[nodiscard]] double b2_ratio() const override { return 1.02; }
    [[nodiscard]] std::optional<double> u2() const override { return std::nullopt; }
    void coefficients(std::span<const double> nu_hat, std::span<const double>,
                      std::span<SurfaceDij> made) const override {
      for (std::size_t i = 0; i < nu_hat.size(); ++i) {
        ++gap.asked;
        made[i] = {{1e-6 / nu_hat[i], 0.02, -0.02, 0.4 / nu_hat[i]}, false};
        if (nu_hat[i] < gap.least) made[i] = {{}, false, "rounding"};
      }
    }
  };
};

TEST(RadialTransport, EnergiesThatHoldNothingMayHaveNoAnswer) {
  const std::vector<RadialInput> input{{0.5, mixed_plasma(), 0.0, 0}};
  const Gap all(0);
  TransportOptions options;
  const RadialResult truth = radial_transport(all, input, options).at(0);
  EXPECT_EQ(all.asked, expected_solves(input, options));
  EXPECT_EQ(truth.left_out, (std::vector<double>{0, 0, 0}));
  // Of each species the collisionality at K = 30 or so.
  const EnergyNodes nodes(mixed_plasma(), gauss_laguerre(64), CoulombLogarithm::electrons, -1);
  const auto nu_at = [&](double K) {
    std::size_t i = 0;
    while (nodes.rule().K[i] < K) ++i;
    return nodes.nu_hat(1)[i];
  };
  const RadialResult made = radial_transport(Gap(nu_at(35)), input, options).at(0);
  for (std::size_t a = 0; a < 3; ++a) {
    EXPECT_LE(made.left_out[a], 1e-4);
    EXPECT_NEAR(made.L[a].L22 / truth.L[a].L22, 1, made.left_out[a] + 1e-12) << "left_out bounds it: D11 is 1/nu_hat";
    EXPECT_NEAR(made.L[a].L33 / truth.L[a].L33, 1, made.left_out[a] + 1e-12);
  }
  EXPECT_GT(made.left_out[1], 0);
  EXPECT_THAT(error_of(ErrorKind::not_converged, [&] { (void)radial_transport(Gap(nu_at(5)), input, options); }),
              HasSubstr("% of its integrals"));
  EXPECT_THAT(error_of(ErrorKind::not_converged, [&] { (void)radial_transport(Gap(1e300), input, options); }),
              HasSubstr("rounding"));
}

TEST(RadialTransport, RadiiInParallelAreRadiiAlone) {
  const FormulaEverywhere source = stellarator();
  TransportOptions options;
  options.sonine_order = 2;
  std::vector<RadialInput> inputs;
  for (int i = 1; i <= 9; ++i) inputs.push_back({0.1 * i, standard_plasma({}, 0.1 * i, 0.5), 1e3 * i, 0});
  const std::vector<RadialResult> together = radial_transport(source, inputs, options);
  set_thread_count(1);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const RadialResult alone = radial_transport(source, {&inputs[i], 1}, options).at(0);
    EXPECT_EQ(alone.rho, together[i].rho);
    EXPECT_EQ(alone.total_current, together[i].total_current);
    EXPECT_EQ(alone.corrected_total_current, together[i].corrected_total_current);
    EXPECT_EQ(alone.corrected[1].gamma, together[i].corrected[1].gamma);
  }
  set_thread_count(0);
}

TEST(RadialTransport, ErrorsTellTheirRadius) {
  const FormulaEverywhere source = stellarator();
  std::vector<RadialInput> input{{0.5, mixed_plasma(), 0.0, 0}, {0.75, mixed_plasma(), 0.0, 0}};
  input[1].plasma[0].temperature = 0;
  const std::string text = error_of(ErrorKind::bad_input, [&] { (void)radial_transport(source, input, {}); });
  EXPECT_THAT(text, HasSubstr("species e: its temperature is 0"));
  EXPECT_THAT(text, HasSubstr("at rho = 0.75"));
  input[1].plasma.clear();
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)radial_transport(source, input, {}); }),
              HasSubstr("without species"));
}

TEST(RadialTransport, APublishedDatabaseGivesAPlasma) {
  SONDE_NEED_DATA(data);
  const TableSource source(read_database((data / "neoclassical/Dij_NTX_QI_Er_Optimized.h5").string()).database);
  std::vector<RadialInput> inputs;
  for (const double rho : {0.3, 0.6})
    inputs.push_back({rho, standard_plasma({}, rho, source.minor_radius()), std::nullopt, 0});
  TransportOptions options;
  options.sonine_order = 2;
  for (const RadialResult& made : radial_transport(source, inputs, options)) {
    SCOPED_TRACE(made.rho);
    ASSERT_FALSE(made.without_root);
    // Equal temperatures, gradients inwards: an ion root, a negative field, heat outwards.
    EXPECT_EQ(made.roots.roots[*made.roots.chosen].kind, AmbipolarRoot::Class::ion);
    EXPECT_LT(made.E_r, 0);
    for (std::size_t a = 0; a < 3; ++a) {
      EXPECT_GT(made.fluxes[a].q, 0);
      EXPECT_LT(made.beyond[a], 0.05);
      EXPECT_TRUE(std::isfinite(made.corrected[a].u_par));
    }
  }
}

}  // namespace
}  // namespace sonde::neoclassical

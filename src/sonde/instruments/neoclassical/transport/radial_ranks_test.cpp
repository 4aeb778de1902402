// SPDX-License-Identifier: Apache-2.0
// Every fact holds for any number of ranks: run by itself this is a unit test, and ctest starts it with 1, 2 and 4
// (label mpi).
#include "sonde/instruments/neoclassical/transport/radial_ranks.h"

#include <gtest/gtest.h>

#include <cstring>

#include "sonde/instruments/neoclassical/transport/test_source.h"
#include "tests/support/errors.h"

namespace sonde::neoclassical {
namespace {

using testing::Formula;
using testing::FormulaEverywhere;

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

std::vector<RadialInput> nine_radii() {
  std::vector<RadialInput> radii;
  for (int i = 1; i <= 9; ++i) {
    radii.push_back({0.1 * i, testing::mixed_plasma(), std::nullopt, 0});
    radii.back().plasma[1].density_slope *= 1 + 0.1 * i;
    if (i % 2 == 0) radii.back().E_r = 1e3 * i;
  }
  return radii;
}

TEST(RadialRanks, EveryRadiusHasTheBitsOfOneProcess) {
  const Ranks ranks = Ranks::world();
  const FormulaEverywhere source(Formula([](double nu_hat, double er_hat) {
    return Dij{1e-6 * nu_hat / (nu_hat * nu_hat + 30 * er_hat * er_hat + 1e-12), 0.02, -0.02, 0.4 / nu_hat};
  }));
  const std::vector<RadialInput> radii = nine_radii();
  TransportOptions options;
  options.sonine_order = 2;
  const std::vector<RadialResult> made = radial_transport(ranks, source, radii, options);
  if (ranks.rank() != 0) {
    EXPECT_TRUE(made.empty());
    return;
  }
  const std::vector<RadialResult> alone = radial_transport(source, radii, options);
  ASSERT_EQ(made.size(), alone.size());
  for (std::size_t i = 0; i < alone.size(); ++i) {
    SCOPED_TRACE(i);
    const RadialResult &a = made[i], &b = alone[i];
    EXPECT_EQ(a.rho, b.rho);
    EXPECT_EQ(a.E_r, b.E_r);
    EXPECT_EQ(a.without_root, b.without_root);
    ASSERT_EQ(a.roots.roots.size(), b.roots.roots.size());
    for (std::size_t root = 0; root < b.roots.roots.size(); ++root) {
      EXPECT_EQ(a.roots.roots[root].E_r, b.roots.roots[root].E_r);
      EXPECT_EQ(a.roots.roots[root].slope, b.roots.roots[root].slope);
      EXPECT_EQ(a.roots.roots[root].kind, b.roots.roots[root].kind);
    }
    EXPECT_EQ(a.roots.chosen, b.roots.chosen);
    EXPECT_TRUE(same_bits(a.forces, b.forces));
    EXPECT_TRUE(same_bits(a.L, b.L));
    EXPECT_TRUE(same_bits(a.fluxes, b.fluxes));
    EXPECT_TRUE(same_bits(a.corrected, b.corrected));
    EXPECT_EQ(a.corrected.size(), 3U);
    EXPECT_EQ(a.beyond, b.beyond);
    EXPECT_EQ(a.current, b.current);
    EXPECT_EQ(a.corrected_current, b.corrected_current);
    EXPECT_EQ(a.total_current, b.total_current);
    EXPECT_EQ(a.corrected_total_current, b.corrected_total_current);
    EXPECT_EQ(a.sonine_change, b.sonine_change);
  }
}

TEST(RadialRanks, AnErrorNamesItsRadius) {
  const Ranks ranks = Ranks::world();
  const FormulaEverywhere source(Formula([](double nu_hat, double) -> Dij {
    throw Error(ErrorKind::not_converged, "no coefficients at nu_hat = " + std::to_string(nu_hat));
  }));
  const auto all = [&] { EXPECT_TRUE(radial_transport(ranks, source, nine_radii(), {}).empty()); };
  if (ranks.rank() == 0)
    EXPECT_NE(sonde::testing::error_of(ErrorKind::not_converged, all).find("at rho = "), std::string::npos);
  else
    all();
}

}  // namespace
}  // namespace sonde::neoclassical

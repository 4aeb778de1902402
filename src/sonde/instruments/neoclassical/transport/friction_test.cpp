// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/transport/friction.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "sonde/instruments/neoclassical/transport/moments.h"

namespace sonde::neoclassical {
namespace {

const std::array<std::pair<double, double>, 5> ratios{
    {{1, 1}, {1.0 / 3670, 1.0 / 3670}, {3670, 3670}, {1.5, 0.7}, {1.0 / 1836, 1.0 / 5000}}};  // m_a/m_b, y

TEST(Friction, UpToOrderTwoItIsThePublishedClosedForms) {
  // Hirshman and Sigmar (1981), equations 4.15 to 4.17 in y = v_tb^2/v_ta^2 and mu = m_a/m_b.
  for (const auto& [mu, y] : ratios) {
    const FrictionMatrices made = friction_matrices(mu, y, 2);
    const double s = 1 + y, m00 = -(1 + mu) / std::pow(s, 1.5), m01 = 1.5 * m00 / s, m02 = 15.0 / 8 * m00 / (s * s),
                 m11 = -(13.0 / 4 + 4 * y + 7.5 * y * y) / std::pow(s, 2.5),
                 m12 = -(69.0 / 16 + 6 * y + 63 * y * y / 4) / std::pow(s, 3.5),
                 m22 = -(433.0 / 64 + 17 * y + 459 * y * y / 8 + 28 * y * y * y + 175 * y * y * y * y / 8) /
                       std::pow(s, 4.5),
                 n11 = 27.0 / 4 * mu / std::pow(s, 2.5), n12 = 225.0 / 16 * mu * y / std::pow(s, 3.5),
                 n22 = 2625.0 / 64 * mu * y / std::pow(s, 4.5);
    const double m[3][3] = {{m00, m01, m02}, {m01, m11, m12}, {m02, m12, m22}};
    const double n[3][3] = {{-m00, -y * m01, -y * y * m02}, {-m01, n11, n12}, {-m02, n12 / y, n22}};
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k) {
        EXPECT_NEAR(made.m(j, k) / m[j][k], 1, 1e-13) << j << k;
        EXPECT_NEAR(made.n(j, k) / n[j][k], 1, 1e-13) << j << k;
      }
  }
}

TEST(Friction, OfEveryOrderItConservesMomentumAndIsSelfAdjointAtOneTemperature) {
  for (const auto& [mu, y] : ratios) {
    const FrictionMatrices ab = friction_matrices(mu, y, highest_sonine_order),
                           ba = friction_matrices(1 / mu, 1 / y, highest_sonine_order);
    const double exchange = mu * std::pow(y, -1.5);  // n_b m_b tau_ab / (n_a m_a tau_ba) = T_a v_ta / (T_b v_tb)
    for (int j = 0; j <= highest_sonine_order; ++j) {
      // The friction on a by a flow u_a is taken up by b.
      EXPECT_NEAR(ab.n(0, j) / (-exchange * ba.m(0, j)), 1, 1e-12);
      for (int k = 0; k <= highest_sonine_order; ++k) {
        EXPECT_NEAR(ab.m(j, k) / ab.m(k, j), 1, 1e-12);
        if (mu == y) {
          EXPECT_NEAR(ab.n(j, k) / (exchange * ba.n(k, j)), 1, 1e-12);
        }
      }
    }
  }
}

TEST(Friction, ALowerOrderIsTheCornerOfAHigher) {
  const FrictionMatrices high = friction_matrices(0.5, 2, 12), low = friction_matrices(0.5, 2, 4);
  for (int j = 0; j <= 4; ++j)
    for (int k = 0; k <= 4; ++k) {
      EXPECT_EQ(low.m(j, k), high.m(j, k));
      EXPECT_EQ(low.n(j, k), high.n(j, k));
    }
}

/// M by quadrature of the test-particle operator at equal temperatures: pitch-angle scattering, slowing down and
/// diffusion in speed, with the functions of Chandrasekhar (Helander and Sigmar 2002, equation 3.40):
///   M_jk = -2 int exp(-x^2) { x (erf(x_b) - G(x_b)) S_j S_k + x G(x_b) (x S_j)' (x S_k)' } dx,  x_b = x / sqrt(y).
double m_by_quadrature(double y, int j, int k) {
  const int steps = 4000;
  const double last = 12, h = last / steps;
  double sum = 0;
  for (int i = 1; i < steps; ++i) {  // Simpson; both ends vanish
    const double x = h * i, xb = x / std::sqrt(y), e = 1e-5;
    const auto s = [&](double at, int of) { return sonine_polynomials(at * at, 12)[static_cast<std::size_t>(of)]; };
    const auto slope = [&](int of) { return ((x + e) * s(x + e, of) - (x - e) * s(x - e, of)) / (2 * e); };
    const double g = chandrasekhar(xb);
    sum += (i % 2 == 0 ? 2 : 4) * std::exp(-x * x) * x *
           ((std::erf(xb) - g) * s(x, j) * s(x, k) + g * slope(j) * slope(k));
  }
  return -2 * sum * h / 3;
}

TEST(Friction, TheTestParticlePartIsTheQuadratureOfItsOperator) {
  for (const double y : {1.0, 0.3, 5.0}) {
    const FrictionMatrices made = friction_matrices(y, y, 12);
    for (const auto& [j, k] : {std::pair{0, 0}, {0, 3}, {1, 2}, {2, 2}, {3, 3}, {3, 5}, {7, 6}, {12, 12}})
      // The slopes are differences over 1e-5: eight digits of the diagonal's size.
      EXPECT_NEAR(m_by_quadrature(y, j, k), made.m(j, k), 1e-7 * std::sqrt(made.m(j, j) * made.m(k, k))) << y << j << k;
  }
}

/// N but for a constant, at equal temperatures: Landau's form, integral of grad(v_z S_j) . U . grad'(v'_z S_k) over
/// both Maxwellians, directions integrated by hand.
double n_by_quadrature(double y, int j, int k) {
  const auto s = [](int of, double x) {
    switch (of) {
      case 0:
        return std::pair{1.0, 0.0};
      case 1:
        return std::pair{2.5 - x, -1.0};
      case 2:
        return std::pair{35.0 / 8 - 3.5 * x + x * x / 2, -3.5 + x};
      default:
        return std::pair{105.0 / 16 - 63.0 / 8 * x + 9.0 / 4 * x * x - x * x * x / 6, -63.0 / 8 + 4.5 * x - x * x / 2};
    }
  };
  const int steps = 300;
  const double ha = 7.0 / steps, hb = 7.0 * std::sqrt(y) / steps;
  struct Point {
    double v, s, slope, weight;
  };
  std::vector<Point> field;
  for (int b = 0; b < steps; ++b) {
    const double u = hb * (b + 0.5);
    const auto [sk, dk] = s(k, u * u / y);
    field.push_back({u, sk, dk / y, u * u * std::exp(-u * u / y)});
  }
  double sum = 0;
  for (int a = 0; a < steps; ++a) {
    const double v = ha * (a + 0.5), weight = v * v * std::exp(-v * v);
    const auto [sj, dj] = s(j, v * v);
    for (const auto& [u, sk, dk, other] : field) {
      const double most = std::max(v, u), least2 = std::min(v, u) * std::min(v, u);
      sum += weight * other / most *
             (4 * sj * sk + 8.0 / 3 * (dj * sk + sj * dk) * least2 + 16.0 / 5 * dj * dk * least2 * least2);
    }
  }
  return sum * ha * hb;
}

TEST(Friction, TheFieldParticlePartIsTheQuadratureOfLandausForm) {
  for (const double y : {1.0, 2.0, 0.4}) {
    const FrictionMatrices made = friction_matrices(y, y, 3);
    const double unit = n_by_quadrature(y, 0, 0) / made.n(0, 0);
    for (int j = 0; j <= 3; ++j)
      for (int k = 0; k <= 3; ++k)
        // 300 x 300 midpoints and a kink where the speeds are equal.
        EXPECT_NEAR(n_by_quadrature(y, j, k) / unit, made.n(j, k), 2e-3 * made.n(0, 0)) << y << j << k;
  }
}

}  // namespace
}  // namespace sonde::neoclassical

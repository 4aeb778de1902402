// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/transport/friction.h"

#include <cmath>

namespace sonde::neoclassical {
namespace {

/// Coefficients of w^j z^k of a power series in two variables, up to `order` in each.
class Series2 {
 public:
  explicit Series2(int order) : order_(order), terms_(static_cast<std::size_t>(order) + 1), c_(terms_ * terms_, 0) {}
  [[nodiscard]] double operator()(int j, int k) const { return j < 0 || k < 0 ? 0 : c_[at(j, k)]; }
  double& at_place(int j, int k) { return c_[at(j, k)]; }
  [[nodiscard]] int order() const { return order_; }

 private:
  [[nodiscard]] std::size_t at(int j, int k) const {
    return static_cast<std::size_t>(j) * terms_ + static_cast<std::size_t>(k);
  }
  int order_;
  std::size_t terms_;
  std::vector<double> c_;
};

/// E^-power with E = 1 + y - w - z + (1 - y) w z, from E d/dw E^-p = -p (dE/dw) E^-p.
Series2 power_of_e(double y, double power, int order) {
  Series2 made(order);
  made.at_place(0, 0) = std::pow(1 + y, -power);
  for (int k = 1; k <= order; ++k) made.at_place(0, k) = (k - 1 + power) / (k * (1 + y)) * made(0, k - 1);
  for (int j = 1; j <= order; ++j) {
    const double step = j - 1 + power;
    for (int k = 0; k <= order; ++k)
      made.at_place(j, k) =
          (step * made(j - 1, k) + j * made(j, k - 1) - (1 - y) * step * made(j - 1, k - 1)) / (j * (1 + y));
  }
  return made;
}

/// The series divided by 1 - w z.
Series2 over_one_minus_wz(const Series2& series) {
  Series2 made(series.order());
  for (int j = 0; j <= series.order(); ++j)
    for (int k = 0; k <= series.order(); ++k) made.at_place(j, k) = series(j, k) + made(j - 1, k - 1);
  return made;
}

}  // namespace

FrictionMatrices friction_matrices(double mass_ratio, double speed_ratio, int order) {
  const double y = speed_ratio;
  const auto terms = static_cast<std::size_t>(order) + 1;
  FrictionMatrices made;
  made.order = order;
  made.M.resize(terms * terms);
  made.N.resize(terms * terms);
  // Generating functions at equal temperatures, D = 1 + y - w - y z:
  //   M = -(1+y) E^-3/2/(1-wz) - y w z [3 y E^-5/2/(1-wz) + 2 E^-3/2/(1-wz)^2],  N = (1+y) D^-3/2 + 3 y w z D^-5/2.
  const Series2 e3 = power_of_e(y, 1.5, order), a = over_one_minus_wz(e3), aa = over_one_minus_wz(a),
                b = over_one_minus_wz(power_of_e(y, 2.5, order));
  double row = 1 / std::sqrt(1 + y);     // (1+y)^{-1/2-j} Gamma(j+1/2) / (j! Gamma(1/2)) at the head of each row of N
  double taken = std::pow(1 + y, -1.5);  // of row 0: y^k e3(0, k), without powers that overflow
  for (int j = 0; j <= order; ++j) {
    double head = row;  // (1+y)^{-1/2-n} (3/2)_{n-1} y^k / (j! k!), n = j + k, but for a factor 2
    for (int k = 0; k <= order; ++k) {
      const std::size_t at = static_cast<std::size_t>(j) * terms + static_cast<std::size_t>(k);
      const int n = j + k;
      if (j == 0 || k == 0) {
        made.M[at] = -(1 + mass_ratio) * e3(j, k);
        made.N[at] = (1 + mass_ratio) * (k == 0 ? e3(j, 0) : taken);
      } else {
        made.M[at] = -((1 + y) * a(j, k) + y * (3 * y * b(j - 1, k - 1) + 2 * aa(j - 1, k - 1)));
        made.N[at] = mass_ratio / y * 2 * head * (n + 0.5 + 2 * j * k);
      }
      if (j == 0) taken *= (k + 1.5) / (k + 1) * y / (1 + y);
      head *= (n + 0.5) * y / ((1 + y) * (k + 1));
    }
    row *= (j + 0.5) / ((1 + y) * (j + 1));
  }
  return made;
}

}  // namespace sonde::neoclassical

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "sonde/instruments/maxwell/verify/checks.h"
#include "sonde/instruments/maxwell/verify/spectrum.h"
#include "sonde/instruments/maxwell/verify/wave_trial.h"

namespace sonde::maxwell {
namespace {

using Hessian = Operator::Hessian;

/// 1/2 |record - observed|^2, and the product of its second derivative, the change of the record.
struct Squares {
  std::vector<double> observed;
  double operator()(std::span<const double> record, std::span<double> residual) const {
    for (std::size_t i = 0; i < record.size(); ++i) residual[i] = record[i] - observed[i];
    return dot(residual, residual) / 2;
  }
  double operator()(std::span<const double> record, std::span<const double> record_change, std::span<double> residual,
                    std::span<double> residual_change) const {
    std::ranges::copy(record_change, residual_change.begin());
    return (*this)(record, residual);
  }
};

/// `part` of what is recorded: for a residual that is large, or none.
Squares squares(WaveTrial& trial, double part) {
  std::vector<double> observed = trial.record();
  for (double& value : observed) value *= part;
  return {std::move(observed)};
}

/// Of the Hessian's product, to central differences of the gradient.
double difference_from_limit_of_gradients(const WaveCase& which) {
  WaveTrial trial(which);
  const Squares loss = squares(trial, 0.7);
  const Direction v = trial.direction(8);
  const Direction product = trial.product(v, loss, Hessian::full);
  constexpr double h = 1e-5;
  trial.move(v, h);
  Direction slope = trial.gradient(loss).by;
  trial.move(v, -h);
  const Direction low = trial.gradient(loss).by;
  for (std::size_t kind = 0; kind < slope.size(); ++kind)
    for (std::size_t i = 0; i < slope[kind].size(); ++i) slope[kind][i] = (slope[kind][i] - low[kind][i]) / (2 * h);
  return relative_difference(slope, product);
}

void add_taylor_rows(const WaveCase& which, std::vector<VerifyRow>& rows) {
  WaveTrial trial(which);
  const Squares loss = squares(trial, 0.7);
  const Direction v = trial.direction(8);
  const WaveTrial::Gradient here = trial.gradient(loss);
  const double slope = dot(v, here.by), curvature = dot(v, trial.product(v, loss, Hessian::full));
  const auto remainders = [&](double h) {
    trial.move(v, h);
    const std::vector<double> record = trial.record();
    std::vector<double> residual(record.size());
    const double first = loss(record, residual) - here.value - h * slope;
    return std::pair(std::abs(first), std::abs(first - h * h * curvature / 2));
  };
  // Over three decades after the first order; what is left after the second meets rounding sooner, after two.
  double first = 0, second = 0;
  for (const double h : {3e-2, 3e-3, 3e-4}) {
    const auto large = remainders(h), small = remainders(h / 10);
    first = std::max(first, std::abs(std::log10(large.first / small.first) - 2));
    if (h > 1e-3) second = std::max(second, std::abs(std::log10(large.second / small.second) - 3));
  }
  const std::string id = "curvature." + id_of(which);
  rows.push_back({id + "_taylor_2", "slope of what is left after the gradient, distance from 2", first, 0.05});
  rows.push_back({id + "_taylor_3", "slope of what is left after the Hessian, distance from 3", second, 0.05});
}

void add_gauss_newton_rows(const WaveCase& which, std::vector<VerifyRow>& rows) {
  WaveTrial trial(which);
  const Squares loss = squares(trial, 0.7), exact = squares(trial, 1);
  const Direction a = trial.direction(8), b = trial.direction(20);
  const Direction of_a = trial.product(a, loss, Hessian::gauss_newton);
  const Direction of_b = trial.product(b, loss, Hessian::gauss_newton);
  const double aa = dot(a, of_a), bb = dot(b, of_b);
  const std::string id = "curvature." + id_of(which);
  // Rounding.
  rows.push_back({id + "_symmetry",
                  "<b, G a> - <a, G b> of Gauss and Newton's matrix over the geometric mean of <a, G a> and <b, G b>",
                  std::abs(dot(b, of_a) - dot(a, of_b)) / std::sqrt(std::abs(aa * bb)), 1e-12});
  const std::vector<double> ja = trial.record_change(a);
  rows.push_back({id + "_square", "<a, G a> over |J a|^2, distance from 1", std::abs(aa / dot(ja, ja) - 1), 1e-12});
  rows.push_back(
      {id + "_no_residual", "G a and H a where the residual is 0, largest difference over largest value",
       relative_difference(trial.product(a, exact, Hessian::full), trial.product(a, exact, Hessian::gauss_newton)),
       1e-12});
}

}  // namespace

std::vector<VerifyRow> check_curvature(VerifySize size) {
  std::vector<VerifyRow> rows;
  for (const WaveCase& which : wave_cases(size)) {
    if (which.loss == LossForm::exponential) continue;  // refused
    // What a central difference of this width is worth.
    rows.push_back({"curvature." + id_of(which),
                    "H v and central differences of the gradient, largest difference over largest value",
                    difference_from_limit_of_gradients(which), 5e-8});
  }
  for (const Mode mode : {Mode::tm2d, Mode::em3d}) {
    add_taylor_rows({.mode = mode, .order = 4}, rows);
    add_gauss_newton_rows({.mode = mode, .order = 4}, rows);
  }
  return rows;
}

}  // namespace sonde::maxwell

// SPDX-License-Identifier: Apache-2.0
// Private: what belongs to the stage that runs.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "sonde/engine/math/optimise/bounded_lbfgs.h"
#include "sonde/engine/math/optimise/truncated_newton.h"
#include "sonde/instruments/maxwell/invert/inversion.h"

namespace sonde::maxwell {

struct Inversion::Point {
  std::vector<double> x, gradient{};
  double value = 0;
  std::vector<BoundedLbfgs<double>::Pair> pairs{};
  double forcing = TruncatedNewton<double>::State{}.forcing;
};

struct Inversion::Stage {
  using Lbfgs = BoundedLbfgs<double>;
  using Newton = TruncatedNewton<double>;

  TraceFilter filter;
  Misfit misfit;
  std::vector<Gather> measured{};            // filtered, [shot]
  std::vector<ShotSignals> all{}, active{};  // as runs take them; of every shot, and of the batch
  double scale = 0;                          // misfit of all shots at the start; 0: not known yet
  std::vector<double> diagonal{};
  double tolerance = 0, first_move = 1;
  std::unique_ptr<std::variant<Lbfgs, Newton>> optimiser{};
  Index iteration = 0, batch = 0;
  struct Seen {
    double objective = 0, chi2 = 0;
  };
  std::vector<Seen> seen{};  // since the stage began or the source changed, the oldest first

  [[nodiscard]] const std::vector<double>& x() const {
    return std::visit([](const auto& each) -> const std::vector<double>& { return each.state().x; }, *optimiser);
  }
  [[nodiscard]] double value() const {
    return std::visit([](const auto& each) { return each.state().value; }, *optimiser);
  }
  [[nodiscard]] double projected_gradient() const {
    return std::visit([](const auto& each) { return each.projected_gradient(); }, *optimiser);
  }
  [[nodiscard]] Descent iterate() const {
    return std::visit([](auto& each) { return each.iterate(); }, *optimiser);
  }
  [[nodiscard]] Point point() const {
    Point point = std::visit(
        [](const auto& each) {
          return Point{.x = each.state().x, .gradient = each.state().gradient, .value = each.state().value};
        },
        *optimiser);
    if (const auto* lbfgs = std::get_if<Lbfgs>(&*optimiser)) point.pairs = lbfgs->state().pairs;
    if (const auto* newton = std::get_if<Newton>(&*optimiser)) point.forcing = newton->state().forcing;
    return point;
  }
};

}  // namespace sonde::maxwell

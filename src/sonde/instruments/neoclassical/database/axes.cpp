// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/database/axes.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "sonde/engine/base/error.h"

namespace sonde::neoclassical {
namespace {

void require_axis(const char* name, const std::vector<double>& axis, const char* range, bool (*within)(double)) {
  if (axis.empty()) throw Error(ErrorKind::bad_input, fmt::format("the axis {} has no value", name));
  double before = -std::numeric_limits<double>::infinity();
  for (const double value : axis) {
    if (!within(value)) throw Error(ErrorKind::bad_input, fmt::format("{} = {}: expected {}", name, value, range));
    if (!(value > before))
      throw Error(ErrorKind::bad_input, fmt::format("the axis {} does not increase: {} after {}", name, value, before))
          .hint("sort it and give every value once");
    before = value;
  }
}

}  // namespace

Axes default_axes() {
  return {{0.12247, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875},
          {3e-7, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1, 3, 10},
          {0, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1}};
}

void require_valid(const Axes& axes) {
  require_axis("rho", axes.rho, "0 < rho <= 1", [](double x) { return x > 0 && x <= 1; });
  require_axis("nu_v", axes.nu_v, "a finite number above zero", [](double x) { return x > 0 && std::isfinite(x); });
  require_axis("Er_tilde", axes.Er_tilde, "a finite number, not below zero",
               [](double x) { return x >= 0 && std::isfinite(x); });
}

}  // namespace sonde::neoclassical

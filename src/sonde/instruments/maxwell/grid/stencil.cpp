// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/grid/stencil.h"

#include <fmt/format.h>

#include <cmath>

#include "sonde/engine/base/error.h"

namespace sonde::maxwell {
namespace {

constexpr std::array<double, 1> order_2{1.0};
constexpr std::array<double, 2> order_4{9.0 / 8, -1.0 / 24};
constexpr std::array<double, 3> order_6{75.0 / 64, -25.0 / 384, 3.0 / 640};
constexpr std::array<double, 4> order_8{1225.0 / 1024, -245.0 / 3072, 49.0 / 5120, -5.0 / 7168};

}  // namespace

std::span<const double> stencil_weights(int order) {
  switch (order) {
    case 2:
      return order_2;
    case 4:
      return order_4;
    case 6:
      return order_6;
    case 8:
      return order_8;
    default:
      throw Error(ErrorKind::bad_input, fmt::format("order = {}: expected 2, 4, 6 or 8", order));
  }
}

double stencil_sum(int order) {
  double sum = 0;
  for (const double weight : stencil_weights(order)) sum += std::abs(weight);
  return sum;
}

}  // namespace sonde::maxwell

// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/phase/convention.h"

#include <cmath>
#include <numbers>

namespace sonde::stem {
namespace {

double within_one_turn(double angle) {
  return angle - 2 * std::numbers::pi * std::round(angle / (2 * std::numbers::pi));
}

}  // namespace

DetectorToScan from_convention(Convention convention, double rotation, bool flag) {
  switch (convention) {
    case Convention::sonde:
      break;
    case Convention::py4dstem:
      rotation = -rotation;
      break;
    case Convention::libertem:
      if (flag) rotation -= std::numbers::pi / 2;
      break;
  }
  return {within_one_turn(rotation), flag};
}

DetectorToScan to_convention(Convention convention, const DetectorToScan& own) {
  switch (convention) {
    case Convention::sonde:
      break;
    case Convention::py4dstem:
      return {within_one_turn(-own.rotation), own.transpose};
    case Convention::libertem:
      if (own.transpose) return {within_one_turn(own.rotation + std::numbers::pi / 2), true};
      break;
  }
  return {within_one_turn(own.rotation), own.transpose};
}

}  // namespace sonde::stem

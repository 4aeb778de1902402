// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/score/ratios.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "sonde/engine/report/spread.h"

namespace sonde::separate {
namespace {

struct Sums {
  double truth = 0, estimate = 0, product = 0, difference = 0;
};

Sums sums_of(View<const float, 2> truth, View<const float, 2> estimate) {
  assert(truth.extent[0] == estimate.extent[0] && truth.extent[1] == estimate.extent[1]);
  Sums sums;
  for (Index c = 0; c < truth.extent[0]; ++c) {
    for (Index i = 0; i < truth.extent[1]; ++i) {
      const auto s = static_cast<double>(truth(c, i)), e = static_cast<double>(estimate(c, i));
      sums.truth += s * s;
      sums.estimate += e * e;
      sums.product += s * e;
      sums.difference += (s - e) * (s - e);
    }
  }
  return sums;
}

}  // namespace

double sdr_db(View<const float, 2> truth, View<const float, 2> estimate) {
  const Sums sums = sums_of(truth, estimate);
  constexpr double silence = 1e-8;
  return 10 * std::log10((sums.truth + silence) / (sums.difference + silence));
}

double si_sdr_db(View<const float, 2> truth, View<const float, 2> estimate) {
  const Sums sums = sums_of(truth, estimate);
  if (sums.truth == 0) return std::numeric_limits<double>::quiet_NaN();
  const double scale = sums.product / sums.truth;
  double error = 0;  // summed anew: as a difference of sums it would be lost in rounding for good estimates
  for (Index c = 0; c < truth.extent[0]; ++c) {
    for (Index i = 0; i < truth.extent[1]; ++i) {
      const double left = scale * static_cast<double>(truth(c, i)) - static_cast<double>(estimate(c, i));
      error += left * left;
    }
  }
  const double signal = scale * scale * sums.truth;
  return signal == 0 ? -std::numeric_limits<double>::infinity() : 10 * std::log10(signal / error);
}

Index Frames::count(Index samples) const {
  assert(window >= 1 && hop >= 1);
  return samples < window ? 1 : std::max<Index>(1, (samples - window + hop) / hop);
}

std::vector<double> framewise_sdr_db(View<const float, 2> truth, View<const float, 2> estimate, const Frames& frames) {
  std::vector<double> values;
  for (Index k = 0; k < frames.count(truth.extent[1]); ++k) {
    const auto part = frames.part(truth, k);
    values.push_back(is_silent(part) ? std::numeric_limits<double>::quiet_NaN()
                                     : sdr_db(part, frames.part(estimate, k)));
  }
  return values;
}

double median_of_numbers(std::vector<double> values) {
  std::erase_if(values, [](double x) { return std::isnan(x); });
  return values.empty() ? std::numeric_limits<double>::quiet_NaN() : median(std::move(values));
}

bool is_silent(View<const float, 2> samples) {
  for (Index c = 0; c < samples.extent[0]; ++c)
    for (Index i = 0; i < samples.extent[1]; ++i)
      if (samples(c, i) != 0) return false;
  return true;
}

}  // namespace sonde::separate

// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/report/spread.h"

#include <algorithm>
#include <cmath>

namespace sonde {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

double median_absolute_deviation(std::vector<double> values, double centre) {
  for (double& value : values) value = std::abs(value - centre);
  return median(std::move(values));
}

double Spread::uncertainty() const {
  if (samples == 0) return 0;
  return 1.2533 * 1.4826 * mad / std::sqrt(static_cast<double>(samples));
}

Value Spread::to_value() const {
  Value value;
  value["median"] = median;
  value["min"] = min;
  value["mad"] = mad;
  value["samples"] = samples;
  return value;
}

Spread spread_of(const std::vector<double>& values) {
  if (values.empty()) return {};
  const double centre = median(values);
  return {centre, *std::min_element(values.begin(), values.end()), median_absolute_deviation(values, centre),
          static_cast<Index>(values.size())};
}

}  // namespace sonde

// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/read/count_unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "sonde/engine/base/error.h"

namespace sonde::ptycho {
namespace {

constexpr Index most_values = Index{1} << 20;  // some megabytes; a divisor shows in the first hundred values

template <class T>
std::vector<T> positive_sample(const Array& patterns) {
  const T* values = static_cast<const T*>(patterns.data());
  std::vector<T> sample;
  for (Index i = 0; i < patterns.count() && static_cast<Index>(sample.size()) < most_values; ++i)
    if (values[i] > 0 && std::isfinite(static_cast<double>(values[i]))) sample.push_back(values[i]);
  return sample;
}

/// Whether small values are too alike for counts. Of counts of whatever rates, h(k) of them k, (k + 1) h(k + 1) / h(k)
/// is the mean rate of those that gave k, which does not fall with k. The noise of an analogue detector has a width of
/// its own, s, and from s^2 on it falls: seen up to s = 3, beyond that there are no values left. Half of the largest
/// value and more may be saturated.
template <class T>
bool too_alike_for_counts(const std::vector<T>& sample) {
  if (sample.empty()) return false;
  constexpr std::size_t most = 64;
  std::array<double, most + 2> seen;
  seen.fill(0.5);  // one that was not met might have been
  for (const T value : sample)
    if (value <= most + 1) seen[static_cast<std::size_t>(value)] += 1;
  const auto largest = static_cast<std::size_t>(*std::max_element(sample.begin(), sample.end()));
  const auto log_rate = [&](std::size_t k) { return std::log(static_cast<double>(k + 1) * seen[k + 1] / seen[k]); };
  const auto variance = [&](std::size_t k) { return 1 / seen[k] + 1 / seen[k + 1]; };
  constexpr double certain = 8;             // standard deviations, of some thousand pairs
  const double noticeable = std::log(1.1);  // in nature counting is not perfect either
  for (std::size_t k = 3; k <= std::min(most, largest / 2); ++k)
    for (std::size_t j = 1; j + 2 <= k; ++j) {
      const double fall = log_rate(j) - log_rate(k);
      if (fall > noticeable && fall > certain * std::sqrt(variance(j) + variance(k))) return true;
    }
  return false;
}

template <class T>
CountUnit unit_of_integers(const Array& patterns) {
  const std::vector<T> sample = positive_sample<T>(patterns);
  std::uint64_t divisor = 0;
  for (const T value : sample) {
    divisor = std::gcd(divisor, static_cast<std::uint64_t>(value));
    if (divisor == 1) break;
  }
  if (divisor == 1 && too_alike_for_counts(sample)) return {0, "small values are more alike than counts can be"};
  if (divisor <= 1) return {};
  return {1.0 / static_cast<double>(divisor), fmt::format("every value is a multiple of {}", divisor)};
}

/// Whether every value is a whole multiple of `unit`, as closely as T holds it.
template <class T>
bool all_multiples(const std::vector<T>& sample, double unit) {
  const double rounding = 4.0 * std::numeric_limits<T>::epsilon();
  return std::all_of(sample.begin(), sample.end(), [&](T value) {
    const double multiple = static_cast<double>(value) / unit, off = std::abs(multiple - std::round(multiple));
    return off <= rounding * multiple && off < 0.01;  // beyond that any number would pass
  });
}

/// The unit that differences of values suggest, refined along the values: the larger a multiple, the better it
/// determines the unit. 0 where there are fewer than two values.
template <class T>
double suggested_unit(std::vector<T> sample) {
  std::sort(sample.begin(), sample.end());
  const double rounding = 4.0 * std::numeric_limits<T>::epsilon();
  double unit = sample.front();
  for (std::size_t i = 1; i < sample.size(); ++i)
    if (const double step = static_cast<double>(sample[i]) - sample[i - 1]; step > rounding * sample[i])
      unit = std::min(unit, step);
  for (const T value : sample) {
    const double multiple = std::round(value / unit);
    if (multiple >= 1 && std::abs(value / unit - multiple) < 0.1) unit = value / multiple;
  }
  return unit;
}

template <class T>
CountUnit unit_of_fractions(const Array& patterns) {
  const std::vector<T> sample = positive_sample<T>(patterns);
  if (sample.empty() || all_multiples(sample, 1.0)) return {};
  const double unit = suggested_unit(sample);
  if (all_multiples(sample, unit)) return {1 / unit, fmt::format("every value is a multiple of {:.6g}", unit)};
  return {0, "the values are fractions without a common unit"};
}

}  // namespace

CountUnit count_unit_of(const Array& patterns) {
  switch (patterns.dtype()) {
    case DType::u8:
      return unit_of_integers<std::uint8_t>(patterns);
    case DType::u16:
      return unit_of_integers<std::uint16_t>(patterns);
    case DType::u32:
      return unit_of_integers<std::uint32_t>(patterns);
    case DType::f32:
      return unit_of_fractions<float>(patterns);
    case DType::f64:
      return unit_of_fractions<double>(patterns);
    default:
      throw Error(ErrorKind::internal, fmt::format("patterns of type {} were not converted", name(patterns.dtype())));
  }
}

}  // namespace sonde::ptycho

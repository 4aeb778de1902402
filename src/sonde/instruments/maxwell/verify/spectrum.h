// SPDX-License-Identifier: Apache-2.0
// Private to the room: from a closed form in frequency to the record that it predicts.
#pragma once

#include <complex>
#include <functional>
#include <span>
#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde::maxwell {

using Complex = std::complex<double>;
inline constexpr Complex imaginary_unit{0, 1};

/// Samples at (n + offset) dt.
struct Signal {
  std::vector<double> samples{};
  double dt = 0;      ///< s
  double offset = 0;  ///< steps
};

/// Integral of s(t) exp(-j w t) dt, w in rad/s.
[[nodiscard]] Complex spectrum(const Signal& signal, double w);

/// Spectrum of a response over that of its source, at w in rad/s.
using Transfer = std::function<Complex(double w)>;

/// What a source makes through `transfer`, at the times of `like` (whose samples are not read). Frequencies up to
/// `highest` Hz.
[[nodiscard]] Signal response(const Signal& source, const Transfer& transfer, const Signal& like, double highest);

[[nodiscard]] double dot(std::span<const double> a, std::span<const double> b);
/// |a - b|_2 and |a|_2.
[[nodiscard]] double distance(std::span<const double> a, std::span<const double> b);
[[nodiscard]] double norm(std::span<const double> a);
/// Largest |a - b| and |a|.
[[nodiscard]] double largest_difference(std::span<const double> a, std::span<const double> b);
[[nodiscard]] double largest(std::span<const double> a);

/// 20 log10.
[[nodiscard]] double decibel(double amplitude_ratio);

}  // namespace sonde::maxwell

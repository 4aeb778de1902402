// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde::maxwell {

/// Two sets of wavelets; the same name may mean another function in the other set.
enum class WaveletFamily { native, gprmax };

/// A source signal in closed form. With f the frequency, t0 the delay and p = pi f (t - t0), the native set is
///   ricker               (1 - 2 p^2) exp(-p^2)
///   gaussian             exp(-p^2)
///   gaussian_derivative  -sqrt(2 e) p exp(-p^2): extremes +1 and -1
///   morlet               cos(2 p) exp(-(p / cycles)^2)
///   sine_burst           cos(2 p) (1 + cos(2 p / cycles)) / 2 while |t - t0| < cycles / (2 f), else 0.
/// The set of gprMax (Warren et al. 2016; the source of version 3.1), with g(t) = exp(-zeta (t - chi)^2), has for
/// chi = 1 / f and zeta = 2 (pi f)^2
///   gaussian g, gaussiandot = gaussianprime g', gaussiandotnorm g' sqrt(e / (2 zeta)), gaussiandoubleprime g'',
/// for chi = sqrt(2) / f and zeta = (pi f)^2
///   gaussiandotdot g'', gaussiandotdotnorm g'' / (2 zeta), ricker -g'' / (2 zeta),
/// and from t = 0 on (0 before)
///   sine      sin(2 pi f t) for one period, then 0
///   contsine  min(f t / 4, 1) sin(2 pi f t)
///   impulse   1 for t < dt, then 0.
struct Wavelet {
  WaveletFamily family = WaveletFamily::native;
  std::string name = "ricker";
  double frequency = 0;           ///< Hz, > 0
  std::optional<double> delay{};  ///< t0, s, of the native set; 1 / frequency when it is not given
  double amplitude = 1;           ///< a factor, in the unit of the source
  double cycles = 3;              ///< of morlet and sine_burst, > 0
};

/// The names of a set, in the order above.
[[nodiscard]] std::vector<std::string> wavelet_names(WaveletFamily family);

/// Throws Error(bad_input) for a name that is not in the set, for values that are not finite or not above 0 where they
/// must be, and for a delay with the set of gprMax, where it follows from the frequency.
void require_valid(const Wavelet& wavelet);

/// At time t [s]. `dt` [s] is the length of an impulse; other wavelets do not use it. Throws like require_valid().
[[nodiscard]] double value(const Wavelet& wavelet, double t, double dt = 0);

/// At the times (n + offset) dt, n = 0 ... count - 1. `dt` [s] is the time step of the run, offset in steps
/// (sample_offset.h). Throws like require_valid().
[[nodiscard]] std::vector<double> sampled(const Wavelet& wavelet, Index count, double dt, double offset);

/// A source signal given by numbers, for instance a column of an excitation file of gprMax: piecewise linear between
/// its points, 0 before the first and after the last.
struct WaveletTable {
  std::string name;
  std::vector<double> times;  ///< s, increasing
  std::vector<double> values;
};

/// Throws Error(bad_input) when the lists differ in length or are empty, and when the times do not increase.
void require_valid(const WaveletTable& table);

/// At time t [s] of a valid table.
[[nodiscard]] double value(const WaveletTable& table, double t);

/// At the times (n + offset) dt, n = 0 ... count - 1. Throws like require_valid().
[[nodiscard]] std::vector<double> sampled(const WaveletTable& table, Index count, double dt, double offset);

/// The highest frequency [Hz], at most 1 / (2 dt), at which the spectrum of samples dt [s] apart is at least -40 dB of
/// its largest amplitude; 0 for a series of zeros. For a Ricker wavelet 2.76 times its frequency. What is cut off at
/// the ends of the series broadens the spectrum, here and in the run. One transform of 8 to 16 times the series.
[[nodiscard]] double highest_frequency(std::span<const double> samples, double dt);

}  // namespace sonde::maxwell

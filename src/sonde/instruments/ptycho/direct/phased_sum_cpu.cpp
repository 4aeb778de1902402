// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/device/multiversion.h"
#include "sonde/instruments/ptycho/direct/phased_sum.h"

#define SONDE_INLINE [[gnu::always_inline]] inline

namespace sonde::ptycho::cpu {
namespace {

/// Adding and subtracting this rounds to whole numbers, without a call that would stop the vectoriser.
constexpr double rounder = 0x1.8p52;

/// exp(2 pi i turns).
SONDE_INLINE void phasor(double turns, float& cosine, float& sine) {
  // The nearest quarter of a turn, and the angle beyond it, at most pi / 4.
  const double quarters = 4 * turns;
  const double whole = (quarters + rounder) - rounder;
  const auto x = static_cast<float>((quarters - whole) * 1.5707963267948966);
  const auto quarter = static_cast<float>(whole - 4 * (((whole * 0.25 - 0.375) + rounder) - rounder));  // 0, 1, 2, 3
  // Taylor series: the first terms left out are below 2e-8.
  const float x2 = x * x;
  const float s = x * (1 + x2 * (-1.0f / 6 + x2 * (1.0f / 120 + x2 * (-1.0f / 5040 + x2 * (1.0f / 362880)))));
  const float c =
      1 + x2 * (-0.5f + x2 * (1.0f / 24 + x2 * (-1.0f / 720 + x2 * (1.0f / 40320 - x2 * (1.0f / 3628800)))));
  const bool odd = quarter == 1 || quarter == 3;
  const float c1 = odd ? s : c, s1 = odd ? c : s;
  cosine = (quarter == 1 || quarter == 2) ? -c1 : c1;
  sine = quarter >= 2 ? -s1 : s1;
}

}  // namespace

SONDE_MULTIVERSION
void add_phased(const Lens::Line& line, double sign, Index first, Index last, const float* __restrict real,
                const float* __restrict imaginary, double* __restrict sum_real, double* __restrict sum_imaginary) {
  const Lens::Line powers = line;  // a copy: what is written below cannot change it
  const Index count = last - first;
  const auto from = static_cast<double>(first);
  const auto factor = static_cast<float>(sign);
  for (Index i = 0; i < count; ++i) {
    const double t = from + static_cast<double>(i);
    double turns = powers[6];
    turns = turns * t + powers[5];
    turns = turns * t + powers[4];
    turns = turns * t + powers[3];
    turns = turns * t + powers[2];
    turns = turns * t + powers[1];
    turns = turns * t + powers[0];
    float c, s;
    phasor(turns, c, s);
    sum_real[i] += static_cast<double>(factor * (real[i] * c - imaginary[i] * s));
    sum_imaginary[i] += static_cast<double>(factor * (real[i] * s + imaginary[i] * c));
  }
}

SONDE_MULTIVERSION
void phase_by(const double (&at)[3], const float* const (&turns)[4], Index count, const float* __restrict real,
              const float* __restrict imaginary, float* __restrict out_real, float* __restrict out_imaginary) {
  const double a = at[0], b = at[1], d = at[2];
  const float *t0 = turns[0], *t1 = turns[1], *t2 = turns[2], *t3 = turns[3];
  for (Index i = 0; i < count; ++i) {
    float c, s;
    phasor(static_cast<double>(t0[i]) + a * static_cast<double>(t1[i]) + b * static_cast<double>(t2[i]) +
               d * static_cast<double>(t3[i]),
           c, s);
    out_real[i] = real[i] * c - imaginary[i] * s;
    out_imaginary[i] = real[i] * s + imaginary[i] * c;
  }
}

}  // namespace sonde::ptycho::cpu

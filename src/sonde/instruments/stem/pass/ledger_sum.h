// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <string>

namespace sonde::stem {

/// 128 bits: 2^27 frames of 2^24 pixels of 32 bits sum to less than 2^83.
__extension__ typedef unsigned __int128 WideCount;

/// A sum of counts, exact in 128 bits, or of floating-point values in f64.
class LedgerSum {
 public:
  LedgerSum() = default;
  template <std::unsigned_integral T>
  LedgerSum(T value) : whole_(value) {}
  LedgerSum(WideCount value) : whole_(value) {}
  LedgerSum(double value) : real_(value) {}

  LedgerSum& operator+=(const LedgerSum& other);
  /// For counts `other` must not be larger.
  LedgerSum& operator-=(const LedgerSum& other);
  [[nodiscard]] WideCount whole() const { return whole_; }
  /// The sum as f64: rounded for counts beyond 2^53.
  [[nodiscard]] double real() const { return real_ + static_cast<double>(whole_); }
  /// Decimal digits of counts; floating-point sums are not zero in real().
  [[nodiscard]] std::string digits() const;

 private:
  WideCount whole_ = 0;
  double real_ = 0;
};

}  // namespace sonde::stem

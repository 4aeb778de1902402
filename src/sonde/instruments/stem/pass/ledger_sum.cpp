// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/pass/ledger_sum.h"

#include <algorithm>

namespace sonde::stem {

LedgerSum& LedgerSum::operator+=(const LedgerSum& other) {
  whole_ += other.whole_;
  real_ += other.real_;
  return *this;
}

LedgerSum& LedgerSum::operator-=(const LedgerSum& other) {
  whole_ -= other.whole_;
  real_ -= other.real_;
  return *this;
}

std::string LedgerSum::digits() const {
  std::string text;
  for (WideCount rest = whole_; rest != 0 || text.empty(); rest /= 10)
    text.push_back(static_cast<char>('0' + static_cast<int>(rest % 10)));
  std::reverse(text.begin(), text.end());
  return text;
}

}  // namespace sonde::stem

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "sonde/instruments/maxwell/verify/row.h"

namespace sonde::maxwell {

/// A comparison of the propagator with what is known of its fields without it.
struct VerifyCheck {
  std::string_view id;    ///< a word
  std::string_view what;  ///< what is compared with what
  std::vector<VerifyRow> (*rows)(VerifySize size);
};

/// All checks, in the order in which they run.
[[nodiscard]] std::span<const VerifyCheck> verify_checks();

/// Runs checks on the CPU, in float64 where a row does not say otherwise, with all threads; `each` gets the rows of a
/// check as soon as it is done. All of them take some 10 s (quick) or 4 minutes (full) on two cores, and below 1 GB.
[[nodiscard]] std::vector<VerifyRow> verify_rows(VerifySize size,
                                                 const std::function<void(const VerifyRow&)>& each = {},
                                                 std::span<const VerifyCheck> checks = verify_checks());

}  // namespace sonde::maxwell

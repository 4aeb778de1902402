// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sonde/instruments/maxwell/verify/row.h"

namespace sonde::maxwell {

/// A comparison of waves and their derivatives with what is known of them without the code that computes them, on the
/// CPU, in float64 where a row does not say otherwise, with all threads; "determinism" sets the number of threads while
/// it runs. All of them take some 10 s (quick) or 4 minutes (full) on two cores, and below 1 GB.
struct VerifyCheck {
  std::string_view id;    ///< a word
  std::string_view what;  ///< what is compared with what
  std::vector<VerifyRow> (*rows)(VerifySize size);
};

/// The one that several processes make, all of them together.
inline constexpr std::string_view check_of_ranks = "ranks";
/// All checks, in the order in which they run.
[[nodiscard]] std::span<const VerifyCheck> verify_checks();

}  // namespace sonde::maxwell

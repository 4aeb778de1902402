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

/// Runs all checks on the CPU, in float64 where a row does not say otherwise, with all threads; `each` gets the rows of
/// a check as soon as it is done. Quick: about 10 s and 0.2 GB on two cores; full: minutes and 1 GB.
[[nodiscard]] std::vector<VerifyRow> verify_rows(VerifySize size,
                                                 const std::function<void(const VerifyRow&)>& each = {});

}  // namespace sonde::maxwell

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sonde/instruments/ptycho/quality/diagnose.h"
#include "sonde/instruments/ptycho/results/result.h"

namespace sonde::ptycho {

/// What the measurement offered, as the run noted it; nothing in results of other programs.
[[nodiscard]] std::optional<Acquisition> acquisition_of(const Result& result);

/// The diagnoses of quality/diagnose.h from what a result holds: estimate, metrics, and the run's notes of acquisition,
/// floor and semiangle. `earlier`: a result of the same scan to tell blurring by, without regularisation or of fewer
/// iterations, or nullptr. `semiangle` (rad) in place of the noted one. Throws Error(bad_input) when the objects of
/// both differ in size.
[[nodiscard]] std::vector<Diagnosis> diagnose(const Result& result, const Result* earlier = nullptr,
                                              std::optional<double> semiangle = std::nullopt);

}  // namespace sonde::ptycho

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/engine/panel/result_page.h"

namespace sonde::maxwell {

/// The panels that come first on the page of a result: fields over time and their energy, models and how an inversion
/// came to its own, the objective, traces of the receivers, gradients.
[[nodiscard]] std::vector<panel::ResultPanel> arrange(const panel::StoredResult& result);

}  // namespace sonde::maxwell

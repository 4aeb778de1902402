// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/engine/panel/result_page.h"

namespace sonde::ptycho {

/// The panels that come first on the page of a reconstruction: object, probe, errors over the iterations, and where the
/// positions were and are.
[[nodiscard]] std::vector<panel::ResultPanel> arrange(const panel::StoredResult& result);

}  // namespace sonde::ptycho

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde {

/// The periodic Hann window, w(n) = (1 - cos(2 pi n / count)) / 2 for n = 0 ... count - 1: copies of it that are count
/// / 2 apart add up to 1.
[[nodiscard]] std::vector<double> hann_window(Index count);

}  // namespace sonde

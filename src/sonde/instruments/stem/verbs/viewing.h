// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "sonde/engine/run/instrument.h"

namespace sonde::stem {

/// Scans and series of them, for `sonde view`.
[[nodiscard]] std::unique_ptr<Viewing> viewing();

}  // namespace sonde::stem

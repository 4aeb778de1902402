// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace sonde {

/// Every count and index of elements. Signed, so that differences and reverse loops are safe; 64 bits, because scans
/// pass 2^32 elements.
using Index = std::int64_t;

}  // namespace sonde

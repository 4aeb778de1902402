// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <span>

#include "sonde/instruments/stem/load/load_pass.h"

namespace sonde::stem {

/// Sets detector pixels (flat, resident grid) to zero in a resident array of counts and takes them out of its moments,
/// as if they had been masked while loading. The array is planes (pixel, position) or frames (position, row, col).
/// result.pass.largest becomes that of the pixels that stay. Costs one read and write of the zeroed elements.
void zero_in_place(std::span<const Index> pixels, Destination destination, Array& array, LoadResult& result);

}  // namespace sonde::stem

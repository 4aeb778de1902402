// SPDX-License-Identifier: Apache-2.0
// Private to the room: one row of a frame.
#pragma once

#include <cstdint>

#include "sonde/engine/base/index.h"

namespace sonde::stem::cpu {

/// maxima[c] = 1 where middle[c] > low and it is a maximum of its 3 x 3 pixels, else 0, for c in [1, cols - 1); the two
/// ends are 0. Of each pair of opposite neighbours it must be above one and not below the other: a plateau of two is
/// one maximum, its first pixel, or on the rising diagonal its second.
void find_maxima(const std::uint8_t* above, const std::uint8_t* middle, const std::uint8_t* below, Index cols,
                 std::uint8_t low, std::uint8_t* maxima);
void find_maxima(const std::uint16_t* above, const std::uint16_t* middle, const std::uint16_t* below, Index cols,
                 std::uint16_t low, std::uint8_t* maxima);
void find_maxima(const float* above, const float* middle, const float* below, Index cols, float low,
                 std::uint8_t* maxima);

/// out[c] = (float(row[c]) - dark[c]) * gain[c].
void correct_row(const std::uint8_t* row, const float* dark, const float* gain, Index cols, float* out);
void correct_row(const std::uint16_t* row, const float* dark, const float* gain, Index cols, float* out);
void correct_row(const std::uint32_t* row, const float* dark, const float* gain, Index cols, float* out);
void correct_row(const std::uint64_t* row, const float* dark, const float* gain, Index cols, float* out);
void correct_row(const float* row, const float* dark, const float* gain, Index cols, float* out);
void correct_row(const double* row, const float* dark, const float* gain, Index cols, float* out);

}  // namespace sonde::stem::cpu

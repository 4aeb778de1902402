// SPDX-License-Identifier: Apache-2.0
// Private to the room: the two orders that finding an edge takes of every pixel of a pattern.
#pragma once

#include <array>
#include <vector>

namespace sonde::stem {

/// The fifth largest, without a branch on the values: a selection takes more than twice as long. No NaN.
[[nodiscard]] double median_of_nine(std::array<double, 9> values);

/// Ascending, -0 before 0. By digits of eleven bits, of which those that are the same in all values (whole numbers, one
/// exponent) cost nothing: 0.5 ms for the 36,864 values of a mean pattern where std::sort takes 1.3. No NaN.
void sort_values(std::vector<double>& values);

}  // namespace sonde::stem

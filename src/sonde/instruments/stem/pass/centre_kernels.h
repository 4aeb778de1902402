// SPDX-License-Identifier: Apache-2.0
// Private to the room: the loop of CentreSums over one frame.
#pragma once

#include <cstdint>

#include "sonde/instruments/stem/pass/frame_kernels.h"

namespace sonde::stem::cpu {

template <class Sum>
struct CentreSumsOf {
  Sum total = 0, moment_row = 0, moment_col = 0, square_row = 0, square_col = 0;
};

/// The sums of CentreSums over the elements above `threshold`; without one over all. No element is above `most`: small
/// values are summed in narrow elements. `column_sums` is scratch of `cols` elements.
[[nodiscard]] CentreSumsOf<std::uint64_t> centre_sums(const std::uint8_t* frame, Index rows, Index cols,
                                                      std::uint8_t most, const std::uint8_t* threshold,
                                                      std::uint64_t* column_sums);
[[nodiscard]] CentreSumsOf<std::uint64_t> centre_sums(const std::uint16_t* frame, Index rows, Index cols,
                                                      std::uint16_t most, const std::uint16_t* threshold,
                                                      std::uint64_t* column_sums);
[[nodiscard]] CentreSumsOf<std::uint64_t> centre_sums(const std::uint32_t* frame, Index rows, Index cols,
                                                      std::uint32_t most, const std::uint32_t* threshold,
                                                      std::uint64_t* column_sums);
[[nodiscard]] CentreSumsOf<std::uint64_t> centre_sums(const std::uint64_t* frame, Index rows, Index cols,
                                                      std::uint64_t most, const std::uint64_t* threshold,
                                                      std::uint64_t* column_sums);
[[nodiscard]] CentreSumsOf<double> centre_sums(const float* frame, Index rows, Index cols, float most,
                                               const float* threshold, double* column_sums);
[[nodiscard]] CentreSumsOf<double> centre_sums(const double* frame, Index rows, Index cols, double most,
                                               const double* threshold, double* column_sums);

}  // namespace sonde::stem::cpu

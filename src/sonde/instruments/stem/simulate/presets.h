// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sonde/engine/array/dtype.h"
#include "sonde/instruments/stem/simulate/model.h"

namespace sonde::stem {

/// The reference inputs of the benchmarks, and the seed they are drawn with. Disk with 0.85 of the dose, halo with
/// 0.15, nine beam shifts of -1, 0 and +1 px in turn, no specimen.
///  - W1: 128 x 128 positions of 192 x 192 pixels, on average 1 count per pixel, disk radius 30 px, halo length 25 px,
///  four
///    sentinel pixels. As u16 it compresses 9.7 : 1 with bitshuffle-LZ4.
///  - W2: the same with 0.1 counts per pixel; 23 : 1.
///  - W3: 256 x 256 positions of 96 x 96 pixels, 1 count per pixel, disk radius 10 px, without sentinels; for u8 arrays
///  in
///    memory.
enum class Workload { w1, w2, w3 };

inline constexpr std::uint64_t workload_seed = 20240601;

[[nodiscard]] Model workload(Workload which);
/// The same patterns on a scan of another size; benchmarks take fewer frames where the whole does not fit.
[[nodiscard]] Model workload(Workload which, Index scan_rows, Index scan_cols);
/// u16 for W1 and W2, u8 for W3.
[[nodiscard]] DType workload_dtype(Workload which);

}  // namespace sonde::stem

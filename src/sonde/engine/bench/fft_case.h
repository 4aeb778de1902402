// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/bench/case.h"

namespace sonde {

/// Two-dimensional Fourier transforms of `size` x `size`, in float and double: on the CPU every thread transforms data
/// of its own that stay in its cache, on a GPU batches run on one stream. It is the floor of whatever transforms
/// patterns one by one; 5 N log2 N operations for N elements. As difference: that of a plane wave's transform from its
/// one peak, over the peak.
[[nodiscard]] BenchCase fft_bench_case();

}  // namespace sonde

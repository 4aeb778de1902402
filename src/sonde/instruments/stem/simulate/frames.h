// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/instruments/stem/simulate/model.h"

namespace sonde::stem {

/// Frames [first, first + count) of a model's scan as (count, rows, cols) of u8, u16 or u32 in host memory: independent
/// Poisson counts of the model's rates, drawn by (seed, frame, pixel), so that any frame is the same by itself.
/// Sentinel pixels hold the largest value of the type. Runs on all threads, answers interrupts. Throws Error(bad_input)
/// when a count does not fit into the type (nothing is clipped), or reaches its largest value while that means "no
/// data". Cost: about 0.3 ms per frame of 192 x 192 pixels and thread.
[[nodiscard]] Array simulate_frames(const Model& model, std::uint64_t seed, Index first, Index count, DType dtype);

/// The electrons that fell in one of these frames, of a model with an integrating detector, which shows them as clouds.
[[nodiscard]] std::vector<FallenElectron> simulated_electrons(const Model& model, std::uint64_t seed, Index frame);

/// The same frames as bitshuffle-LZ4 chunks of one frame each, as ARINA files hold them, without keeping the plain
/// ones.
[[nodiscard]] std::vector<std::vector<std::byte>> simulate_chunks(const Model& model, std::uint64_t seed, Index first,
                                                                  Index count, DType dtype);

}  // namespace sonde::stem

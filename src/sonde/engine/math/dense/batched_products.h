// SPDX-License-Identifier: Apache-2.0
// Private to the room: cuBLAS behind the products of batched.h. Nothing here is referred to in a build without CUDA.
#pragma once

#include "sonde/engine/math/dense/batched.h"

namespace sonde::dense::cuda {

/// The library's state for one stream, with its workspace: 32 MiB, as its manual asks for on this generation.
inline constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

[[nodiscard]] void* create_products(Stream& stream, void* workspace);
void destroy_products(Device device, void* products) noexcept;
void multiply(void* products, double alpha, ConstBatch a, Form form_a, ConstBatch b, Form form_b, double beta, Batch c);

}  // namespace sonde::dense::cuda

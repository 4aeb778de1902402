// SPDX-License-Identifier: Apache-2.0
// Private to this room: the containers of checkpoints.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sonde/instruments/separate/weights/checkpoint.h"

namespace sonde::separate {

/// Fill in format, tensors and all that they find; path and file are there.
void read_torch_zip(Checkpoint& checkpoint, const std::string& state_key);
void read_torch_legacy(Checkpoint& checkpoint, const std::string& state_key);
void read_safetensors(Checkpoint& checkpoint, const std::string& state_key);

/// Whether `bytes` begin with a pickle of the number that marks the format before PyTorch 1.6.
[[nodiscard]] bool is_torch_legacy(std::span<const std::byte> bytes);
/// Whether they begin with the length of a JSON object that fits into them.
[[nodiscard]] bool is_safetensors(std::span<const std::byte> bytes);

/// The elements of a tensor of whole numbers, all of them exact.
[[nodiscard]] std::vector<std::int64_t> whole_values_of(const StoredTensor& tensor);

/// The product; nothing when it is beyond `most`. Extents are not negative.
[[nodiscard]] std::optional<Index> count_within(const Shape& shape, Index most);
/// Zeros for an array without elements.
[[nodiscard]] std::array<Index, Shape::max_rank> contiguous_strides(const Shape& shape);

}  // namespace sonde::separate

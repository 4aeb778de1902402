// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace sonde {

enum class DeflateFraming { raw, zlib_or_gzip };

/// Deflate (RFC 1951) shrinks at most 1032 times; a size beyond that is a lie and must not be allocated.
inline constexpr std::size_t most_deflate_ratio = 1032;

/// Decompresses all of `from` into all of `to`; false when the data are broken or have another size. Never writes
/// beyond `to`. Any size.
[[nodiscard]] bool inflate_exactly(std::span<const std::byte> from, std::span<std::byte> to, DeflateFraming framing);

}  // namespace sonde

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sonde {

/// The checksum of ZIP, gzip and PNG: CRC-32 with the polynomial 0x04c11db7. 10 to 20 GB/s on one thread where the
/// processor multiplies without carries (PCLMULQDQ), else as fast as zlib.
[[nodiscard]] std::uint32_t crc32_of(std::span<const std::byte> bytes);

}  // namespace sonde

// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/codec/lz4_block.h"

#include <lz4.h>

namespace sonde {

std::int64_t decompress_lz4_block(const std::byte* from, std::size_t from_bytes, std::byte* to, std::size_t to_bytes,
                                  ZeroRuns& /*zeros*/) {
  return LZ4_decompress_safe(reinterpret_cast<const char*>(from), reinterpret_cast<char*>(to),
                             static_cast<int>(from_bytes), static_cast<int>(to_bytes));
}

}  // namespace sonde

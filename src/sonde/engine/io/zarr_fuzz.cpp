// SPDX-License-Identifier: Apache-2.0
// Any text is metadata that make sense or an Error; what follows the first zero byte is decoded as a chunk of them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/zarr.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::uint8_t* end = std::find(bytes, bytes + size, std::uint8_t{0});
  const std::string_view text(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(end - bytes));
  try {
    const sonde::ZarrMetadata metadata = sonde::parse_zarr_metadata(text, "fuzz/.zarray");
    if (metadata.shape.rank() != metadata.chunks.rank() || metadata.chunk_bytes() == 0) std::abort();
    constexpr std::size_t most_bytes = std::size_t{1} << 16;  // keeps the fuzzer fast
    if (end == bytes + size || metadata.chunk_bytes() > most_bytes) return 0;
    std::vector<std::byte> elements(metadata.chunk_bytes());
    sonde::decode_zarr_chunk(metadata, std::as_bytes(std::span(end + 1, bytes + size)), elements, "fuzz/0.0");
  } catch (const sonde::Error&) {
  }
  return 0;
}

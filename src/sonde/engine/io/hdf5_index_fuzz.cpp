// SPDX-License-Identifier: Apache-2.0
// The input is the image of a whole file behind 8 bytes that place the object header: the walk over superblock, header,
// layout and tree must end, and must answer or throw Error, whatever the bytes are.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/chunk_index.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size < 8) return 0;
  sonde::ChunkedLayout layout = {{6, 8}, {1, 8}, 1, 0};
  std::memcpy(&layout.header_address, bytes, 8);
  const auto image = std::as_bytes(std::span(bytes + 8, size - 8));
  const sonde::ReadAt read_at = [&](std::uint64_t offset, std::span<std::byte> out) {
    if (offset > image.size() || out.size() > image.size() - offset) std::abort();  // promised not to happen
    std::memcpy(out.data(), image.data() + offset, out.size());
    return true;
  };
  try {
    const auto index = sonde::walk_chunk_tree(read_at, image.size(), layout);
    if (index && index->entries.size() != 6) std::abort();
    if (index) (void)index->outside(image.size());
  } catch (const sonde::Error&) {
  }
  return 0;
}

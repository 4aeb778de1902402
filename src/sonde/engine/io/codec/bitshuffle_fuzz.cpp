// SPDX-License-Identifier: Apache-2.0
// One input: element size, codec, block size, 16-bit logical size, then the chunk. What any kernel accepts the portable
// one must accept (it is the only one to let LZ4 offsets of 0 pass), and all give the same bytes, as elements and as
// planes; what was accepted must survive encoding and decoding.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/codec/bitshuffle.h"
#include "sonde/engine/io/codec/bitshuffle_kernels.h"

namespace {

using namespace sonde;
using Bytes = std::vector<std::byte>;

struct Input {
  BitshuffleFormat format;
  std::size_t logical_bytes;
  Bytes chunk;
};

Input parse(const std::uint8_t* bytes, std::size_t size) {
  constexpr BitshuffleCodec codecs[] = {BitshuffleCodec::lz4, BitshuffleCodec::none, BitshuffleCodec::zstd};
  Input input;
  input.format = {1 + bytes[0] % std::size_t{16}, std::size_t{8} * bytes[2], codecs[bytes[1] % 3]};
  input.logical_bytes = bytes[3] + 256 * std::size_t{bytes[4]};
  input.logical_bytes -= input.logical_bytes % input.format.element_bytes;
  input.chunk.resize(size - 5);  // a buffer of exactly this size, so that the sanitiser sees one byte too many
  if (size > 5) std::memcpy(input.chunk.data(), bytes + 5, size - 5);
  return input;
}

bool accepted(const Input& input, BitshuffleScratch& scratch, Bytes& out) {
  try {
    decode_bitshuffle(input.chunk, input.format, scratch, out);
    return true;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_file) std::abort();
    return false;
  }
}

void check_planes(const Input& input, BitshuffleScratch& scratch, const Bytes& expected) {
  Bytes out(input.logical_bytes);
  const std::size_t size = input.format.element_bytes;
  visit_bit_planes(
      input.chunk, input.format, input.logical_bytes, {}, scratch,
      [&](const BitPlanes& block) {
        elements_from_planes(bitshuffle_kernels_portable(), block.planes, block.elements, size,
                             out.data() + block.first * size);
      },
      [&](const BitshuffleTail& tail) {
        std::copy(tail.bytes.begin(), tail.bytes.end(), out.data() + tail.first * size);
      });
  if (out != expected) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size < 5) return 0;
  const Input input = parse(bytes, size);
  static std::vector<BitshuffleScratch> scratches = [] {
    std::vector<BitshuffleScratch> made;
    for (const BitshuffleKernels* kernels : usable_bitshuffle_kernels()) made.emplace_back(*kernels);
    return made;
  }();
  Bytes expected(input.logical_bytes);
  const bool valid = accepted(input, scratches.front(), expected);
  for (BitshuffleScratch& scratch : scratches) {
    Bytes out(input.logical_bytes);
    if (!accepted(input, scratch, out)) continue;
    if (!valid) std::abort();
    if (out != expected) std::abort();
    if (input.format.element_bytes <= 8) check_planes(input, scratch, expected);
    Input again = input;
    again.chunk.clear();
    encode_bitshuffle(expected, input.format, scratch, again.chunk);
    if (!accepted(again, scratch, out) || out != expected) std::abort();
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/codec/bitshuffle_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "sonde/engine/base/error.h"

namespace sonde {

BitshuffleScratch::BitshuffleScratch() : BitshuffleScratch(best_bitshuffle_kernels()) {}
BitshuffleScratch::BitshuffleScratch(const BitshuffleKernels& kernels) : state_(std::make_unique<State>(kernels)) {}
BitshuffleScratch::BitshuffleScratch(BitshuffleScratch&&) noexcept = default;
BitshuffleScratch& BitshuffleScratch::operator=(BitshuffleScratch&&) noexcept = default;
BitshuffleScratch::~BitshuffleScratch() = default;

std::size_t default_block_elements(std::size_t element_bytes) {
  return std::max<std::size_t>(128, 8192 / element_bytes / 8 * 8);
}

void check_format(const BitshuffleFormat& format, std::size_t bytes) {
  if (format.element_bytes == 0) throw Error(ErrorKind::bad_input, "bitshuffle: elements of 0 bytes");
  if (format.block_elements % 8 != 0)
    throw Error(ErrorKind::bad_input,
                fmt::format("bitshuffle: blocks of {} elements, expected a multiple of 8", format.block_elements));
  if (format.codec != BitshuffleCodec::none && format.codec != BitshuffleCodec::lz4 &&
      format.codec != BitshuffleCodec::zstd)
    throw Error(ErrorKind::bad_input, fmt::format("bitshuffle: codec {}, known are 0 (none), 2 (lz4) and 3 (zstd)",
                                                  static_cast<std::uint32_t>(format.codec)));
  if (bytes % format.element_bytes != 0)
    throw Error(ErrorKind::bad_input, fmt::format("bitshuffle: {} bytes are not a whole number of elements of {} bytes",
                                                  bytes, format.element_bytes));
}

}  // namespace sonde

// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/inflate.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

namespace sonde {

bool inflate_exactly(std::span<const std::byte> from, std::span<std::byte> to, DeflateFraming framing) {
  z_stream stream{};
  if (inflateInit2(&stream, framing == DeflateFraming::raw ? -MAX_WBITS : MAX_WBITS + 32) != Z_OK) return false;
  // zlib counts what is left in 32 bits, so that larger data are handed over in pieces.
  constexpr std::size_t most_bytes = std::numeric_limits<uInt>::max();
  std::byte nothing{};  // zlib refuses a null pointer, even for no bytes
  int status = Z_OK;
  std::size_t taken = 0, made = 0;
  while (status == Z_OK) {
    const auto in = static_cast<uInt>(std::min(from.size() - taken, most_bytes));
    const auto out = static_cast<uInt>(std::min(to.size() - made, most_bytes));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(from.data() + taken));
    stream.avail_in = in;
    stream.next_out = reinterpret_cast<Bytef*>(to.empty() ? &nothing : to.data() + made);
    stream.avail_out = out;
    status = inflate(&stream, Z_NO_FLUSH);
    taken += in - stream.avail_in;
    made += out - stream.avail_out;
  }
  inflateEnd(&stream);
  return status == Z_STREAM_END && taken == from.size() && made == to.size();
}

}  // namespace sonde

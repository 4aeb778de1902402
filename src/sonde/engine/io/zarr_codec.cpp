// SPDX-License-Identifier: Apache-2.0
#include <blosc.h>
#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <cstring>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/byte_order.h"
#include "sonde/engine/io/inflate.h"
#include "sonde/engine/io/zarr.h"

namespace sonde {
namespace {

/// Each returns the number of bytes it produced, or -1 for broken input; none writes beyond `to`.
std::int64_t inflate_all(std::span<const std::byte> from, std::span<std::byte> to) {
  return inflate_exactly(from, to, DeflateFraming::zlib_or_gzip) ? static_cast<std::int64_t>(to.size()) : -1;
}

std::int64_t lz4_all(std::span<const std::byte> from, std::span<std::byte> to) {
  // numcodecs writes the decoded size in front, 32 bits little endian.
  if (from.size() < 4 || load_little<std::uint32_t>(from.data()) != to.size()) return -1;
  const auto block = from.subspan(4);
  return LZ4_decompress_safe(reinterpret_cast<const char*>(block.data()), reinterpret_cast<char*>(to.data()),
                             static_cast<int>(block.size()), static_cast<int>(to.size()));
}

std::int64_t zstd_all(std::span<const std::byte> from, std::span<std::byte> to) {
  const std::size_t produced = ZSTD_decompress(to.data(), to.size(), from.data(), from.size());
  return ZSTD_isError(produced) != 0 ? -1 : static_cast<std::int64_t>(produced);
}

std::int64_t blosc_all(std::span<const std::byte> from, std::span<std::byte> to) {
  std::size_t decoded = 0;
  if (blosc_cbuffer_validate(from.data(), from.size(), &decoded) != 0 || decoded != to.size()) return -1;
  constexpr int threads = 1;  // several chunks are decoded at a time already
  return blosc_decompress_ctx(from.data(), to.data(), to.size(), threads);
}

std::int64_t copy_all(std::span<const std::byte> from, std::span<std::byte> to) {
  if (from.size() != to.size()) return -1;
  if (!to.empty()) std::memcpy(to.data(), from.data(), to.size());
  return static_cast<std::int64_t>(to.size());
}

std::int64_t decompress(ZarrCodec codec, std::span<const std::byte> from, std::span<std::byte> to) {
  switch (codec) {
    case ZarrCodec::zlib:
      return inflate_all(from, to);
    case ZarrCodec::lz4:
      return lz4_all(from, to);
    case ZarrCodec::zstd:
      return zstd_all(from, to);
    case ZarrCodec::blosc:
      return blosc_all(from, to);
    case ZarrCodec::none:
      break;
  }
  return copy_all(from, to);
}

}  // namespace

void decode_zarr_chunk(const ZarrMetadata& metadata, std::span<const std::byte> stored, std::span<std::byte> elements,
                       const std::string& name) {
  constexpr std::size_t most_stored_bytes = std::size_t{1} << 31;
  const bool sane = stored.size() < most_stored_bytes;
  if (!sane || decompress(metadata.codec, stored, elements) != static_cast<std::int64_t>(elements.size()))
    throw Error(ErrorKind::bad_file, fmt::format("{}: the chunk of {} bytes does not decode to {} bytes", name,
                                                 stored.size(), elements.size()))
        .hint("the copy may be incomplete");
  if (metadata.big_endian) swap_bytes(elements, word_bytes(metadata.dtype));
}

}  // namespace sonde

// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/hdf5/filters.h"

#include <blosc.h>
#include <lz4.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <limits>

#include "sonde/engine/io/byte_order.h"
#include "sonde/engine/io/codec/bitshuffle.h"
#include "sonde/engine/io/hdf5/checksum.h"
#include "sonde/engine/io/inflate.h"

namespace sonde::hdf5 {

struct FilterScratch::State {
  std::array<Bytes, 2> stages;
  BitshuffleScratch bitshuffle;

  /// Room for what a filter makes; its bytes are not cleared.
  std::span<std::byte> stage(std::size_t number, std::size_t bytes) {
    Bytes& stage = stages[number % 2];
    if (stage.size() < bytes) {
      stage.clear();
      stage.resize(bytes);
    }
    return std::span(stage).first(bytes);
  }
};

FilterScratch::FilterScratch() : state_(std::make_unique<State>()) {}
FilterScratch::FilterScratch(FilterScratch&&) noexcept = default;
FilterScratch& FilterScratch::operator=(FilterScratch&&) noexcept = default;
FilterScratch::~FilterScratch() = default;

namespace {

enum FilterId : int {
  deflate = 1,
  shuffle = 2,
  fletcher = 3,
  nbit = 5,
  scale_offset = 6,
  lzf = 32000,
  blosc = 32001,
  lz4 = 32004,
  bitshuffle = 32008,
  zstd = 32015,
};

/// Names of filters that are met but not undone here.
std::string_view name_of(int id) {
  switch (id) {
    case 4:
      return "szip";
    case 305:
      return "LZO";
    case 307:
      return "bzip2";
    case 32009:
      return "SPDP";
    case 32010:
      return "LPC-Rice";
    case 32013:
      return "ZFP";
    case 32017:
      return "SZ";
    case 32018:
      return "FCIDECOMP";
    case 32019:
      return "JPEG";
    case 32024:
      return "SZ3";
    case 32026:
      return "Blosc2";
    default:
      return "";
  }
}

bool is_known(int id) {
  for (const int known : {deflate, shuffle, fletcher, nbit, scale_offset, lzf, blosc, lz4, bitshuffle, zstd})
    if (id == known) return true;
  return false;
}

bool keeps_size(int id) { return id == shuffle; }

/// Below how many bytes per stored byte a filter stays, whatever the elements are; a declared size beyond that is not
/// believed, so that nothing is allocated for it.
std::size_t most_ratio(int id) {
  switch (id) {
    case deflate:
      return most_deflate_ratio;
    case lzf:
    case lz4:
      return 300;
    case shuffle:
    case fletcher:
      return 1;
    case blosc:
    case bitshuffle:
    case zstd:
      return 40000;  // zstd: 128 KiB of one value in four bytes
    default:
      return std::numeric_limits<std::uint32_t>::max();
  }
}

std::size_t undo_deflate(ByteSpan from, std::span<std::byte> to) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) damaged("the inflater cannot be started");
  std::byte nothing{};  // zlib refuses a null pointer, even for no bytes
  constexpr std::size_t most_bytes = std::numeric_limits<uInt>::max();
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(from.data()));
  stream.avail_in = static_cast<uInt>(std::min(from.size(), most_bytes));
  stream.next_out = reinterpret_cast<Bytef*>(to.empty() ? &nothing : to.data());
  stream.avail_out = static_cast<uInt>(std::min(to.size(), most_bytes));
  const int status = inflate(&stream, Z_FINISH);
  const std::size_t made = std::min(to.size(), most_bytes) - stream.avail_out;
  inflateEnd(&stream);
  if (status != Z_STREAM_END) damaged("deflated bytes are broken or have another size");
  return made;
}

void undo_shuffle(ByteSpan from, std::size_t element_bytes, std::span<std::byte> to) {
  const std::size_t count = element_bytes == 0 ? 0 : from.size() / element_bytes;
  if (element_bytes <= 1 || count <= 1) {
    std::copy(from.begin(), from.end(), to.begin());
    return;
  }
  const auto gather = [&]<std::size_t fixed>(std::integral_constant<std::size_t, fixed>) {
    const std::size_t step = fixed != 0 ? fixed : element_bytes;
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t k = 0; k < step; ++k) to[i * step + k] = from[k * count + i];
  };
  switch (element_bytes) {
    case 2:
      gather(std::integral_constant<std::size_t, 2>());
      break;
    case 4:
      gather(std::integral_constant<std::size_t, 4>());
      break;
    case 8:
      gather(std::integral_constant<std::size_t, 8>());
      break;
    default:
      gather(std::integral_constant<std::size_t, 0>());
  }
  const std::size_t done = count * element_bytes;  // what is left of an element is kept as it is
  std::copy(from.begin() + static_cast<std::ptrdiff_t>(done), from.end(),
            to.begin() + static_cast<std::ptrdiff_t>(done));
}

ByteSpan undo_fletcher(ByteSpan from) {
  if (from.size() < 4) damaged("a chunk without its checksum");
  const ByteSpan content = from.first(from.size() - 4);
  const std::uint32_t expected = load_little<std::uint32_t>(from.data() + content.size());
  const std::uint32_t sum = fletcher32(content);
  // Files of versions before 1.6.3 have the bytes of both halves swapped.
  const std::uint32_t swapped = (sum & 0x00ff00ffu) << 8 | (sum >> 8 & 0x00ff00ffu);
  if (checks_checksums && sum != expected && swapped != expected) damaged("the checksum of a chunk is wrong");
  return content;
}

/// Decoded size in 8 bytes and block size in 4, big endian; in front of each block its compressed size in 4.
std::size_t undo_lz4(ByteSpan from, std::span<std::byte> to) {
  if (from.size() < 12) damaged("LZ4 bytes end early");
  const auto total = load_big<std::uint64_t>(from.data());
  const std::uint64_t block = load_big<std::uint32_t>(from.data() + 8);
  if (total > to.size() || (block == 0 && total > 0) || block > LZ4_MAX_INPUT_SIZE)
    damaged(fmt::format("LZ4 bytes for {} bytes in blocks of {}", total, block));
  from = from.subspan(12);
  for (std::uint64_t made = 0; made < total;) {
    const auto now = static_cast<std::size_t>(std::min(block, total - made));
    if (from.size() < 4) damaged("LZ4 bytes end early");
    const std::size_t stored = load_big<std::uint32_t>(from.data());
    from = from.subspan(4);
    if (stored > from.size()) damaged("LZ4 bytes end early");
    if (stored == now)
      std::memcpy(to.data() + made, from.data(), now);
    else if (LZ4_decompress_safe(reinterpret_cast<const char*>(from.data()), reinterpret_cast<char*>(to.data() + made),
                                 static_cast<int>(stored), static_cast<int>(now)) != static_cast<int>(now))
      damaged("LZ4 bytes are broken");
    from = from.subspan(stored);
    made += now;
  }
  return static_cast<std::size_t>(total);
}

std::size_t undo_zstd(ByteSpan from, std::span<std::byte> to) {
  const std::size_t made = ZSTD_decompress(to.data(), to.size(), from.data(), from.size());
  if (ZSTD_isError(made) != 0) damaged(fmt::format("zstd bytes are broken: {}", ZSTD_getErrorName(made)));
  return made;
}

std::size_t undo_blosc(ByteSpan from, std::span<std::byte> to) {
  std::size_t decoded = 0;
  if (blosc_cbuffer_validate(from.data(), from.size(), &decoded) != 0 || decoded > to.size())
    damaged("Blosc bytes have another size");
  constexpr int threads = 1;  // several chunks are decoded at a time already
  const int made = blosc_decompress_ctx(from.data(), to.data(), to.size(), threads);
  if (made < 0 || static_cast<std::size_t>(made) != decoded) damaged("Blosc bytes are broken");
  return decoded;
}

void undo_bitshuffle(const Hdf5Filter& filter, std::size_t element_bytes, ByteSpan from, BitshuffleScratch& scratch,
                     std::span<std::byte> to) {
  const auto value = [&](std::size_t i) { return i < filter.client_data.size() ? filter.client_data[i] : 0u; };
  const std::size_t bytes = value(2) != 0 ? value(2) : element_bytes;
  const unsigned codec = value(4);
  if (codec != 0 && codec != 2 && codec != 3)
    unsupported(fmt::format("bitshuffle with codec {}; 0, 2 (LZ4) and 3 (zstd) are read", codec),
                "unpack the data with h5repack -f NONE");
  try {
    decode_bitshuffle(from, {bytes, value(3), static_cast<BitshuffleCodec>(codec)}, scratch, to);
  } catch (const Error& error) {
    damaged(error.message());
  }
}

}  // namespace

Pipeline::Pipeline(std::string file, std::string object, std::vector<Hdf5Filter> filters, std::size_t element_bytes,
                   std::size_t chunk_bytes)
    : file_(std::move(file)),
      object_(std::move(object)),
      filters_(std::move(filters)),
      element_bytes_(element_bytes),
      chunk_bytes_(chunk_bytes) {}

void Pipeline::require_known(std::uint32_t filter_mask) const {
  for (std::size_t i = 0; i < filters_.size(); ++i) {
    const Hdf5Filter& filter = filters_[i];
    if ((filter_mask >> i & 1u) != 0 || is_known(filter.id)) continue;
    const std::string_view known = name_of(filter.id);
    const std::string text = known.empty() ? filter.name : std::string(known);
    throw Error(ErrorKind::not_supported,
                fmt::format("{}, {}: the elements are packed by filter {}{}, which is not read", file_, object_,
                            filter.id, text.empty() ? "" : " (" + text + ")"))
        .hint("unpack them with the program that wrote them, or with h5repack -f NONE");
  }
}

bool Pipeline::could_hold(std::uint64_t stored_bytes, std::uint32_t filter_mask) const {
  double most = static_cast<double>(stored_bytes) + 64;
  for (std::size_t i = 0; i < filters_.size(); ++i)
    if ((filter_mask >> i & 1u) == 0) most *= static_cast<double>(most_ratio(filters_[i].id));
  return most >= static_cast<double>(chunk_bytes_);
}

void Pipeline::decode(std::span<const std::byte> stored, std::uint32_t filter_mask, FilterScratch& scratch,
                      std::span<std::byte> chunk) const {
  require_known(filter_mask);
  reading(file_, object_, [&] { run(stored, filter_mask, scratch, chunk); });
}

void Pipeline::run(std::span<const std::byte> stored, std::uint32_t filter_mask, FilterScratch& scratch,
                   std::span<std::byte> chunk) const {
  FilterScratch::State& state = scratch.state();
  // What each filter makes when it is undone: the size of what went into it, as far as that is known.
  std::vector<std::size_t> active;
  std::vector<std::optional<std::size_t>> sizes;
  std::optional<std::size_t> size = chunk_bytes_;
  for (std::size_t i = 0; i < filters_.size(); ++i) {
    if ((filter_mask >> i & 1u) != 0) continue;
    active.push_back(i);
    sizes.push_back(size);
    if (filters_[i].id == fletcher && size)
      *size += 4;
    else if (!keeps_size(filters_[i].id))
      size = std::nullopt;
  }
  ByteSpan bytes = stored;
  std::size_t stages = 0;
  for (std::size_t k = active.size(); k-- > 0;) {
    const Hdf5Filter& filter = filters_[active[k]];
    // Packing what was packed before makes it larger by little.
    const std::size_t most = sizes[k] ? *sizes[k] : chunk_bytes_ + chunk_bytes_ / 8 + 4096;
    if (filter.id == fletcher) {
      bytes = undo_fletcher(bytes);
      continue;
    }
    if (sizes[k] && *sizes[k] / most_ratio(filter.id) > bytes.size() + 64)
      damaged(fmt::format("{} bytes cannot hold a chunk of {}", bytes.size(), *sizes[k]));
    const std::span<std::byte> to = k == 0 ? chunk : state.stage(stages++, most);
    std::size_t made = to.size();
    switch (filter.id) {
      case deflate:
        made = undo_deflate(bytes, to);
        break;
      case shuffle:
        if (bytes.size() > to.size()) damaged("a chunk is larger than its elements");
        undo_shuffle(bytes, filter.client_data.empty() ? element_bytes_ : filter.client_data[0], to);
        made = bytes.size();
        break;
      case lzf:
        made = undo_lzf(bytes, to);
        break;
      case blosc:
        made = undo_blosc(bytes, to);
        break;
      case lz4:
        made = undo_lz4(bytes, to);
        break;
      case zstd:
        made = undo_zstd(bytes, to);
        break;
      case bitshuffle:
        undo_bitshuffle(filter, element_bytes_, bytes, state.bitshuffle, to);
        break;
      case scale_offset:
        made = undo_scale_offset(filter.client_data, bytes, to);
        break;
      default:
        made = undo_nbit(filter.client_data, bytes, to);
        break;
    }
    if (sizes[k] && made != *sizes[k]) damaged(fmt::format("a chunk of {} bytes, expected {}", made, *sizes[k]));
    bytes = to.first(made);
  }
  if (bytes.size() != chunk.size())
    damaged(fmt::format("a chunk of {} bytes, expected {}", bytes.size(), chunk.size()));
  if (bytes.data() != chunk.data() && !chunk.empty()) std::memcpy(chunk.data(), bytes.data(), bytes.size());
}

}  // namespace sonde::hdf5

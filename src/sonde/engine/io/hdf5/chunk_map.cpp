// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/hdf5/chunk_map.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "sonde/engine/io/hdf5/btree2.h"

namespace sonde::hdf5 {
namespace {

std::uint64_t chunks_along(std::uint64_t extent, std::uint64_t chunk) {
  return extent / chunk + (extent % chunk != 0 ? 1 : 0);
}

void read_single(ChunkMap& map) {
  const Layout& layout = map.data().layout;
  const std::uint64_t bytes = layout.single_filtered ? layout.single_bytes : map.chunk_bytes();
  map.place_linear(0, layout.address, bytes, layout.single_mask);
}

/// All chunks one after another.
void read_implicit(ChunkMap& map) {
  const std::uint64_t count = map.linear_count();
  map.image().require(map.data().layout.address, product(count, map.chunk_bytes(), "the data"));
  for (std::uint64_t i = 0; i < count; ++i)
    map.place_linear(i, map.data().layout.address + i * map.chunk_bytes(), map.chunk_bytes(), 0);
}

}  // namespace

ChunkMap::ChunkMap(const Description& data, const Image& image) : data_(data), image_(image) {
  const std::size_t rank = data.space.extents.size();
  std::size_t growing = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::uint64_t chunk = data.layout.chunk[i], largest = data.space.largest[i];
    chunk_bytes_ *= chunk;
    grid_.push_back(chunks_along(data.space.extents[i], chunk));
    largest_.push_back(largest == Dataspace::unlimited ? Dataspace::unlimited : chunks_along(largest, chunk));
    if (largest == Dataspace::unlimited && data.layout.index == Layout::Index::extensible_array) growing = i;
  }
  chunk_bytes_ *= data.type.bytes;
  order_.resize(rank);
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::rotate(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(growing),
              order_.begin() + static_cast<std::ptrdiff_t>(rank == 0 ? 0 : growing + 1));
}

void ChunkMap::place(std::span<const std::uint64_t> scaled, std::uint64_t address, std::uint64_t stored_bytes,
                     std::uint32_t filter_mask) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < rank(); ++i) {
    if (scaled[i] >= grid_[i])
      damaged(fmt::format("a chunk begins at element {} of dimension {}, which has {} elements in chunks of {}",
                          scaled[i] * data_.layout.chunk[i], i, data_.space.extents[i], data_.layout.chunk[i]));
    number = number * grid_[i] + scaled[i];
  }
  image_.charge(2 * sizeof(PlacedChunk));
  PlacedChunk chunk;
  chunk.number = static_cast<Index>(number);
  chunk.entry.offset = image_.base() + address;
  if (stored_bytes == 0 || stored_bytes > std::numeric_limits<std::uint32_t>::max())
    damaged(fmt::format("a chunk of {} bytes", stored_bytes));
  if (address == undefined_address || chunk.entry.offset < address)
    damaged(fmt::format("a chunk at address {}", address));
  chunk.entry.stored_bytes = static_cast<std::uint32_t>(stored_bytes);
  chunk.entry.filter_mask = filter_mask;
  chunks_.push_back(chunk);
}

void ChunkMap::place_linear(std::uint64_t number, std::uint64_t address, std::uint64_t stored_bytes,
                            std::uint32_t filter_mask) {
  image_.charge(1);  // also of the many that the shape may not reach
  std::array<std::uint64_t, Shape::max_rank> scaled{};
  for (std::size_t k = rank(); k-- > 0;) {
    const std::size_t dimension = order_[k];
    const std::uint64_t along = k == 0 ? Dataspace::unlimited : largest_[dimension];
    if (along == 0) return;
    scaled[dimension] = number % along;
    number /= along;
    if (scaled[dimension] >= grid_[dimension]) return;
  }
  place(std::span(scaled).first(rank()), address, stored_bytes, filter_mask);
}

std::uint64_t ChunkMap::linear_count() const {
  std::uint64_t count = 1;
  for (std::size_t i = 0; i < rank(); ++i)
    count = product(count, largest_[i] == Dataspace::unlimited ? grid_[i] : largest_[i], "the declared shape");
  return count;
}

std::vector<PlacedChunk> read_chunk_map(const OpenFile& file, const Description& data) {
  (void)data.space.shape();  // at most eight dimensions
  ChunkMap map(data, file.image());
  if (data.layout.address == undefined_address) return {};
  switch (data.layout.index) {
    case Layout::Index::tree_1:
      read_chunk_tree(map, file.widths());
      break;
    case Layout::Index::tree_2:
      read_chunk_tree_2(map, file.widths());
      break;
    case Layout::Index::single:
      read_single(map);
      break;
    case Layout::Index::implicit:
      read_implicit(map);
      break;
    case Layout::Index::fixed_array:
      read_fixed_array(map, file.widths());
      break;
    case Layout::Index::extensible_array:
      read_extensible_array(map, file.widths());
      break;
  }
  return std::move(map).take();
}

void read_chunk_tree_2(ChunkMap& map, Widths widths) {
  constexpr unsigned plain = 10, filtered = 11;
  const bool has_filters = !map.data().filters.empty();
  // Sizes of filtered chunks take as many bytes as the unfiltered size may need, and one more.
  const unsigned size_bytes = std::min(8u, 1 + (log2_floor(map.chunk_bytes()) + 8) / 8);
  for_each_record(map.image(), widths, map.data().layout.address, has_filters ? filtered : plain, [&](ByteSpan bytes) {
    Cursor record(bytes, widths);
    const std::uint64_t address = record.address();
    const std::uint64_t stored = has_filters ? record.number(size_bytes) : map.chunk_bytes();
    const auto mask = has_filters ? record.take<std::uint32_t>() : 0;
    std::array<std::uint64_t, Shape::max_rank> scaled{};
    for (std::size_t i = 0; i < map.rank(); ++i) scaled[i] = record.take<std::uint64_t>();
    map.place(std::span(scaled).first(map.rank()), address, stored, mask);
  });
}

}  // namespace sonde::hdf5

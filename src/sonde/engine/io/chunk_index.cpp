// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/chunk_index.h"

#include <fmt/format.h>

#include <array>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/file.h"

namespace sonde {
namespace {

std::string name_of(const Hdf5Dataset& dataset) { return dataset.file_path() + ", " + dataset.path(); }

void require_chunked(const Hdf5Dataset& dataset) {
  if (dataset.info().layout != Hdf5DatasetInfo::Layout::chunked)
    throw Error(ErrorKind::bad_input, name_of(dataset) + ": the data set is not chunked");
}

}  // namespace

ChunkIndex empty_chunk_index(const Shape& shape, const Shape& chunk) {
  ChunkIndex index;
  index.chunk = chunk;
  for (int i = 0; i < shape.rank(); ++i) {
    if (chunk[i] <= 0) throw Error(ErrorKind::bad_file, fmt::format("chunks of shape {}", chunk.text()));
    index.grid.append(shape[i] / chunk[i] + (shape[i] % chunk[i] != 0 ? 1 : 0));
  }
  constexpr Index most = Index{1} << 28;  // an index of 4 GiB
  const Index chunks = index.grid.count();
  if (chunks > most)
    throw Error(ErrorKind::not_supported, fmt::format("{} chunks, at most {} are indexed", chunks, most))
        .hint("rewrite the data set with larger chunks, for instance with h5repack -l CHUNK=...");
  index.entries.resize(static_cast<std::size_t>(chunks));
  return index;
}

Shape ChunkIndex::first_element(Index number) const {
  std::array<Index, Shape::max_rank> position{};
  for (int i = grid.rank() - 1; i >= 0; --i) {
    position[static_cast<std::size_t>(i)] = number % grid[i] * chunk[i];
    number /= grid[i];
  }
  Shape first;
  for (int i = 0; i < grid.rank(); ++i) first.append(position[static_cast<std::size_t>(i)]);
  return first;
}

std::vector<Index> ChunkIndex::outside(std::uint64_t file_bytes) const {
  std::vector<Index> numbers;
  if (!has_offsets) return numbers;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const ChunkEntry& entry = entries[i];
    if (entry.absent()) continue;
    if (entry.offset > file_bytes || entry.stored_bytes > file_bytes - entry.offset)
      numbers.push_back(static_cast<Index>(i));
  }
  return numbers;
}

ChunkIndex ask_chunk_sizes(const Hdf5Dataset& dataset) {
  require_chunked(dataset);
  ChunkIndex index = empty_chunk_index(dataset.info().shape, dataset.info().chunk);
  index.has_offsets = false;
  index.because = "the HDF5 library, chunk by chunk";
  for (std::size_t i = 0; i < index.entries.size(); ++i)
    index.entries[i].stored_bytes =
        static_cast<std::uint32_t>(dataset.chunk_bytes(index.first_element(static_cast<Index>(i))));
  return index;
}

ChunkIndex read_chunk_index(const Hdf5Dataset& dataset) {
  require_chunked(dataset);
  const File file(dataset.file_path());
  const ReadAt read_at = [&](std::uint64_t offset, std::span<std::byte> bytes) {
    file.read_at(offset, bytes);
    return true;
  };
  const ChunkedLayout layout = {dataset.info().shape, dataset.info().chunk, dataset.info().element_bytes,
                                dataset.info().header_address};
  return during(fmt::format("indexing {}", name_of(dataset)), [&] {
    if (auto index = walk_chunk_tree(read_at, file.size(), layout)) return std::move(*index);
    ChunkIndex index = ask_chunk_sizes(dataset);
    index.because = "the file has an index of a newer kind, read through the HDF5 library";
    return index;
  });
}

}  // namespace sonde

// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/zarr.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <deque>
#include <filesystem>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/io/file.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using Position = std::array<Index, Shape::max_rank>;

/// The position of element `linear` in C order in an array of this shape.
Position position(const Shape& shape, Index linear) {
  Position at{};
  for (int i = shape.rank() - 1; i >= 0; --i) {
    at[static_cast<std::size_t>(i)] = linear % shape[i];
    linear /= shape[i];
  }
  return at;
}

Index linear(const Shape& shape, const Position& at) {
  Index index = 0;
  for (int i = 0; i < shape.rank(); ++i) index = index * shape[i] + at[static_cast<std::size_t>(i)];
  return index;
}

Index ceil_divide(Index value, Index by) { return value / by + (value % by != 0 ? 1 : 0); }

Shape chunk_grid(const ZarrMetadata& metadata) {
  Shape grid;
  for (int i = 0; i < metadata.shape.rank(); ++i) grid.append(ceil_divide(metadata.shape[i], metadata.chunks[i]));
  return grid;
}

std::string read_metadata_text(const std::string& folder) {
  const fs::path path(folder);
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) throw Error(ErrorKind::bad_file, folder + ": no such folder");
  if (fs::exists(path / ".zarray", ignored)) return read_text((path / ".zarray").string());
  if (fs::exists(path / "zarr.json", ignored))
    throw Error(ErrorKind::not_supported, folder + ": is Zarr version 3, version 2 is read")
        .hint("store it with zarr_format=2");
  const std::vector<std::string> arrays = find_zarr_arrays(folder);
  if (arrays.empty()) throw Error(ErrorKind::bad_file, folder + ": holds no Zarr array (no file .zarray)");
  throw Error(ErrorKind::bad_file, fmt::format("{}: is a Zarr group that holds {}", folder, join_words(arrays)))
      .hint("name one of its arrays");
}

/// Reads a chunk's file; nothing when it does not exist, which means that the chunk is all fill value.
std::optional<std::vector<std::byte>> read_chunk(const std::string& path) {
  std::error_code failure;
  if (!fs::exists(path, failure) && !failure) return std::nullopt;
  const File file(path);
  std::vector<std::byte> bytes(file.size());
  file.read_at(0, bytes);
  return bytes;
}

void fill(std::span<std::byte> elements, std::span<const std::byte> element) {
  if (std::all_of(element.begin(), element.end(), [&](std::byte b) { return b == element[0]; })) {
    std::fill(elements.begin(), elements.end(), element[0]);
    return;
  }
  for (std::size_t i = 0; i < elements.size(); i += element.size())
    std::memcpy(&elements[i], element.data(), element.size());
}

}  // namespace

/// Decoded chunks, oldest dropped first: frames are read in order, so an old chunk is not needed again soon.
struct ZarrArray::Cache {
  std::size_t limit_bytes = 0;
  std::mutex mutex;
  std::unordered_map<Index, Chunk> chunks;
  std::deque<Index> order;
  std::size_t bytes = 0;

  Chunk find(Index chunk) {
    const std::lock_guard lock(mutex);
    const auto at = chunks.find(chunk);
    return at == chunks.end() ? nullptr : at->second;
  }
  void keep(Index chunk, const Chunk& decoded) {
    const std::lock_guard lock(mutex);
    if (decoded->size() > limit_bytes || !chunks.emplace(chunk, decoded).second) return;
    order.push_back(chunk);
    bytes += decoded->size();
    shrink();
  }
  void limit(std::size_t most_bytes) {
    const std::lock_guard lock(mutex);
    limit_bytes = most_bytes;
    shrink();
  }

 private:
  void shrink() {
    for (; bytes > limit_bytes; order.pop_front()) {
      bytes -= chunks.at(order.front())->size();
      chunks.erase(order.front());
    }
  }
};

/// The frames that are being read, and where they go.
struct ZarrArray::Slab {
  Index first = 0, last = 0;
  std::span<std::byte> elements;
};

ZarrArray::ZarrArray(const std::string& folder)
    : folder_(folder),
      metadata_(parse_zarr_metadata(read_metadata_text(folder), (fs::path(folder) / ".zarray").string())),
      grid_(chunk_grid(metadata_)),
      cache_(std::make_unique<Cache>()) {
  if (metadata_.shape.rank() < 2)
    throw Error(ErrorKind::bad_file,
                fmt::format("{}: shape {}, expected at least two dimensions", folder, metadata_.shape.text()));
}

ZarrArray::ZarrArray(ZarrArray&&) noexcept = default;
ZarrArray::~ZarrArray() = default;

Index ZarrArray::frames() const { return metadata_.shape.first(metadata_.shape.rank() - 2).count(); }

std::size_t ZarrArray::useful_cache_bytes() const {
  // In C order the first scan dimension along which a chunk is longer than one stays within the same chunks until all
  // of the dimensions behind it are through.
  const int leading = metadata_.shape.rank() - 2;
  for (int i = 0; i < leading; ++i)
    if (metadata_.chunks[i] > 1)
      return static_cast<std::size_t>(grid_.last(metadata_.shape.rank() - 1 - i).count()) * metadata_.chunk_bytes();
  return 0;
}

void ZarrArray::set_cache_bytes(std::size_t bytes) const { cache_->limit(bytes); }

std::string ZarrArray::chunk_path(Index chunk) const {
  const Position at = position(grid_, chunk);
  const char separator[] = {metadata_.separator, '\0'};
  const std::string name = fmt::format("{}", fmt::join(at.begin(), at.begin() + grid_.rank(), separator));
  return (fs::path(folder_) / name).string();
}

ZarrArray::Chunk ZarrArray::chunk(Index chunk, bool keep) const {
  if (Chunk kept = cache_->find(chunk)) return kept;
  const std::string path = chunk_path(chunk);
  const auto stored = read_chunk(path);
  if (!stored) return nullptr;
  auto decoded = std::make_shared<std::vector<std::byte>>(metadata_.chunk_bytes());
  decode_zarr_chunk(metadata_, *stored, *decoded, path);
  if (keep) cache_->keep(chunk, decoded);
  return decoded;
}

void ZarrArray::copy_chunk(Index chunk, const Slab& slab) const {
  const int rank = metadata_.shape.rank(), leading = rank - 2;
  const std::size_t element_bytes = size_bytes(metadata_.dtype);
  const Shape frame_grid = metadata_.shape.first(leading), chunk_frames = metadata_.chunks.first(leading);
  const Index chunk_rows = metadata_.chunks[leading], chunk_cols = metadata_.chunks[leading + 1];
  const Index frame_rows = metadata_.shape[leading], frame_cols = metadata_.shape[leading + 1];
  const Position at = position(grid_, chunk);
  const Index row = at[static_cast<std::size_t>(leading)] * chunk_rows;
  const Index col = at[static_cast<std::size_t>(leading) + 1] * chunk_cols;
  const Index rows = std::min(chunk_rows, frame_rows - row), cols = std::min(chunk_cols, frame_cols - col);

  /// The frame that is the chunk's `inner`-th one, or -1 for padding beyond the edge and for frames not asked for.
  const auto frame_of = [&](Index inner) {
    Position frame = position(chunk_frames, inner);
    for (std::size_t i = 0; i < static_cast<std::size_t>(leading); ++i) {
      frame[i] += at[i] * chunk_frames[static_cast<int>(i)];
      if (frame[i] >= frame_grid[static_cast<int>(i)]) return Index{-1};
    }
    const Index index = linear(frame_grid, frame);
    return index >= slab.first && index < slab.last ? index : Index{-1};
  };

  std::vector<std::pair<Index, Index>> wanted;  // frame in the chunk, frame in the array
  for (Index inner = 0; inner < chunk_frames.count(); ++inner)
    if (const Index frame = frame_of(inner); frame >= 0) wanted.emplace_back(inner, frame);
  const bool keep = static_cast<Index>(wanted.size()) < chunk_frames.count();
  const Chunk decoded = this->chunk(chunk, keep);
  for (const auto& [inner, frame] : wanted) {
    for (Index r = 0; r < rows; ++r) {
      const Index to = ((frame - slab.first) * frame_rows + row + r) * frame_cols + col;
      const std::span line = slab.elements.subspan(static_cast<std::size_t>(to) * element_bytes,
                                                   static_cast<std::size_t>(cols) * element_bytes);
      if (decoded) {
        const Index from = (inner * chunk_rows + r) * chunk_cols;
        std::memcpy(line.data(), decoded->data() + static_cast<std::size_t>(from) * element_bytes, line.size());
      } else {
        fill(line, std::span(metadata_.fill).first(element_bytes));
      }
    }
  }
}

void ZarrArray::read_frames(Index first, Index last, std::span<std::byte> elements) const {
  const int rank = metadata_.shape.rank(), leading = rank - 2;
  const Index frame_elements = metadata_.shape.last(2).count();
  assert(0 <= first && first <= last && last <= frames());
  assert(elements.size() == static_cast<std::size_t>((last - first) * frame_elements) * size_bytes(metadata_.dtype));
  if (frame_elements == 0) return;

  // Chunks along the detector dimensions of one scan chunk are consecutive in the grid.
  const Index chunks_per_frame = grid_.last(2).count();
  std::vector<Index> scan_chunks;
  for (Index frame = first; frame < last; ++frame) {
    Position at = position(metadata_.shape.first(leading), frame);
    for (std::size_t i = 0; i < static_cast<std::size_t>(leading); ++i) at[i] /= metadata_.chunks[static_cast<int>(i)];
    scan_chunks.push_back(linear(grid_.first(leading), at));
  }
  std::sort(scan_chunks.begin(), scan_chunks.end());
  scan_chunks.erase(std::unique(scan_chunks.begin(), scan_chunks.end()), scan_chunks.end());

  const Slab slab{first, last, elements};
  const Index tasks = static_cast<Index>(scan_chunks.size()) * chunks_per_frame;
  parallel_for(tasks, 1, [&](Index begin, Index end, Worker&) {
    for (Index task = begin; task < end; ++task)
      copy_chunk(
          scan_chunks[static_cast<std::size_t>(task / chunks_per_frame)] * chunks_per_frame + task % chunks_per_frame,
          slab);
  });
}

std::vector<std::string> find_zarr_arrays(const std::string& folder) {
  std::error_code ignored;
  if (fs::exists(fs::path(folder) / ".zarray", ignored)) return {""};
  std::vector<std::string> arrays;
  for (auto each = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, ignored);
       each != fs::recursive_directory_iterator(); each.increment(ignored)) {
    if (!each->is_directory(ignored) || !fs::exists(each->path() / ".zarray", ignored)) continue;
    each.disable_recursion_pending();  // below lie chunks, perhaps very many
    arrays.push_back(fs::relative(each->path(), folder).generic_string());
  }
  std::sort(arrays.begin(), arrays.end());
  return arrays;
}

std::map<std::string, std::string> read_zarr_attributes(const std::string& folder) {
  const std::string path = (fs::path(folder) / ".zattrs").string();
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return {};
  return parse_zarr_attributes(read_text(path), path);
}

}  // namespace sonde

// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/hdf5_frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>

#include "sonde/engine/device/parallel.h"
#include "sonde/engine/io/byte_order.h"
#include "sonde/engine/io/read_pieces.h"

namespace sonde::stem {
namespace {

constexpr int bitshuffle_filter = 32008;

/// What the client data of filter 32008 say.
BitshuffleFormat format_of(const Hdf5Filter& filter, std::size_t element_bytes, const std::string& what) {
  const auto value = [&](std::size_t i) { return i < filter.client_data.size() ? filter.client_data[i] : 0u; };
  if (value(2) != 0 && value(2) != element_bytes)
    throw Error(ErrorKind::bad_file, fmt::format("{}: bitshuffle for elements of {} bytes on elements of {} bytes",
                                                 what, value(2), element_bytes));
  const unsigned codec = value(4);
  if (codec != 0 && codec != 2 && codec != 3)
    throw Error(ErrorKind::not_supported,
                fmt::format("{}: bitshuffle with codec {}; 0, 2 (LZ4) and 3 (zstd) are known", what, codec));
  return {element_bytes, value(3), static_cast<BitshuffleCodec>(codec)};
}

bool one_frame_per_chunk(const Hdf5DatasetInfo& info) {
  const int rank = info.shape.rank();
  for (int i = 0; i < rank; ++i)
    if (info.chunk[i] != (i < rank - 2 ? 1 : info.shape[i])) return false;
  return true;
}

}  // namespace

Hdf5Frames::Hdf5Frames(Hdf5Dataset dataset) : dataset_(std::move(dataset)) {
  const Hdf5DatasetInfo& info = dataset_.info();
  const int rank = info.shape.rank();
  if (rank != 3 && rank != 4)
    throw Error(ErrorKind::not_supported,
                fmt::format("{}: shape {}, expected frames (n, rows, cols) or a scan (Ry, Rx, rows, cols)", what(),
                            info.shape.text()));
  if (!info.dtype || size_bytes(*info.dtype) > 8 || *info.dtype == DType::c64)
    throw Error(ErrorKind::not_supported, fmt::format("{}: elements of type {} are no counts", what(), info.type_text));
  dtype_ = *info.dtype;
  frames_ = info.shape.first(rank - 2).count();
  rows_ = info.shape[rank - 2];
  cols_ = info.shape[rank - 1];
  frame_bytes_ = static_cast<std::size_t>(rows_ * cols_) * size_bytes(dtype_);
  if (frames_ == 0 || frame_bytes_ == 0)
    throw Error(ErrorKind::bad_file, fmt::format("{}: shape {} has no elements", what(), info.shape.text()));
  choose_way();
}

void Hdf5Frames::choose_way() {
  const Hdf5DatasetInfo& info = dataset_.info();
  using Layout = Hdf5DatasetInfo::Layout;
  if (info.layout == Layout::contiguous && info.data_offset) {
    way_ = Way::block;
  } else if (info.layout == Layout::chunked) {
    packed_ = info.filters.size() == 1 && info.filters[0].id == bitshuffle_filter;
    if (packed_) format_ = format_of(info.filters[0], info.element_bytes, what());
    if (packed_ || (info.filters.empty() && one_frame_per_chunk(info))) {
      way_ = one_frame_per_chunk(info) ? Way::chunks : Way::assembled;
      index_ = read_chunk_index(dataset_);
    }
  }
  if (way_ == Way::library) return;
  file_bytes_ = file().size();
  rest();
  if (index_.has_offsets) dataset_.close();
}

const File& Hdf5Frames::file() {
  if (file_ == nullptr) {
    file_ = std::make_unique<File>(dataset_.file_path());
    file_->advise(Advice::sequential);
  }
  return *file_;
}

Index Hdf5Frames::absent_frames() const {
  if (way_ != Way::chunks) return 0;
  return std::count_if(index_.entries.begin(), index_.entries.end(), [](const ChunkEntry& e) { return e.absent(); });
}

std::optional<BitshuffleFormat> Hdf5Frames::packing() const {
  return way_ == Way::chunks && packed_ && !dataset_.info().big_endian ? std::optional(format_) : std::nullopt;
}

void Hdf5Frames::check_ranges(Problems& problems) const {
  const auto beyond = [&](const std::string& object, std::uint64_t begin, std::uint64_t size) {
    problems.add(Error(ErrorKind::bad_file, fmt::format("{}: {} is bytes {} to {} of a file of {} bytes", what(),
                                                        object, begin, begin + size, file_bytes_))
                     .hint("the file is incomplete: copy it again"));
  };
  if (way_ == Way::block) {
    const std::uint64_t begin = *dataset_.info().data_offset;
    const std::uint64_t size = static_cast<std::uint64_t>(frames_) * frame_bytes_;
    if (begin > file_bytes_ || size > file_bytes_ - begin) beyond("the data", begin, size);
    return;
  }
  if (way_ == Way::library) return check_sources(problems);
  const std::vector<Index> outside = index_.outside(file_bytes_);
  if (!outside.empty()) {
    const ChunkEntry& entry = index_.entries[static_cast<std::size_t>(outside[0])];
    beyond(fmt::format("chunk {} (the first of {} that lie outside)", outside[0], outside.size()), entry.offset,
           entry.stored_bytes);
  }
  if (packed_) return;
  for (std::size_t i = 0; i < index_.entries.size(); ++i)
    if (!index_.entries[i].absent() && index_.entries[i].stored_bytes != frame_bytes_) {
      problems.add(Error(ErrorKind::bad_file, fmt::format("{}: chunk {} has {} bytes, its frame {}", what(), i,
                                                          index_.entries[i].stored_bytes, frame_bytes_)));
      return;
    }
}

void Hdf5Frames::check_sources(Problems& problems) const {
  // The library would silently give the fill value for a source that is missing.
  const std::filesystem::path folder = std::filesystem::path(dataset_.file_path()).parent_path();
  std::set<std::string> seen;
  for (const Hdf5VirtualPart& part : dataset_.virtual_parts()) {
    const std::string path = part.file == "." ? dataset_.file_path() : (folder / part.file).string();
    if (!seen.insert(path + part.object).second) continue;
    problems.collect([&] {
      if (!Hdf5File::open(path).is_dataset(part.object))
        throw Error(ErrorKind::bad_file,
                    fmt::format("{}: no data set {}; the virtual data set {} names it", path, part.object, what()));
    });
  }
}

std::size_t Hdf5Frames::stored_bytes(Index frame) const {
  return way_ == Way::chunks ? index_.entries[static_cast<std::size_t>(frame)].stored_bytes : frame_bytes_;
}

void Hdf5Frames::read(Index first, Index last, std::span<RawBatch::Piece> pieces, std::span<std::byte> bytes) {
  const std::span<std::byte> all =
      bytes.subspan(pieces.empty() ? 0 : pieces[0].offset,
                    way_ == Way::chunks ? 0 : static_cast<std::size_t>(last - first) * frame_bytes_);
  switch (way_) {
    case Way::chunks:
      return read_chunks(first, pieces, bytes);
    case Way::block:
      return file().read_at(*dataset_.info().data_offset + static_cast<std::uint64_t>(first) * frame_bytes_, all);
    case Way::assembled:
      return assemble(first, last, all);
    case Way::library:
      return read_by_library(first, last, all);
  }
}

void Hdf5Frames::read_chunks(Index first, std::span<RawBatch::Piece> pieces, std::span<std::byte> bytes) {
  std::vector<FilePiece> wanted;
  std::uint64_t end = 0, total = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Index number = first + static_cast<Index>(i);
    const ChunkEntry& entry = index_.entries[static_cast<std::size_t>(number)];
    pieces[i].filter_mask = entry.filter_mask;
    if (entry.absent()) continue;
    const auto into = bytes.subspan(pieces[i].offset, pieces[i].size);
    if (!index_.has_offsets) {
      pieces[i].filter_mask = dataset_.read_chunk(index_.first_element(number), into);
      continue;
    }
    wanted.push_back({entry.offset, into});
    end = std::max(end, entry.offset + entry.stored_bytes);
    total += entry.stored_bytes;
  }
  if (wanted.empty()) return;
  read_pieces(file(), wanted);
  file().advise(Advice::will_need, end, total);  // most likely the next batch
}

void Hdf5Frames::fill(std::span<std::byte> elements) const {
  const std::vector<std::byte>& value = dataset_.info().fill;
  for (std::size_t i = 0; i < elements.size(); i += value.size())
    std::memcpy(elements.data() + i, value.data(), value.size());
}

void Hdf5Frames::unpack(const ChunkEntry& entry, std::span<const std::byte> bytes, std::size_t logical_bytes,
                        BitshuffleScratch& scratch, std::span<std::byte> elements) const {
  if (packed_ && (entry.filter_mask & 1u) == 0) return decode_bitshuffle(bytes, format_, scratch, elements);
  if (bytes.size() != logical_bytes)
    throw Error(ErrorKind::bad_file,
                fmt::format("an unpacked chunk of {} bytes, expected {}", bytes.size(), logical_bytes));
  std::memcpy(elements.data(), bytes.data(), bytes.size());
}

void Hdf5Frames::decode(Index frame, const RawBatch::Piece& piece, std::span<const std::byte> bytes,
                        DecodeScratch& scratch, std::span<std::byte> elements) const {
  if (way_ == Way::chunks) {
    const ChunkEntry& entry = index_.entries[static_cast<std::size_t>(frame)];
    if (piece.size == 0) return fill(elements);
    try {
      unpack({entry.offset, entry.stored_bytes, piece.filter_mask}, bytes, frame_bytes_, scratch.bitshuffle, elements);
    } catch (Error& error) {
      error.add_activity(fmt::format("decoding frame {} of {}{}", frame, what(),
                                     index_.has_offsets ? fmt::format(", at byte {}", entry.offset) : ""));
      throw;
    }
  } else {
    std::memcpy(elements.data(), bytes.data(), elements.size());
  }
  if (dataset_.info().big_endian && way_ != Way::library) swap_bytes(elements, size_bytes(dtype_));
}

void Hdf5Frames::assemble(Index first, Index last, std::span<std::byte> bytes) {
  // Chunks whose slowest index touches the wanted frames; with a scan (four dimensions) that is a range of scan rows.
  const Shape& shape = dataset_.info().shape;
  const Index per_slowest = frames_ / shape[0];
  const Index chunks_per_slowest = index_.grid.count() / index_.grid[0];
  const Index begin = first / per_slowest / index_.chunk[0] * chunks_per_slowest;
  const Index end = ((last - 1) / per_slowest / index_.chunk[0] + 1) * chunks_per_slowest;

  std::vector<std::size_t> offsets;
  std::size_t total = 0;
  for (Index i = begin; i < end; ++i) {
    offsets.push_back(total);
    total += index_.entries[static_cast<std::size_t>(i)].stored_bytes;
  }
  std::vector<std::byte> stored(total);
  std::vector<std::uint32_t> masks;
  std::vector<FilePiece> wanted;
  for (Index i = begin; i < end; ++i) {
    const ChunkEntry& entry = index_.entries[static_cast<std::size_t>(i)];
    const auto into = std::span(stored).subspan(offsets[static_cast<std::size_t>(i - begin)], entry.stored_bytes);
    masks.push_back(entry.filter_mask);
    if (entry.absent()) continue;
    if (index_.has_offsets)
      wanted.push_back({entry.offset, into});
    else
      masks.back() = dataset_.read_chunk(index_.first_element(i), into);
  }
  read_pieces(file(), wanted);

  const std::size_t chunk_bytes = static_cast<std::size_t>(index_.chunk.count()) * size_bytes(dtype_);
  struct Scratch {
    BitshuffleScratch bitshuffle;
    std::vector<std::byte> chunk;
  };
  PerWorker<Scratch> scratch;
  parallel_for(end - begin, 1, [&](Index from, Index to, Worker& worker) {
    Scratch& mine = scratch[worker];
    mine.chunk.resize(chunk_bytes);
    for (Index i = from; i < to; ++i) {
      const ChunkEntry& entry = index_.entries[static_cast<std::size_t>(begin + i)];
      const auto k = static_cast<std::size_t>(i);
      if (entry.absent())
        fill(mine.chunk);
      else
        during(fmt::format("decoding chunk {} of {}", begin + i, what()), [&] {
          unpack({entry.offset, entry.stored_bytes, masks[k]},
                 std::span(stored).subspan(offsets[k], entry.stored_bytes), chunk_bytes, mine.bitshuffle, mine.chunk);
        });
      if (entry.absent() && dataset_.info().big_endian)
        swap_bytes(mine.chunk, size_bytes(dtype_));  // decode swaps back
      assemble_chunk(begin + i, first, last, mine.chunk, bytes);
    }
  });
}

void Hdf5Frames::assemble_chunk(Index number, Index first, Index last, std::span<const std::byte> chunk,
                                std::span<std::byte> frames) const {
  // Frames as a grid (a, b): (n, 1) for three dimensions.
  const Shape& shape = dataset_.info().shape;
  const bool scan = shape.rank() == 4;
  const Shape origin = index_.first_element(number), extent = index_.chunk;
  const int detector = scan ? 2 : 1;
  const Index b_count = scan ? shape[1] : 1, b_origin = scan ? origin[1] : 0, b_extent = scan ? extent[1] : 1;
  const Index row0 = origin[detector], col0 = origin[detector + 1];
  const Index rows = std::min(extent[detector], rows_ - row0), cols = std::min(extent[detector + 1], cols_ - col0);
  const auto element = static_cast<Index>(size_bytes(dtype_));
  for (Index a = 0; a < std::min(extent[0], shape[0] - origin[0]); ++a)
    for (Index b = 0; b < std::min(b_extent, b_count - b_origin); ++b) {
      const Index frame = (origin[0] + a) * b_count + b_origin + b;
      if (frame < first || frame >= last) continue;
      for (Index row = 0; row < rows; ++row) {
        const Index from = (((a * b_extent + b) * extent[detector] + row) * extent[detector + 1]) * element;
        const Index to = (((frame - first) * rows_ + row0 + row) * cols_ + col0) * element;
        std::memcpy(frames.data() + to, chunk.data() + from, static_cast<std::size_t>(cols * element));
      }
    }
}

void Hdf5Frames::read_by_library(Index first, Index last, std::span<std::byte> bytes) const {
  const Shape& shape = dataset_.info().shape;
  if (shape.rank() == 3) return dataset_.read_into({first, 0, 0}, {last - first, rows_, cols_}, bytes);
  for (Index frame = first; frame < last;) {
    const Index row = frame / shape[1], col = frame % shape[1];
    const Index whole_rows = col == 0 ? std::max<Index>((last - frame) / shape[1], 1) : 1;
    const Index cols = std::min(shape[1] - col, last - frame);
    const Index count = whole_rows * cols;
    dataset_.read_into({row, col, 0, 0}, {whole_rows, cols, rows_, cols_},
                       bytes.subspan(static_cast<std::size_t>(frame - first) * frame_bytes_,
                                     static_cast<std::size_t>(count) * frame_bytes_));
    frame += count;
  }
}

}  // namespace sonde::stem

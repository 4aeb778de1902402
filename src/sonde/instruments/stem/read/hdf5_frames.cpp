// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/hdf5_frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sonde/engine/base/saturate.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/io/byte_order.h"
#include "sonde/engine/io/declared_size.h"
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

Hdf5Frames::Hdf5Frames(Hdf5Dataset dataset, std::size_t memory_bytes) : dataset_(std::move(dataset)) {
  const Hdf5DatasetInfo& info = dataset_.info();
  const int rank = info.shape.rank();
  if (rank != 3 && rank != 4)
    throw Error(ErrorKind::not_supported,
                fmt::format("{}: shape {}, expected frames (n, rows, cols) or a scan (Ry, Rx, rows, cols)", what(),
                            info.shape.text()));
  if (!info.dtype || size_bytes(*info.dtype) > 8 || *info.dtype == DType::c64)
    throw Error(ErrorKind::not_supported,
                fmt::format("{}: elements of type {} are not counts", what(), info.type_text));
  dtype_ = *info.dtype;
  Index bytes = static_cast<Index>(size_bytes(dtype_));
  for (int i = 0; i < rank; ++i) bytes = saturating_product(bytes, info.shape[i]);
  if (bytes == saturated)
    throw Error(ErrorKind::bad_file, fmt::format("{}: shape {} of {} takes more than 2^63 bytes", what(),
                                                 info.shape.text(), info.type_text));
  frames_ = info.shape.first(rank - 2).count();
  rows_ = info.shape[rank - 2];
  cols_ = info.shape[rank - 1];
  frame_bytes_ = static_cast<std::size_t>(rows_ * cols_) * size_bytes(dtype_);
  if (frames_ == 0 || frame_bytes_ == 0)
    throw Error(ErrorKind::bad_file, fmt::format("{}: shape {} has no elements", what(), info.shape.text()));
  check_declared(memory_bytes);
  choose_way();
}

void Hdf5Frames::check_declared(std::size_t memory_bytes) const {
  const Hdf5DatasetInfo& info = dataset_.info();
  DeclaredSize declared{.items = frames_, .item_bytes = frame_bytes_, .name = "frames"};
  if (info.layout == Hdf5DatasetInfo::Layout::virtual_parts) return;  // check_ranges knows the files
  if (info.layout == Hdf5DatasetInfo::Layout::chunked) {
    Shape chunks;
    for (int i = 0; i < info.shape.rank(); ++i)
      chunks.append((info.shape[i] - 1) / std::max<Index>(info.chunk[i], 1) + 1);
    declared.chunks = chunks.count();
    require_list_fits(what(), "chunks", declared.chunks, sizeof(ChunkEntry), memory_bytes);
  }
  declared.file_bytes = File(dataset_.file_path()).size();
  declared.packed = !info.filters.empty();
  require_believable(what(), declared);
}

void Hdf5Frames::choose_way() {
  const Hdf5DatasetInfo& info = dataset_.info();
  using Layout = Hdf5DatasetInfo::Layout;
  if (info.layout == Layout::contiguous && info.data_offset && info.plain) {
    way_ = Way::block;
  } else if (info.layout == Layout::chunked && info.plain) {
    way_ = one_frame_per_chunk(info) ? Way::chunks : Way::assembled;
    index_ = read_chunk_index(dataset_);
    packed_ = info.filters.size() == 1 && info.filters[0].id == bitshuffle_filter;
    if (packed_) format_ = format_of(info.filters[0], info.element_bytes, what());
    if (!info.filters.empty()) {
      pipeline_.emplace(file_path(), path(), info.filters, info.element_bytes,
                        static_cast<std::size_t>(info.chunk.count()) * info.element_bytes);
      if (index_.stored() > 0) pipeline_->require_known();
    }
  }
  if (way_ == Way::boxes) return;
  if (way_ == Way::assembled) chunked_.emplace(info.shape, info.chunk, info.fill);
  file_bytes_ = file().size();
  rest();
  dataset_.close();
}

const File& Hdf5Frames::file() {
  if (file_ == nullptr) {
    file_ = std::make_unique<File>(dataset_.file_path());
    file_->advise(Advice::sequential);
  }
  return *file_;
}

Index Hdf5Frames::absent_frames() const { return way_ == Way::chunks ? index_.count() - index_.stored() : 0; }

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
  if (way_ == Way::boxes) {
    if (problems.collect([&] { dataset_.require_sources(); }) &&
        dataset_.info().layout == Hdf5DatasetInfo::Layout::virtual_parts)
      problems.collect([&] {
        DeclaredSize declared{.items = frames_, .item_bytes = frame_bytes_, .name = "frames"};
        declared.file_bytes = dataset_.source_bytes();
        require_believable(what(), declared);
      });
    return;
  }
  const std::vector<Index> outside = index_.outside(file_bytes_);
  if (!outside.empty()) {
    const ChunkEntry entry = index_[outside[0]];
    beyond(fmt::format("chunk {} (the first of {} that are outside)", outside[0], outside.size()), entry.offset,
           entry.stored_bytes);
  }
  if (pipeline_) return;
  const std::size_t chunk_bytes = static_cast<std::size_t>(index_.chunk().count()) * size_bytes(dtype_);
  bool found = false;
  index_.for_each_stored([&](Index number, const ChunkEntry& entry) {
    if (found || entry.stored_bytes == chunk_bytes) return;
    found = true;
    problems.add(Error(ErrorKind::bad_file,
                       fmt::format("{}: chunk {} has {} bytes, its {} {}", what(), number, entry.stored_bytes,
                                   way_ == Way::chunks ? "frame" : "elements", chunk_bytes)));
  });
}

std::size_t Hdf5Frames::stored_bytes(Index frame) const {
  return way_ == Way::chunks ? index_[frame].stored_bytes : frame_bytes_;
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
    case Way::boxes:
      return read_boxes(first, last, all);
  }
}

void Hdf5Frames::read_chunks(Index first, std::span<RawBatch::Piece> pieces, std::span<std::byte> bytes) {
  std::vector<FilePiece> wanted;
  std::uint64_t end = 0, total = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Index number = first + static_cast<Index>(i);
    const ChunkEntry entry = index_[number];
    pieces[i].filter_mask = entry.filter_mask;
    if (entry.absent()) continue;
    wanted.push_back({entry.offset, bytes.subspan(pieces[i].offset, pieces[i].size)});
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

void Hdf5Frames::unpack(std::span<const std::byte> bytes, std::uint32_t filter_mask, DecodeScratch& scratch,
                        std::span<std::byte> elements) const {
  if (packed_ && (filter_mask & 1u) == 0) return decode_bitshuffle(bytes, format_, scratch.bitshuffle, elements);
  if (pipeline_ && !packed_) return pipeline_->decode(bytes, filter_mask, scratch.filters, elements);
  if (bytes.size() != elements.size())
    throw Error(ErrorKind::bad_file,
                fmt::format("an unpacked chunk of {} bytes, expected {}", bytes.size(), elements.size()));
  std::memcpy(elements.data(), bytes.data(), bytes.size());
}

void Hdf5Frames::decode(Index frame, const RawBatch::Piece& piece, std::span<const std::byte> bytes,
                        DecodeScratch& scratch, std::span<std::byte> elements) const {
  if (way_ == Way::chunks) {
    if (piece.size == 0) return fill(elements);
    try {
      unpack(bytes, piece.filter_mask, scratch, elements);
    } catch (Error& error) {
      error.add_activity(fmt::format("decoding frame {} of {}, at byte {}", frame, what(), index_[frame].offset));
      throw;
    }
  } else {
    std::memcpy(elements.data(), bytes.data(), elements.size());
  }
  if (dataset_.info().big_endian && (way_ == Way::chunks || way_ == Way::block))
    swap_bytes(elements, size_bytes(dtype_));
}

void Hdf5Frames::assemble(Index first, Index last, std::span<std::byte> bytes) {
  struct Scratch {
    DecodeScratch decode;
    std::vector<std::byte> stored;
  };
  PerWorker<Scratch> scratch;
  const File& from = file();
  const auto decode = [&](Index number, Worker& worker, std::vector<std::byte>& elements) {
    const ChunkEntry entry = index_[number];
    if (entry.absent()) return false;
    Scratch& mine = scratch[worker];
    during(fmt::format("decoding chunk {} of {}", number, what()), [&] {
      const std::uint32_t mask = mask_of(number, entry);
      if (pipeline_ && !pipeline_->could_hold(entry.stored_bytes, mask))
        throw Error(ErrorKind::bad_file,
                    fmt::format("{} bytes cannot hold a chunk of {}", entry.stored_bytes, chunked_->chunk_bytes()));
      mine.stored.resize(entry.stored_bytes);
      from.read_at(entry.offset, mine.stored);
      elements.resize(chunked_->chunk_bytes());
      unpack(mine.stored, mask, mine.decode, elements);
    });
    if (dataset_.info().big_endian) swap_bytes(elements, size_bytes(dtype_));
    return true;
  };
  chunked_->read(first, last, decode, bytes);
}

std::size_t Hdf5Frames::reading_bytes(int workers) const {
  const Hdf5DatasetInfo& info = dataset_.info();
  if (way_ == Way::chunks || way_ == Way::block || info.layout != Hdf5DatasetInfo::Layout::chunked) return 0;
  // A chunk as it is stored, between two filters (in turns, each a little larger at most) and decoded.
  const double decoded = static_cast<double>(info.chunk.count()) * static_cast<double>(info.element_bytes);
  const double between = 1.2 * decoded * static_cast<double>(std::clamp<std::size_t>(info.filters.size(), 1, 3) - 1);
  std::uint32_t stored = 0;
  index_.for_each_stored([&](Index, const ChunkEntry& entry) { stored = std::max(stored, entry.stored_bytes); });
  return static_cast<std::size_t>(static_cast<double>(workers) * (decoded + between + stored));
}

std::uint32_t Hdf5Frames::mask_of(Index number, const ChunkEntry& entry) const {
  if (dataset_.info().whole_edges) return entry.filter_mask;
  // Chunks that reach beyond the shape went through no filter.
  const Shape origin = index_.first_element(number);
  for (int i = 0; i < origin.rank(); ++i)
    if (origin[i] + index_.chunk()[i] > dataset_.info().shape[i]) return ~0u;
  return entry.filter_mask;
}

void Hdf5Frames::read_boxes(Index first, Index last, std::span<std::byte> bytes) const {
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

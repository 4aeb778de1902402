// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/hdf5/dataset.h"

#include <algorithm>

#include "sonde/engine/io/hdf5/chunk_map.h"
#include "sonde/engine/io/hdf5/convert.h"
#include "sonde/engine/io/read_pieces.h"

namespace sonde::hdf5 {
Dataset::Dataset(Object object, std::string path)
    : object_(std::move(object)),
      path_(std::move(path)),
      name_(fmt::format("{}, {}", object_.file->path(), path_)),
      data_(read_description(*object_.file, *object_.header)),
      shape_(data_.space.shape()) {}

const ChunkIndex& Dataset::chunks() const {
  const std::lock_guard lock(mutex_);
  if (chunks_ == nullptr) {
    Shape chunk;
    for (const std::uint64_t extent : data_.layout.chunk) chunk.append(static_cast<Index>(extent));
    chunks_ = std::make_unique<const ChunkIndex>(shape_, chunk, read_chunk_map(file(), data_));
  }
  return *chunks_;
}

std::uint64_t Dataset::chunk_bytes() const {
  if (data_.layout.kind != Layout::Kind::chunked) return 0;
  std::uint64_t bytes = data_.type.bytes;
  for (const std::uint64_t extent : data_.layout.chunk) bytes *= extent;  // below 2^32: read_description()
  return bytes;
}

Bytes Dataset::fill() const { return data_.fill.empty() ? Bytes(data_.type.bytes) : data_.fill; }

void Dataset::read_stored(const Box& box, std::span<std::byte> to) const {
  if (!to.empty()) read(box, to, nullptr);
}

void Dataset::read_native(const Box& box, std::span<std::byte> to) const {
  if (to.empty()) return;
  const std::size_t native_bytes = size_bytes(*data_.type.dtype());
  if (native_bytes == data_.type.bytes) {
    read(box, to, nullptr);
    return to_native(data_.type, to, to);
  }
  Bytes stored(to.size() / native_bytes * data_.type.bytes);
  read(box, stored, nullptr);
  to_native(data_.type, stored, to);
}

Bytes Dataset::read_all() const {
  Box all{{}, shape_};
  for (int i = 0; i < shape_.rank(); ++i) all.first.append(0);
  Bytes bytes(product(data_.space.count(), data_.type.bytes, "the declared shape"));
  read_stored(all, bytes);
  return bytes;
}

std::optional<Hdf5Value> Dataset::value(Index most) const {
  // What a file declares without holding it is no small value.
  constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;
  if (!has_value(data_.type, data_.space, most) || data_.space.count() > most_bytes / data_.type.bytes)
    return std::nullopt;
  if (chunk_bytes() > most_bytes) return std::nullopt;
  return to_value(file().image(), file().widths(), data_.type, data_.space, read_all());
}

Hdf5DatasetInfo describe(const Dataset& dataset) {
  const Description& data = dataset.description();
  Hdf5DatasetInfo info;
  info.shape = dataset.shape();
  info.dtype = data.type.dtype();
  info.plain = data.type.is_native();
  info.element_bytes = data.type.bytes;
  const bool parts = data.type.kind == Datatype::Kind::record && !data.type.members.empty();
  info.big_endian = (parts ? data.type.members[0].type.big_endian : data.type.big_endian) && data.type.bytes > 1;
  info.type_text = data.type.text();
  info.layout = static_cast<Hdf5DatasetInfo::Layout>(data.layout.kind);
  for (const std::uint64_t extent : data.layout.chunk) info.chunk.append(static_cast<Index>(extent));
  info.filters = data.filters;
  info.whole_edges = data.layout.whole_edges;
  if (info.dtype) {
    info.fill.resize(size_bytes(*info.dtype));
    to_native(data.type, dataset.fill(), info.fill);
  }
  if (data.layout.kind == Layout::Kind::contiguous && data.layout.address != undefined_address)
    info.data_offset = dataset.file().image().base() + data.layout.address;
  return info;
}

void Dataset::read(const Box& box, std::span<std::byte> to, const Visit* before) const {
  switch (data_.layout.kind) {
    case Layout::Kind::compact:
      return for_each_row(box, shape_, [&](std::uint64_t in_box, std::uint64_t in_whole, std::uint64_t count) {
        const std::size_t each = data_.type.bytes;
        std::memcpy(to.data() + in_box * each, data_.layout.compact.data() + in_whole * each, count * each);
      });
    case Layout::Kind::contiguous:
      return read_contiguous(box, to);
    case Layout::Kind::chunked:
      return read_chunks(box, to);
    case Layout::Kind::virtual_parts:
      return read_parts(box, to, before);
  }
}

void Dataset::read_contiguous(const Box& box, std::span<std::byte> to) const {
  if (data_.layout.address == undefined_address) return fill_with(fill(), to);
  const std::uint64_t begin = file().image().base() + data_.layout.address, each = data_.type.bytes;
  std::vector<FilePiece> pieces;
  constexpr std::size_t most_pieces = 65536;
  for_each_row(box, shape_, [&](std::uint64_t in_box, std::uint64_t in_whole, std::uint64_t count) {
    pieces.push_back({begin + in_whole * each, to.subspan(in_box * each, count * each)});
    if (pieces.size() < most_pieces) return;
    read_pieces(file().image().file(), pieces);
    pieces.clear();
  });
  if (pieces.size() == 1) return file().image().file().read_at(pieces[0].offset, pieces[0].into);
  read_pieces(file().image().file(), pieces);
}

}  // namespace sonde::hdf5

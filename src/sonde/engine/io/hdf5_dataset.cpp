// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <set>

#include "sonde/engine/io/chunk_index.h"
#include "sonde/engine/io/declared_size.h"
#include "sonde/engine/io/file.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/engine/io/hdf5/attributes.h"
#include "sonde/engine/io/hdf5/convert.h"
#include "sonde/engine/io/hdf5/dataset.h"

namespace sonde {
namespace {

constexpr Index most_in_value = 65536;

/// A box of positions as the smallest box around it.
void box_around(const hdf5::Selection& selection, Shape& first, Shape& count) {
  for (const hdf5::Positions& along : selection.dimensions) {
    if (along.count() == 0 || first.rank() == Shape::max_rank)
      hdf5::damaged("a part of the virtual data set without positions");
    first.append(static_cast<Index>(along.first()));
    count.append(static_cast<Index>(along.last() - along.first() + 1));
  }
}

}  // namespace

const hdf5::Dataset& Hdf5Dataset::opened() const {
  if (opened_ == nullptr) throw Error(ErrorKind::internal, file_path_ + ", " + path_ + ": read after it was closed");
  return *opened_;
}

Array Hdf5Dataset::read() const {
  // What a virtual data set holds is in other files. Small ones need no look at the file.
  if (info_.dtype && info_.layout != Hdf5DatasetInfo::Layout::virtual_parts && info_.shape.count() > (Index{1} << 20)) {
    const std::uint64_t file_bytes = File(file_path_).size();
    // Filters differ: gzip makes a thousandth of equal bytes at best, zstd a thirty-thousandth.
    const hdf5::Pipeline filters(file_path_, path_, info_.filters, info_.element_bytes,
                                 static_cast<std::size_t>(info_.shape.count()) * info_.element_bytes);
    require_believable(fmt::format("{}, {}", file_path_, path_),
                       {.items = info_.shape.count(),
                        .item_bytes = size_bytes(*info_.dtype),
                        .file_bytes = file_bytes,
                        .packed = !info_.filters.empty() && filters.could_hold(file_bytes, 0)});
  }
  Shape first;
  for (int i = 0; i < info_.shape.rank(); ++i) first.append(0);
  return read(first, info_.shape);
}

Array Hdf5Dataset::read(const Shape& first, const Shape& count) const {
  if (!info_.dtype)
    throw Error(ErrorKind::not_supported, fmt::format("{}, {}: elements of type {} cannot be read as numbers",
                                                      file_path_, path_, info_.type_text));
  Array array(Device::cpu(), count, *info_.dtype);
  read_into(
      first, count,
      {static_cast<std::byte*>(array.data()), static_cast<std::size_t>(count.count()) * size_bytes(*info_.dtype)});
  return array;
}

void Hdf5Dataset::read_into(const Shape& first, const Shape& count, std::span<std::byte> elements) const {
  const std::string what = fmt::format("{}, {}", file_path_, path_);
  if (!info_.dtype)
    throw Error(ErrorKind::not_supported,
                fmt::format("{}: elements of type {} cannot be read as numbers", what, info_.type_text));
  bool inside = first.rank() == info_.shape.rank() && count.rank() == info_.shape.rank();
  for (int i = 0; inside && i < count.rank(); ++i)
    inside = first[i] >= 0 && count[i] >= 0 && first[i] <= info_.shape[i] && count[i] <= info_.shape[i] - first[i];
  if (!inside)
    throw Error(ErrorKind::bad_input, fmt::format("{}: {} elements from {} reach beyond the shape {}", what,
                                                  count.text(), first.text(), info_.shape.text()));
  if (elements.size() != static_cast<std::size_t>(count.count()) * size_bytes(*info_.dtype))
    throw Error(ErrorKind::internal, fmt::format("{}: {} bytes of memory for {} elements of {}", what, elements.size(),
                                                 count.text(), info_.type_text));
  hdf5::reading(file_path_, path_, [&] { opened().read_native({first, count}, elements); });
}

Hdf5Value Hdf5Dataset::value() const {
  auto value = hdf5::reading(file_path_, path_, [&] { return opened().value(most_in_value); });
  if (!value)
    throw Error(ErrorKind::bad_input, fmt::format("{}, {}: {} of {} is not a small value", file_path_, path_,
                                                  info_.shape.text(), info_.type_text));
  return std::move(*value);
}

std::vector<std::byte> Hdf5Dataset::raw_elements() const {
  if (opened().description().type.kind == hdf5::Datatype::Kind::variable_length)
    throw Error(ErrorKind::not_supported,
                fmt::format("{}, {}: elements of variable length have no raw bytes", file_path_, path_));
  return hdf5::reading(file_path_, path_, [&] { return opened().read_all(); });
}

std::optional<Hdf5RecordLists> Hdf5Dataset::record_lists() const {
  const hdf5::Datatype& type = opened().description().type;
  if (!hdf5::has_record_lists(type)) return std::nullopt;
  require_believable(fmt::format("{}, {}", file_path_, path_), {.items = info_.shape.count(),
                                                                .item_bytes = info_.element_bytes,
                                                                .file_bytes = File(file_path_).size(),
                                                                .packed = !info_.filters.empty()});
  return hdf5::reading(file_path_, path_, [&] {
    const hdf5::Bytes bytes = opened().read_all();
    if (bytes.size() / type.bytes < static_cast<std::size_t>(info_.shape.count())) hdf5::damaged("its lists end early");
    const hdf5::OpenFile& file = opened().file();
    return std::optional(hdf5::to_record_lists(file.image(), file.widths(), type, info_.shape, bytes));
  });
}

std::uint64_t Hdf5Dataset::chunk_bytes(const Shape& offset) const { return chunk_at(offset).stored_bytes; }

ChunkEntry Hdf5Dataset::chunk_at(const Shape& offset) const {
  const ChunkIndex& index = hdf5::reading(file_path_, path_, [&]() -> const ChunkIndex& { return opened().chunks(); });
  Index number = 0;
  for (int i = 0; i < index.grid().rank(); ++i) number = number * index.grid()[i] + offset[i] / index.chunk()[i];
  return index[number];
}

std::uint32_t Hdf5Dataset::read_chunk(const Shape& offset, std::span<std::byte> bytes) const {
  const ChunkEntry entry = chunk_at(offset);
  if (entry.stored_bytes != bytes.size())
    throw Error(ErrorKind::internal, fmt::format("{}, {}: the chunk at {} takes {} bytes, memory for {} was given",
                                                 file_path_, path_, offset.text(), entry.stored_bytes, bytes.size()));
  hdf5::reading(file_path_, path_, [&] {
    const hdf5::Image& image = opened().file().image();
    image.read_elements(entry.offset - image.base(), bytes);
  });
  return entry.filter_mask;
}

std::optional<Hdf5Value> Hdf5Dataset::attribute(const std::string& name) const {
  return hdf5::reading(file_path_, path_, [&] {
    std::optional<Hdf5Value> value;
    const hdf5::OpenFile& file = opened().file();
    hdf5::for_each_attribute(file, opened().header(), [&](const hdf5::StoredAttribute& attribute) {
      if (attribute.name != name) return true;
      if (hdf5::has_value(attribute.type, attribute.space, most_in_value))
        value = hdf5::to_value(file.image(), file.widths(), attribute.type, attribute.space, attribute.bytes);
      return false;
    });
    return value;
  });
}

std::vector<Hdf5VirtualPart> Hdf5Dataset::virtual_parts() const {
  return hdf5::reading(file_path_, path_, [&] {
    std::vector<Hdf5VirtualPart> parts;
    for (const hdf5::VirtualPart& stored : opened().parts()) {
      if (stored.here.grows || stored.source.grows)
        hdf5::unsupported("the virtual data set has a part without limits",
                          "name the data files themselves, or copy the data set into one file with h5repack");
      Hdf5VirtualPart part;
      part.file = stored.file;
      part.object = stored.object;
      box_around(stored.here, part.first, part.count);
      if (stored.source.all) {
        part.source_count = part.count;  // "all of it", whose extent the file does not repeat
        for (int k = 0; k < part.count.rank(); ++k) part.source_first.append(0);
      } else {
        box_around(stored.source, part.source_first, part.source_count);
      }
      parts.push_back(std::move(part));
    }
    return parts;
  });
}

void Hdf5Dataset::require_sources() const {
  hdf5::reading(file_path_, path_, [&] { opened().require_sources(); });
}

std::uint64_t Hdf5Dataset::source_bytes() const {
  std::set<std::string> seen;
  std::uint64_t bytes = 0;
  for (const Hdf5VirtualPart& part : virtual_parts())
    if (seen.insert(part.file).second)
      bytes += File(part.file == "." ? file_path_ : hdf5::locate(file_path_, part.file)).size();
  return bytes;
}

ChunkIndex read_chunk_index(const Hdf5Dataset& dataset) {
  if (dataset.info().layout != Hdf5DatasetInfo::Layout::chunked)
    throw Error(ErrorKind::bad_input,
                fmt::format("{}, {}: the data set is not chunked", dataset.file_path(), dataset.path()));
  return hdf5::reading(dataset.file_path(), dataset.path(), [&] { return dataset.opened().chunks(); });
}

}  // namespace sonde

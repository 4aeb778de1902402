// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/hdf5/layout.h"

#include <algorithm>

namespace sonde::hdf5 {
namespace {

Bytes copy(ByteSpan bytes) { return {bytes.begin(), bytes.end()}; }

void take_chunk(Cursor& cursor, Layout& layout, unsigned dimensions, unsigned bytes_each) {
  if (dimensions < 2 || dimensions > 33) damaged(fmt::format("chunks of {} dimensions", dimensions));
  for (unsigned i = 0; i < dimensions; ++i) layout.chunk.push_back(cursor.number(bytes_each));
}

Layout::Kind kind_of(unsigned number) {
  if (number > 3) damaged(fmt::format("a layout of class {}", number));
  return static_cast<Layout::Kind>(number);
}

Layout read_old_layout(Cursor& cursor) {
  Layout layout;
  const unsigned dimensions = cursor.byte();
  layout.kind = kind_of(cursor.byte());
  cursor.skip(5);
  if (layout.kind != Layout::Kind::compact) layout.address = cursor.address();
  if (layout.kind == Layout::Kind::chunked) {
    take_chunk(cursor, layout, dimensions, 4);
  } else {
    layout.bytes = 1;
    for (unsigned i = 0; i < dimensions; ++i)
      layout.bytes = product(layout.bytes, cursor.take<std::uint32_t>(), "the layout of the data");
    if (layout.kind == Layout::Kind::compact) layout.compact = copy(cursor.take_bytes(cursor.take<std::uint32_t>()));
  }
  return layout;
}

void take_index(Cursor& cursor, Layout& layout, unsigned flags) {
  constexpr unsigned partial_edges_unfiltered = 1, single_filtered = 2;
  layout.whole_edges = (flags & partial_edges_unfiltered) == 0;
  const unsigned kind = cursor.byte();
  switch (kind) {
    case 1:
      layout.index = Layout::Index::single;
      if ((flags & single_filtered) != 0) {
        layout.single_filtered = true;
        layout.single_bytes = cursor.length();
        layout.single_mask = cursor.take<std::uint32_t>();
      }
      break;
    case 2:
      layout.index = Layout::Index::implicit;
      break;
    case 3:
      layout.index = Layout::Index::fixed_array;
      cursor.skip(1);  // its header repeats it
      break;
    case 4:
      layout.index = Layout::Index::extensible_array;
      cursor.skip(5);
      break;
    case 5:
      layout.index = Layout::Index::tree_2;
      cursor.skip(6);
      break;
    default:
      damaged(fmt::format("an index of chunks of kind {}", kind));
  }
  layout.address = cursor.address();
}

Layout read_layout(ByteSpan message, Widths widths) {
  Cursor cursor(message, widths);
  const unsigned version = cursor.byte();
  if (version == 1 || version == 2) return read_old_layout(cursor);
  if (version != 3 && version != 4)
    unsupported(fmt::format("a layout of version {}; 1 to 4 are read", version),
                "write the file again with h5repack --high=v110");
  Layout layout;
  layout.kind = kind_of(cursor.byte());
  switch (layout.kind) {
    case Layout::Kind::compact:
      layout.compact = copy(cursor.take_bytes(cursor.take<std::uint16_t>()));
      break;
    case Layout::Kind::contiguous:
      layout.address = cursor.address();
      layout.bytes = cursor.length();
      break;
    case Layout::Kind::chunked:
      if (version == 3) {
        const unsigned dimensions = cursor.byte();
        layout.address = cursor.address();
        take_chunk(cursor, layout, dimensions, 4);
      } else {
        const unsigned flags = cursor.byte(), dimensions = cursor.byte(), bytes_each = cursor.byte();
        take_chunk(cursor, layout, dimensions, bytes_each);
        take_index(cursor, layout, flags);
      }
      break;
    case Layout::Kind::virtual_parts:
      layout.heap = cursor.address();
      layout.heap_object = cursor.take<std::uint32_t>();
      break;
  }
  return layout;
}

std::string known_name(int id) {
  constexpr const char* names[] = {"", "deflate", "shuffle", "fletcher32", "szip", "nbit", "scaleoffset"};
  return id >= 1 && id <= 6 ? names[id] : "";
}

std::vector<Hdf5Filter> read_filters(ByteSpan message) {
  Cursor cursor(message);
  const unsigned version = cursor.byte(), count = cursor.byte();
  if (version != 1 && version != 2) damaged(fmt::format("filters of version {}", version));
  constexpr unsigned most_filters = 32, first_named = 256;  // filters of the library have no name in version 2
  if (count > most_filters) damaged(fmt::format("{} filters", count));
  if (version == 1) cursor.skip(6);
  std::vector<Hdf5Filter> filters;
  for (unsigned i = 0; i < count; ++i) {
    Hdf5Filter filter;
    const unsigned id = cursor.take<std::uint16_t>();
    filter.id = static_cast<int>(id);
    const unsigned name_bytes = version == 1 || id >= first_named ? cursor.take<std::uint16_t>() : 0;
    filter.optional = (cursor.take<std::uint16_t>() & 1u) != 0;
    const unsigned values = cursor.take<std::uint16_t>();
    ByteSpan name = cursor.take_bytes(name_bytes);
    if (version == 1) cursor.skip((8 - name_bytes % 8) % 8);
    for (; !name.empty() && name.front() != std::byte{0}; name = name.subspan(1))
      filter.name += static_cast<char>(name.front());
    if (filter.name.empty()) filter.name = known_name(filter.id);
    for (unsigned k = 0; k < values; ++k) filter.client_data.push_back(cursor.take<std::uint32_t>());
    if (version == 1 && values % 2 != 0) cursor.skip(4);
    filters.push_back(std::move(filter));
  }
  return filters;
}

Bytes read_fill(ByteSpan message) {
  Cursor cursor(message);
  const unsigned version = cursor.byte();
  if (version == 1 || version == 2) {
    cursor.skip(2);  // when it is allocated and written
    const bool defined = cursor.byte() != 0;
    return version == 1 || defined ? copy(cursor.take_bytes(cursor.take<std::uint32_t>())) : Bytes();
  }
  if (version != 3) damaged(fmt::format("a fill value of version {}", version));
  constexpr unsigned has_value = 32;
  return (cursor.byte() & has_value) != 0 ? copy(cursor.take_bytes(cursor.take<std::uint32_t>())) : Bytes();
}

Bytes body_of(const OpenFile& file, const ObjectHeader& header, MessageType type, std::string_view what) {
  const Message* message = header.find(type);
  if (message == nullptr) damaged(fmt::format("the data set has no {}", what));
  return file.body(*message);
}

void check_chunk(Description& data) {
  Layout& layout = data.layout;
  const std::size_t rank = data.space.extents.size();
  if (layout.chunk.size() != rank + 1 || layout.chunk.back() != data.type.bytes)
    damaged(fmt::format("chunks of {} dimensions with elements of {} bytes in a data set of {} with {} bytes",
                        layout.chunk.size() - 1, layout.chunk.back(), rank, data.type.bytes));
  std::uint64_t bytes = 1;
  for (const std::uint64_t extent : layout.chunk) {
    if (extent == 0) damaged("chunks without elements");
    bytes = product(bytes, extent, "a chunk");
  }
  if (bytes >> 32 != 0) damaged(fmt::format("chunks of {} bytes, the format's limit is 2^32", bytes));
  layout.chunk.pop_back();
}

void check(const OpenFile& file, Description& data) {
  const std::uint64_t bytes = product(data.space.count(), data.type.bytes, "the declared shape");
  switch (data.layout.kind) {
    case Layout::Kind::compact:
      if (data.layout.compact.size() < bytes)
        damaged(fmt::format("{} bytes of elements, expected {}", data.layout.compact.size(), bytes));
      break;
    case Layout::Kind::contiguous:
      if (data.layout.address == undefined_address) break;
      if (file.image().room(data.layout.address) < bytes)
        damaged(fmt::format("the elements are bytes {} to {} of a file of {} bytes",
                            file.image().base() + data.layout.address,
                            file.image().base() + data.layout.address + bytes, file.image().file().size()),
                "the file is incomplete: copy it again");
      break;
    case Layout::Kind::chunked:
      check_chunk(data);
      break;
    case Layout::Kind::virtual_parts:
      break;
  }
}

}  // namespace

Description read_description(const OpenFile& file, const ObjectHeader& header) {
  Description data;
  data.space = read_dataspace(body_of(file, header, MessageType::dataspace, "shape"), file.widths());
  data.type = read_datatype(body_of(file, header, MessageType::datatype, "type"));
  data.layout = read_layout(body_of(file, header, MessageType::layout, "layout"), file.widths());
  if (const Message* filters = header.find(MessageType::filters)) data.filters = read_filters(file.body(*filters));
  if (const Message* fill = header.find(MessageType::fill)) {
    data.fill = read_fill(file.body(*fill));
  } else if (const Message* old = header.find(MessageType::old_fill)) {
    const Bytes body = file.body(*old);
    Cursor cursor(body);
    data.fill = copy(cursor.take_bytes(cursor.take<std::uint32_t>()));
  }
  if (data.fill.size() != data.type.bytes) data.fill.clear();
  if (header.find(MessageType::external_files) != nullptr)
    unsupported("the elements are in other files (HDF5 external storage)",
                "copy the data set into one file with h5repack");
  check(file, data);
  return data;
}

}  // namespace sonde::hdf5

// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/hdf5/attributes.h"

#include "sonde/engine/io/hdf5/btree2.h"
#include "sonde/engine/io/hdf5/fractal_heap.h"

namespace sonde::hdf5 {
namespace {

StoredAttribute read_attribute(const OpenFile& file, ByteSpan message) {
  Cursor cursor(message, file.widths());
  const unsigned version = cursor.byte(), flags = cursor.byte();
  if (version < 1 || version > 3) damaged(fmt::format("an attribute of version {}", version));
  const unsigned name_bytes = cursor.take<std::uint16_t>(), type_bytes = cursor.take<std::uint16_t>(),
                 space_bytes = cursor.take<std::uint16_t>();
  if (version == 3) cursor.skip(1);  // character set
  const auto take = [&](unsigned bytes) {
    const ByteSpan part = cursor.take_bytes(bytes);
    if (version == 1) cursor.skip((8 - bytes % 8) % 8);
    return part;
  };
  StoredAttribute attribute;
  attribute.name = Cursor(take(name_bytes)).text();
  const bool shared_type = version > 1 && (flags & 1u) != 0, shared_space = version > 1 && (flags & 2u) != 0;
  attribute.type =
      read_datatype(file.body(static_cast<unsigned>(MessageType::datatype), shared_type, take(type_bytes)));
  attribute.space = read_dataspace(
      file.body(static_cast<unsigned>(MessageType::dataspace), shared_space, take(space_bytes)), file.widths());
  attribute.bytes.assign(cursor.rest().begin(), cursor.rest().end());
  return attribute;
}

/// Calls visit for every attribute in the heap of an object with many of them; false when it was asked to stop.
bool visit_dense(const OpenFile& file, ByteSpan message, const std::function<bool(StoredAttribute)>& visit) {
  Cursor cursor(message, file.widths());
  if (const unsigned version = cursor.byte(); version != 0) damaged(fmt::format("attributes of version {}", version));
  if ((cursor.byte() & 1u) != 0) cursor.skip(2);  // largest order of creation
  const std::uint64_t heap_address = cursor.address(), names = cursor.address();
  if (heap_address == undefined_address || names == undefined_address) return true;
  FractalHeap heap(file.image(), file.widths(), heap_address);
  constexpr unsigned attributes_by_name = 8;
  bool more = true;
  for_each_record(file.image(), file.widths(), names, attributes_by_name, [&](ByteSpan record) {
    if (!more) return;
    Cursor each(record);
    const ByteSpan id = each.take_bytes(8);
    const bool shared = (each.byte() & 2u) != 0;
    const Bytes body =
        shared ? file.shared_message(static_cast<unsigned>(MessageType::attribute), id) : heap.object(id);
    more = visit(read_attribute(file, body));
  });
  return more;
}

}  // namespace

void for_each_attribute(const OpenFile& file, const ObjectHeader& object,
                        const std::function<bool(StoredAttribute attribute)>& visit) {
  for (const Message& message : object.messages) {
    if (message.type == static_cast<unsigned>(MessageType::attribute)) {
      if (!visit(read_attribute(file, file.body(message)))) return;
    } else if (message.type == static_cast<unsigned>(MessageType::attribute_info)) {
      if (!visit_dense(file, message.body, visit)) return;
    }
  }
}

}  // namespace sonde::hdf5

// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/hdf5/links.h"

#include <algorithm>
#include <optional>

#include "sonde/engine/base/text.h"
#include "sonde/engine/io/hdf5/btree2.h"
#include "sonde/engine/io/hdf5/fractal_heap.h"
#include "sonde/engine/io/hdf5/open_file.h"

namespace sonde::hdf5 {
namespace {

std::string take_characters(Cursor& cursor, std::uint64_t count) {
  const ByteSpan bytes = cursor.take_bytes(count);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A link message; nothing for kinds of links that programs define for themselves.
std::optional<StoredLink> read_link(ByteSpan message, Widths widths) {
  Cursor cursor(message, widths);
  if (const unsigned version = cursor.byte(); version != 1) damaged(fmt::format("a link of version {}", version));
  const unsigned flags = cursor.byte();
  const unsigned kind = (flags & 8u) != 0 ? cursor.byte() : 0;
  if ((flags & 4u) != 0) cursor.skip(8);   // order of creation
  if ((flags & 16u) != 0) cursor.skip(1);  // character set
  StoredLink link;
  link.link.name = take_characters(cursor, cursor.number(1u << (flags & 3u)));
  constexpr unsigned hard = 0, soft = 1, external = 64;
  if (kind == hard) {
    link.address = cursor.address();
  } else if (kind == soft) {
    link.link.kind = Hdf5Link::Kind::soft;
    link.link.object = take_characters(cursor, cursor.take<std::uint16_t>());
  } else if (kind == external) {
    link.link.kind = Hdf5Link::Kind::external;
    Cursor value(cursor.take_bytes(cursor.take<std::uint16_t>()));
    value.skip(1);  // version and flags
    link.link.file = value.text();
    link.link.object = value.text();
  } else {
    return std::nullopt;
  }
  return link;
}

void read_dense_links(const OpenFile& file, ByteSpan message, Links& links) {
  Cursor cursor(message, file.widths());
  if (const unsigned version = cursor.byte(); version != 0) damaged(fmt::format("a group of version {}", version));
  if ((cursor.byte() & 1u) != 0) cursor.skip(8);  // largest order of creation
  const std::uint64_t heap_address = cursor.address(), names = cursor.address();
  if (heap_address == undefined_address || names == undefined_address) return;
  FractalHeap heap(file.image(), file.widths(), heap_address);
  constexpr unsigned links_by_name = 5;
  for_each_record(file.image(), file.widths(), names, links_by_name, [&](ByteSpan record) {
    Cursor each(record);
    each.skip(4);  // hash of the name
    if (auto link = read_link(heap.object(each.take_bytes(heap.id_bytes())), file.widths()))
      links.push_back(std::move(*link));
  });
}

bool before(const StoredLink& a, const StoredLink& b) {
  if (natural_less(a.link.name, b.link.name)) return true;
  return !natural_less(b.link.name, a.link.name) && a.link.name < b.link.name;  // "a1" and "a01"
}

}  // namespace

Links read_links(const OpenFile& file, const ObjectHeader& group) {
  if (!group.is_group()) damaged("an object that is not a group has no members");
  Links links;
  for (const Message& message : group.messages) {
    if (message.type == static_cast<unsigned>(MessageType::symbol_table)) {
      Links old = read_symbol_table(file.image(), file.widths(), message.body);
      std::move(old.begin(), old.end(), std::back_inserter(links));
    } else if (message.type == static_cast<unsigned>(MessageType::link)) {
      if (auto link = read_link(file.body(message), file.widths())) links.push_back(std::move(*link));
    } else if (message.type == static_cast<unsigned>(MessageType::link_info)) {
      read_dense_links(file, message.body, links);
    }
  }
  std::stable_sort(links.begin(), links.end(), before);
  const auto same = [](const StoredLink& a, const StoredLink& b) { return a.link.name == b.link.name; };
  links.erase(std::unique(links.begin(), links.end(), same), links.end());
  return links;
}

const StoredLink* find_link(const Links& links, std::string_view name) {
  StoredLink wanted;
  wanted.link.name = name;
  const auto found = std::lower_bound(links.begin(), links.end(), wanted, before);
  return found != links.end() && found->link.name == name ? &*found : nullptr;
}

}  // namespace sonde::hdf5

// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <unordered_set>

#include "sonde/engine/io/hdf5/links.h"

namespace sonde::hdf5 {
namespace {

/// The names of an old group: one piece of the file.
Bytes read_local_heap(const Image& image, Widths widths, std::uint64_t address) {
  const Bytes head = image.read(address, 8 + 2 * std::uint64_t{widths.length} + widths.address);
  Cursor cursor(head, widths);
  if (!cursor.take_if("HEAP") || cursor.byte() != 0)
    damaged(fmt::format("there is no heap of names at address {}", address));
  cursor.skip(3);
  const std::uint64_t bytes = cursor.length();
  (void)cursor.length();  // free space
  return image.read(cursor.address(), bytes);
}

/// Levels fall by one from node to node and no node is read twice, so that every tree ends.
class SymbolTableReader {
 public:
  SymbolTableReader(const Image& image, Widths widths, Bytes names)
      : image_(image), widths_(widths), names_(std::move(names)) {}

  Links read(std::uint64_t root) {
    read_node(root, std::nullopt);
    return std::move(links_);
  }

 private:
  void enter(std::uint64_t address) {
    if (!seen_.insert(address).second) damaged(fmt::format("the group's node at address {} appears twice", address));
  }

  void read_node(std::uint64_t address, std::optional<unsigned> expected_level) {
    enter(address);
    const std::uint64_t head_bytes = 8 + 2 * std::uint64_t{widths_.address};
    const Bytes head = image_.read(address, head_bytes);
    Cursor start(head, widths_);
    constexpr unsigned group_node = 0;
    if (!start.take_if("TREE") || start.byte() != group_node)
      damaged(fmt::format("there is no node of a group at address {}", address));
    const unsigned level = start.byte(), children = start.take<std::uint16_t>();
    if (expected_level && level != *expected_level)
      damaged(
          fmt::format("the group's node at address {} is on level {}, expected {}", address, level, *expected_level));
    const std::uint64_t each = widths_.length + widths_.address;
    const Bytes body = image_.read(address + head_bytes, children * each + widths_.length);
    Cursor cursor(body, widths_);
    for (unsigned i = 0; i < children; ++i) {
      (void)cursor.length();  // key: the last name before
      const std::uint64_t child = cursor.address();
      if (level > 0)
        read_node(child, level - 1);
      else
        read_symbols(child);
    }
  }

  void read_symbols(std::uint64_t address) {
    enter(address);
    const Bytes head = image_.read(address, 8);
    Cursor start(head);
    if (!start.take_if("SNOD") || start.byte() != 1)
      damaged(fmt::format("there are no symbols of a group at address {}", address));
    start.skip(1);
    const unsigned symbols = start.take<std::uint16_t>();
    const std::uint64_t each = 2 * std::uint64_t{widths_.address} + 4 + 4 + 16;
    const Bytes body = image_.read(address + 8, symbols * each);
    Cursor cursor(body, widths_);
    for (unsigned i = 0; i < symbols; ++i) {
      StoredLink link;
      link.link.name = name_at(cursor.address());
      link.address = cursor.address();
      const auto kind = cursor.take<std::uint32_t>();
      cursor.skip(4);
      Cursor scratch(cursor.take_bytes(16));
      constexpr std::uint32_t soft_link = 2;
      if (kind == soft_link) {
        link.link.kind = Hdf5Link::Kind::soft;
        link.link.object = name_at(scratch.take<std::uint32_t>());
        link.address = undefined_address;
      }
      links_.push_back(std::move(link));
    }
  }

  std::string name_at(std::uint64_t offset) const {
    Cursor cursor(names_);
    cursor.skip(offset);
    std::string name = cursor.text();
    image_.charge(64 + name.size());
    return name;
  }

  const Image& image_;
  Widths widths_;
  Bytes names_;
  Links links_;
  std::unordered_set<std::uint64_t> seen_;
};

}  // namespace

Links read_symbol_table(const Image& image, Widths widths, ByteSpan message) {
  Cursor cursor(message, widths);
  const std::uint64_t tree = cursor.address(), heap = cursor.address();
  return SymbolTableReader(image, widths, read_local_heap(image, widths, heap)).read(tree);
}

}  // namespace sonde::hdf5

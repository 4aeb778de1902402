// SPDX-License-Identifier: Apache-2.0
// The on-disk structures: superblock, object header, layout message, tree. All integers are little endian; addresses
// are relative to the base address that the superblock names.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/chunk_index.h"

namespace sonde {
namespace {

constexpr std::uint64_t undefined_address = ~std::uint64_t{0};

[[noreturn]] void broken(const std::string& what) {
  throw Error(ErrorKind::bad_file, "the chunk index is broken: " + what)
      .hint("copy the file again, or let h5repack write it anew");
}

/// Takes integers off the front of some bytes.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  T take() {
    if (bytes_.size() < sizeof(T)) broken("a structure ends early");
    T value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i)
      value = static_cast<T>(value | static_cast<T>(static_cast<T>(bytes_[i]) << (8 * i)));
    bytes_ = bytes_.subspan(sizeof(T));
    return value;
  }
  std::span<const std::byte> take_bytes(std::size_t count) {
    if (bytes_.size() < count) broken("a structure ends early");
    const auto part = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return part;
  }
  bool take_if(std::string_view signature) {
    if (bytes_.size() < signature.size() || std::memcmp(bytes_.data(), signature.data(), signature.size()) != 0)
      return false;
    bytes_ = bytes_.subspan(signature.size());
    return true;
  }
  [[nodiscard]] std::size_t left() const { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
};

/// The bytes of the file behind its base address, with every access checked against the file's size.
class Image {
 public:
  Image(const ReadAt& read_at, std::uint64_t file_bytes) : read_at_(read_at), file_bytes_(file_bytes) {}

  void set_base(std::uint64_t base) { base_ = base; }
  [[nodiscard]] std::uint64_t base() const { return base_; }
  /// Bytes from `address` to the end of the file.
  [[nodiscard]] std::uint64_t room(std::uint64_t address) const {
    return base_ > file_bytes_ || address > file_bytes_ - base_ ? 0 : file_bytes_ - base_ - address;
  }
  void read(std::uint64_t address, std::span<std::byte> bytes) const {
    if (room(address) < bytes.size() || !read_at_(base_ + address, bytes))
      broken(fmt::format("{} bytes at address {} are not inside the file of {} bytes", bytes.size(), address,
                         file_bytes_));
  }
  [[nodiscard]] std::vector<std::byte> read(std::uint64_t address, std::uint64_t count) const {
    if (room(address) < count)
      broken(fmt::format("{} bytes at address {} are not inside the file of {} bytes", count, address, file_bytes_));
    std::vector<std::byte> bytes(count);
    if (count > 0) read(address, bytes);
    return bytes;
  }

 private:
  const ReadAt& read_at_;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t base_ = 0;
};

/// Finds the superblock and the base address. False when addresses are not 8 bytes wide or the version is unknown.
bool find_superblock(Image& image) {
  constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";
  // The superblock is at byte 0, or behind a user block at 512, 1024, 2048, ...
  for (std::uint64_t at = 0; image.room(at) >= 48; at = at == 0 ? 512 : 2 * at) {
    std::array<std::byte, 48> bytes{};
    image.read(at, bytes);
    Cursor cursor(bytes);
    if (!cursor.take_if(signature)) continue;
    const auto version = cursor.take<std::uint8_t>();
    if (version > 3) return false;
    if (version <= 1) cursor.take_bytes(4);  // versions of free space, root group, reserved, shared header
    const auto address_bytes = cursor.take<std::uint8_t>(), length_bytes = cursor.take<std::uint8_t>();
    if (address_bytes != 8 || length_bytes != 8) return false;
    if (version <= 1) cursor.take_bytes(1 + 2 + 2 + 4);  // reserved, sizes of group nodes, flags
    if (version == 1) cursor.take_bytes(2 + 2);          // size of chunk nodes, reserved
    if (version >= 2) cursor.take_bytes(1);              // flags
    image.set_base(cursor.take<std::uint64_t>());
    return true;
  }
  broken("there is no HDF5 signature");
}

/// Reads object headers of both versions until the layout message appears.
class HeaderReader {
 public:
  explicit HeaderReader(const Image& image) : image_(image) {}

  std::vector<std::byte> find_layout(std::uint64_t address) {
    const std::uint64_t room = std::clamp<std::uint64_t>(image_.room(address), 1, 32);
    const std::vector<std::byte> prefix = image_.read(address, room);
    Cursor cursor(prefix);
    if (cursor.take_if("OHDR"))
      add_version_2(address, cursor, room);
    else
      add_version_1(address, cursor);

    // A header has few continuation blocks; a file with a cycle of them has no end.
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      if (i == 1024) broken("the object header has more than 1024 continuation blocks");
      if (auto message = search(blocks_[i])) return std::move(*message);
    }
    broken("the data set has no layout message");
  }

 private:
  struct Block {
    std::uint64_t address, bytes;
  };

  void add_version_1(std::uint64_t address, Cursor& cursor) {
    if (cursor.take<std::uint8_t>() != 1) broken(fmt::format("there is no object header at address {}", address));
    cursor.take_bytes(1 + 2 + 4);  // reserved, number of messages, reference count
    blocks_.push_back({address + 16, cursor.take<std::uint32_t>()});
  }

  void add_version_2(std::uint64_t address, Cursor& cursor, std::uint64_t prefix_bytes) {
    version_2_ = true;
    if (cursor.take<std::uint8_t>() != 2) broken("an object header of unknown version");
    const auto flags = cursor.take<std::uint8_t>();
    has_order_ = (flags & 4u) != 0;
    if ((flags & 32u) != 0) cursor.take_bytes(16);  // four times
    if ((flags & 16u) != 0) cursor.take_bytes(4);   // limits of attribute storage
    std::uint64_t bytes = 0;
    switch (flags & 3u) {
      case 0:
        bytes = cursor.take<std::uint8_t>();
        break;
      case 1:
        bytes = cursor.take<std::uint16_t>();
        break;
      case 2:
        bytes = cursor.take<std::uint32_t>();
        break;
      default:
        bytes = cursor.take<std::uint64_t>();
    }
    blocks_.push_back({address + prefix_bytes - cursor.left(), bytes});
  }

  std::optional<std::vector<std::byte>> search(Block block) {
    const std::vector<std::byte> bytes = image_.read(block.address, block.bytes);
    Cursor cursor(bytes);
    const std::size_t head = version_2_ ? (has_order_ ? 6 : 4) : 8;
    while (cursor.left() >= head) {
      unsigned type = 0;
      std::size_t size = 0;
      if (version_2_) {
        type = cursor.take<std::uint8_t>();
        size = cursor.take<std::uint16_t>();
        cursor.take_bytes(has_order_ ? 3 : 1);
      } else {
        type = cursor.take<std::uint16_t>();
        size = cursor.take<std::uint16_t>();
        cursor.take_bytes(4);
      }
      const auto content = cursor.take_bytes(size);
      constexpr unsigned layout_message = 0x0008, continuation_message = 0x0010;
      if (type == layout_message) return std::vector<std::byte>(content.begin(), content.end());
      if (type == continuation_message) add_continuation(content);
    }
    return std::nullopt;
  }

  void add_continuation(std::span<const std::byte> content) {
    Cursor cursor(content);
    const auto address = cursor.take<std::uint64_t>(), bytes = cursor.take<std::uint64_t>();
    if (!version_2_) {
      blocks_.push_back({address, bytes});
      return;
    }
    // signature, messages, checksum
    if (bytes < 8 || !Cursor(image_.read(address, 4)).take_if("OCHK"))
      broken(fmt::format("there is no continuation block at address {}", address));
    blocks_.push_back({address + 4, bytes - 8});
  }

  const Image& image_;
  std::vector<Block> blocks_;
  bool version_2_ = false, has_order_ = false;
};

/// Reads the tree into the entries of an index. Levels fall by one from node to node, so that depth is bounded, and
/// every leaf must place at least one chunk that had no place yet, so that a node reached twice is noticed.
class TreeReader {
 public:
  TreeReader(const Image& image, const ChunkedLayout& layout, ChunkIndex& index)
      : image_(image),
        layout_(layout),
        index_(index),
        key_bytes_(8 + 8 * (static_cast<std::size_t>(layout.shape.rank()) + 1)) {}

  void read_root(std::uint64_t address) { read_node(address, std::nullopt); }

 private:
  struct Head {
    unsigned level, entries;
  };

  void read_node(std::uint64_t address, std::optional<unsigned> expected_level) {
    // Most nodes have at most 64 children (the default) and fit into one read of a page.
    std::vector<std::byte> bytes(std::clamp<std::uint64_t>(image_.room(address), 1, 4096));
    image_.read(address, bytes);
    const Head head = read_head(address, bytes);
    if (expected_level && head.level != *expected_level)
      broken(fmt::format("the node at address {} is on level {}, expected {}", address, head.level, *expected_level));
    if (head.entries == 0 && expected_level) broken(fmt::format("the node at address {} is empty", address));

    constexpr std::size_t head_bytes = 24;
    const std::size_t needed = head_bytes + head.entries * (key_bytes_ + 8);
    if (needed > bytes.size()) bytes = image_.read(address, needed);
    Cursor cursor{std::span<const std::byte>(bytes).subspan(head_bytes)};
    for (unsigned i = 0; i < head.entries; ++i) {
      const auto key = cursor.take_bytes(key_bytes_);
      const auto child = cursor.take<std::uint64_t>();
      if (child == undefined_address)
        broken(fmt::format("the node at address {} has a child without address", address));
      if (head.level > 0)
        read_node(child, head.level - 1);
      else
        place(key, child);
    }
  }

  static Head read_head(std::uint64_t address, std::span<const std::byte> bytes) {
    Cursor cursor(bytes);
    if (!cursor.take_if("TREE") || cursor.take<std::uint8_t>() != 1)
      broken(fmt::format("there is no node of a chunk tree at address {}", address));
    const unsigned level = cursor.take<std::uint8_t>();
    const unsigned entries = cursor.take<std::uint16_t>();
    cursor.take_bytes(16);  // siblings
    return {level, entries};
  }

  void place(std::span<const std::byte> key, std::uint64_t address) {
    Cursor cursor(key);
    ChunkEntry entry;
    entry.stored_bytes = cursor.take<std::uint32_t>();
    entry.filter_mask = cursor.take<std::uint32_t>();
    entry.offset = image_.base() + address;
    if (entry.offset < address) broken(fmt::format("a chunk at address {} lies beyond 64 bits", address));
    std::size_t number = 0;
    for (int i = 0; i < layout_.shape.rank(); ++i) {
      const auto element = cursor.take<std::uint64_t>();
      const auto extent = static_cast<std::uint64_t>(layout_.chunk[i]);
      if (element % extent != 0 || element / extent >= static_cast<std::uint64_t>(index_.grid[i]))
        broken(fmt::format("a chunk begins at element {} of dimension {}, which has {} elements in chunks of {}",
                           element, i, layout_.shape[i], extent));
      number = number * static_cast<std::size_t>(index_.grid[i]) + static_cast<std::size_t>(element / extent);
    }
    if (entry.stored_bytes == 0) broken("a chunk of 0 bytes");
    if (!index_.entries[number].absent()) broken(fmt::format("chunk {} appears twice", number));
    index_.entries[number] = entry;
  }

  const Image& image_;
  const ChunkedLayout& layout_;
  ChunkIndex& index_;
  std::size_t key_bytes_;
};

/// The address of the tree's root; nothing when the message describes another kind of index.
std::optional<std::uint64_t> root_of_tree(std::span<const std::byte> message, const ChunkedLayout& layout) {
  Cursor cursor(message);
  if (cursor.take<std::uint8_t>() != 3) return std::nullopt;
  constexpr unsigned chunked_class = 2;
  if (cursor.take<std::uint8_t>() != chunked_class) broken("the data set is not chunked");
  const unsigned dimensions = cursor.take<std::uint8_t>();
  const auto root = cursor.take<std::uint64_t>();
  bool same = dimensions == static_cast<unsigned>(layout.shape.rank()) + 1;
  for (int i = 0; same && i < layout.shape.rank(); ++i)
    same = static_cast<Index>(cursor.take<std::uint32_t>()) == layout.chunk[i];
  same = same && cursor.take<std::uint32_t>() == layout.element_bytes;
  if (!same) broken(fmt::format("the layout message does not describe chunks of {}", layout.chunk.text()));
  return root;
}

}  // namespace

std::optional<ChunkIndex> walk_chunk_tree(const ReadAt& read_at, std::uint64_t file_bytes,
                                          const ChunkedLayout& layout) {
  Image image(read_at, file_bytes);
  if (!find_superblock(image)) return std::nullopt;
  const std::vector<std::byte> message = HeaderReader(image).find_layout(layout.header_address);
  const auto root = root_of_tree(message, layout);
  if (!root) return std::nullopt;

  ChunkIndex index = empty_chunk_index(layout.shape, layout.chunk);
  index.because = "one walk of the version-1 tree";
  if (*root != undefined_address) TreeReader(image, layout, index).read_root(*root);
  return index;
}

}  // namespace sonde

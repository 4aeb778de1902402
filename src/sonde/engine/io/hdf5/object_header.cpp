// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/hdf5/object_header.h"

#include <set>

#include "sonde/engine/io/hdf5/checksum.h"

namespace sonde::hdf5 {
namespace {

class HeaderReader {
 public:
  HeaderReader(const Image& image, Widths widths, std::uint64_t address) : image_(image), widths_(widths) {
    header_.address = address;
  }

  ObjectHeader read() {
    const Bytes prefix = image_.read_most(header_.address, 40);
    Cursor cursor(prefix);
    if (cursor.take_if("OHDR"))
      start_version_2(cursor);
    else
      start_version_1(cursor);
    for (std::size_t i = 0; i < wanted_.size(); ++i) read_block(wanted_[i]);
    return std::move(header_);
  }

 private:
  struct Block {
    std::uint64_t address, bytes;
    std::size_t head;  // bytes before the first message
  };

  void add(Block block) {
    if (!seen_.insert(block.address).second) damaged("the blocks of an object header form a circle");
    if (block.bytes > image_.file().size() || (bytes_ += block.bytes) > image_.file().size())
      damaged(fmt::format("the blocks of the object header at address {} are larger than the file", header_.address));
    wanted_.push_back(block);
  }

  void start_version_1(Cursor& cursor) {
    if (cursor.byte() != 1) damaged(fmt::format("there is no object header at address {}", header_.address));
    cursor.skip(1 + 2 + 4);  // reserved, number of messages, reference count
    const auto bytes = cursor.take<std::uint32_t>();
    add({header_.address + 16, bytes, 0});
  }

  void start_version_2(Cursor& cursor) {
    version_2_ = true;
    if (const unsigned version = cursor.byte(); version != 2)
      damaged(fmt::format("an object header of version {}", version));
    const unsigned flags = cursor.byte();
    has_order_ = (flags & 4u) != 0;
    if ((flags & 32u) != 0) cursor.skip(16);  // four times
    if ((flags & 16u) != 0) cursor.skip(4);   // limits of attribute storage
    const std::uint64_t bytes = cursor.number(1u << (flags & 3u));
    if (bytes > image_.room(header_.address)) image_.require(header_.address, bytes);
    add({header_.address, cursor.taken() + bytes + 4, cursor.taken()});
  }

  void read_block(Block block) {
    header_.blocks.push_back(image_.read(block.address, block.bytes));
    ByteSpan bytes = header_.blocks.back();
    if (version_2_) {
      require_checksum(bytes, fmt::format("the object header at address {}", header_.address));
      bytes = bytes.subspan(block.head, bytes.size() - block.head - 4);
    }
    Cursor cursor(bytes, widths_);
    const std::size_t head = version_2_ ? (has_order_ ? 6 : 4) : 8;
    while (cursor.left() >= head) {
      Message message;
      message.type = version_2_ ? cursor.byte() : cursor.take<std::uint16_t>();
      const auto size = cursor.take<std::uint16_t>();
      message.flags = cursor.byte();
      cursor.skip(version_2_ ? (has_order_ ? 2 : 0) : 3);
      message.body = cursor.take_bytes(size);
      image_.charge(64);
      if (message.type == static_cast<unsigned>(MessageType::continuation))
        add_continuation(message.body);
      else if (message.type != 0)
        header_.messages.push_back(message);
    }
  }

  void add_continuation(ByteSpan body) {
    Cursor cursor(body, widths_);
    const std::uint64_t address = cursor.address(), bytes = cursor.length();
    if (!version_2_) return add({address, bytes, 0});
    constexpr std::size_t signature = 4, checksum = 4;
    if (bytes < signature + checksum || !Cursor(image_.read(address, signature)).take_if("OCHK"))
      damaged(fmt::format("there is no continuation block at address {}", address));
    add({address, bytes, signature});
  }

  const Image& image_;
  Widths widths_;
  ObjectHeader header_;
  std::vector<Block> wanted_;
  std::set<std::uint64_t> seen_;
  std::uint64_t bytes_ = 0;
  bool version_2_ = false, has_order_ = false;
};

}  // namespace

const Message* ObjectHeader::find(MessageType type) const {
  for (const Message& message : messages)
    if (message.type == static_cast<unsigned>(type)) return &message;
  return nullptr;
}

bool ObjectHeader::is_group() const {
  return find(MessageType::symbol_table) != nullptr || find(MessageType::link_info) != nullptr;
}

bool ObjectHeader::is_dataset() const {
  return find(MessageType::datatype) != nullptr && find(MessageType::dataspace) != nullptr;
}

ObjectHeader read_object_header(const Image& image, Widths widths, std::uint64_t address) {
  return HeaderReader(image, widths, address).read();
}

}  // namespace sonde::hdf5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sonde/engine/io/hdf5/image.h"

namespace sonde::hdf5 {

enum class MessageType : unsigned {
  dataspace = 0x01,
  link_info = 0x02,
  datatype = 0x03,
  old_fill = 0x04,
  fill = 0x05,
  link = 0x06,
  external_files = 0x07,
  layout = 0x08,
  filters = 0x0b,
  attribute = 0x0c,
  shared_table = 0x0f,
  continuation = 0x10,
  symbol_table = 0x11,
  driver = 0x14,
  attribute_info = 0x15,
};

/// One message of an object header.
struct Message {
  unsigned type = 0, flags = 0;
  ByteSpan body;
  [[nodiscard]] bool shared() const { return (flags & 2u) != 0; }
};

/// What describes one object: a group, a data set or a named type (section IV.A).
struct ObjectHeader {
  ObjectHeader() = default;
  ObjectHeader(ObjectHeader&&) = default;  // copies would refer to the bytes of the original

  std::uint64_t address = 0;
  std::vector<Message> messages;
  std::vector<Bytes> blocks;  ///< what the messages' bodies are parts of

  [[nodiscard]] const Message* find(MessageType type) const;
  [[nodiscard]] bool is_group() const;
  [[nodiscard]] bool is_dataset() const;
};

/// Reads a header of version 1 or 2 with all its continuation blocks; checksums are verified, a block that appears
/// twice is a Fault.
[[nodiscard]] ObjectHeader read_object_header(const Image& image, Widths widths, std::uint64_t address);

}  // namespace sonde::hdf5

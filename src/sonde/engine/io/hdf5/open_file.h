// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "sonde/engine/io/hdf5/links.h"
#include "sonde/engine/io/hdf5/object_header.h"
#include "sonde/engine/io/hdf5/superblock.h"

namespace sonde::hdf5 {

/// A file with what has been read of its structure so far: headers and groups are kept, so that going through a file
/// costs every structure once. Thread-safe.
class OpenFile {
 public:
  /// Throws Error like Hdf5File::open.
  static std::shared_ptr<const OpenFile> open(const std::string& path);

  [[nodiscard]] const std::string& path() const { return image_.path(); }
  [[nodiscard]] const Image& image() const { return image_; }
  [[nodiscard]] Widths widths() const { return superblock_.widths; }
  [[nodiscard]] std::uint64_t root() const { return superblock_.root; }

  [[nodiscard]] std::shared_ptr<const ObjectHeader> header(std::uint64_t address) const;
  /// The links of the group with this header; a Fault when it is no group.
  [[nodiscard]] std::shared_ptr<const Links> links(std::uint64_t address) const;
  /// The body of a message, which may be in another object's header or in the heap of shared messages.
  [[nodiscard]] Bytes body(const Message& message) const { return body(message.type, message.shared(), message.body); }
  [[nodiscard]] Bytes body(unsigned type, bool shared, ByteSpan bytes) const;
  /// A message of the heap of shared messages.
  [[nodiscard]] Bytes shared_message(unsigned type, ByteSpan id) const;

 private:
  explicit OpenFile(const std::string& path) : image_(path) {}
  [[nodiscard]] std::uint64_t shared_heap(unsigned type) const;

  Image image_;
  Superblock superblock_;
  mutable std::mutex mutex_;
  mutable std::map<std::uint64_t, std::shared_ptr<const ObjectHeader>> headers_;
  mutable std::map<std::uint64_t, std::shared_ptr<const Links>> links_;
  mutable std::size_t kept_ = 0;  ///< links and messages in both
};

}  // namespace sonde::hdf5

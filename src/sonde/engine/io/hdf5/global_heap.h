// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "sonde/engine/io/hdf5/image.h"

namespace sonde::hdf5 {

/// The collections that hold texts and rows of variable length (section III.E), each read once. One thread at a time.
class GlobalHeap {
 public:
  GlobalHeap(const Image& image, Widths widths) : image_(image), widths_(widths) {}

  /// The bytes of object `number` of the collection at `address`; valid as long as the heap.
  [[nodiscard]] ByteSpan object(std::uint64_t address, std::uint32_t number);

 private:
  struct Collection {
    Bytes bytes;
    std::map<std::uint32_t, ByteSpan> objects;
  };
  const Collection& collection(std::uint64_t address);

  const Image& image_;
  Widths widths_;
  std::map<std::uint64_t, Collection> collections_;
};

}  // namespace sonde::hdf5

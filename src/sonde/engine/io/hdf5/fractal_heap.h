// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "sonde/engine/io/hdf5/image.h"

namespace sonde::hdf5 {

/// The heap that holds links, attributes and shared messages of newer files (section III.G): objects in direct blocks,
/// found by their offset through a table of doubling blocks; huge ones anywhere in the file; tiny ones in their own
/// identifier. Blocks that went through filters are refused by name. Blocks are read once each. One thread at a time.
class FractalHeap {
 public:
  FractalHeap(const Image& image, Widths widths, std::uint64_t address);

  [[nodiscard]] Bytes object(ByteSpan id);
  [[nodiscard]] std::size_t id_bytes() const { return id_bytes_; }

 private:
  struct Place {
    std::uint64_t address = undefined_address, bytes = 0;
  };

  [[nodiscard]] Bytes managed(ByteSpan id);
  [[nodiscard]] Bytes huge(ByteSpan id);
  [[nodiscard]] Bytes tiny(ByteSpan id) const;
  [[nodiscard]] Place block_in(std::uint64_t indirect, std::uint64_t rows, std::uint64_t offset, std::uint64_t& start,
                               int depth);
  [[nodiscard]] std::uint64_t row_bytes(std::uint64_t row) const;
  [[nodiscard]] const Bytes& direct_block(Place place, std::uint64_t start);
  void require_head(Cursor& cursor, std::string_view signature, std::uint64_t start) const;

  const Image& image_;
  Widths widths_;
  std::uint64_t address_;
  unsigned id_bytes_ = 0, offset_bytes_ = 0, length_bytes_ = 0;
  bool checksums_ = false;
  std::uint64_t width_ = 0, start_bytes_ = 0, most_direct_ = 0, heap_bits_ = 0;
  std::uint64_t root_ = undefined_address, root_rows_ = 0;
  std::uint64_t huge_tree_ = undefined_address;
  bool filtered_ = false;
  std::map<std::uint64_t, Bytes> direct_, indirect_;
  std::uint64_t direct_bytes_ = 0;
  std::map<std::uint64_t, Place> huge_;
  bool huge_known_ = false;
};

}  // namespace sonde::hdf5

// SPDX-License-Identifier: Apache-2.0
// Indexes that are arrays of chunk addresses: of fixed size, and growing in blocks that double.
#include <algorithm>

#include "sonde/engine/io/hdf5/checksum.h"
#include "sonde/engine/io/hdf5/chunk_map.h"

namespace sonde::hdf5 {
namespace {

/// What both kinds have in common: elements, pages of elements with a checksum each, and bits that say which exist.
class ChunkArray {
 public:
  ChunkArray(ChunkMap& map, Widths widths) : map_(map), widths_(widths) {}

 protected:
  /// The version, kind of element and element size of a header.
  void take_head(Cursor& cursor, std::string_view signature) {
    constexpr unsigned filtered = 1;
    if (!cursor.take_if(signature) || cursor.byte() != 0)
      damaged(fmt::format("there is no index of chunks at address {}", map_.data().layout.address));
    filtered_ = cursor.byte() == filtered;
    element_bytes_ = cursor.byte();
    const unsigned least = widths_.address + (filtered_ ? 1 + 4 : 0);
    if (element_bytes_ < least || element_bytes_ > least + (filtered_ ? 7 : 0))
      damaged(fmt::format("an index of chunks with elements of {} bytes", element_bytes_));
  }

  /// The signature, version, kind and owner that every block of an array repeats.
  void take_block_head(Cursor& cursor, std::string_view signature) const {
    if (!cursor.take_if(signature) || cursor.byte() != 0 || (cursor.byte() == 1) != filtered_ ||
        cursor.address() != map_.data().layout.address)
      damaged("a block of the index of chunks is not where it is expected");
  }

  void take_elements(Cursor& cursor, std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t address = cursor.address();
      const std::uint64_t stored = filtered_ ? cursor.number(element_bytes_ - widths_.address - 4) : map_.chunk_bytes();
      const auto mask = filtered_ ? cursor.take<std::uint32_t>() : 0;
      if (address != undefined_address) map_.place_linear(first + i, address, stored, mask);
    }
  }

  /// Pages one behind another from `address`; those whose bit is not set were never written.
  void read_pages(std::uint64_t address, std::uint64_t first, std::uint64_t count, std::uint64_t page, ByteSpan bits,
                  std::uint64_t first_bit) {
    const std::uint64_t page_bytes = page * element_bytes_ + 4;
    for (std::uint64_t done = 0, number = 0; done < count; done += page, ++number) {
      const std::uint64_t bit = first_bit + number;
      const bool written = (static_cast<unsigned>(bits[bit / 8]) >> (7 - bit % 8) & 1u) != 0;
      if (!written) continue;
      const std::uint64_t elements = std::min(page, count - done);
      const Bytes bytes = map_.image().read_once(address + number * page_bytes, elements * element_bytes_ + 4);
      require_checksum(bytes, "a page of the index of chunks");
      Cursor cursor(bytes, widths_);
      take_elements(cursor, first + done, elements);
    }
  }

  ChunkMap& map_;
  Widths widths_;
  bool filtered_ = false;
  unsigned element_bytes_ = 0;
};

class FixedArray : ChunkArray {
 public:
  using ChunkArray::ChunkArray;

  void read() {
    const Bytes header = map_.image().read(map_.data().layout.address, 4 + 4 + widths_.length + widths_.address + 4);
    require_checksum(header, "the index of chunks");
    Cursor cursor(header, widths_);
    take_head(cursor, "FAHD");
    const unsigned page_bits = cursor.byte();
    const std::uint64_t count = cursor.length(), address = cursor.address();
    if (page_bits > 32) damaged("an index of chunks with pages larger than any file");
    if (address == undefined_address) return;

    const std::uint64_t page = std::uint64_t{1} << page_bits, head_bytes = 4 + 2 + widths_.address;
    if (count <= page) {
      const Bytes block = map_.image().read_once(address, head_bytes + product(count, element_bytes_, "an index") + 4);
      require_checksum(block, "a block of the index of chunks");
      Cursor elements(block, widths_);
      take_block_head(elements, "FADB");
      return take_elements(elements, 0, count);
    }
    const std::uint64_t pages = count / page + (count % page != 0 ? 1 : 0), bits_bytes = (pages + 7) / 8;
    const Bytes block = map_.image().read_once(address, head_bytes + bits_bytes + 4);
    require_checksum(block, "a block of the index of chunks");
    Cursor start(block, widths_);
    take_block_head(start, "FADB");
    read_pages(address + block.size(), 0, count, page, start.take_bytes(bits_bytes), 0);
  }
};

class ExtensibleArray : ChunkArray {
 public:
  using ChunkArray::ChunkArray;

  void read() {
    const std::uint64_t index_block = read_header();
    if (index_block == undefined_address) return;
    // Blocks of super block s: 2^(s/2) of them, each 2^((s+1)/2) times the smallest.
    const std::uint64_t supers = 1 + most_bits_ - log2_floor(least_elements_);
    const std::uint64_t in_index = std::min<std::uint64_t>(supers, 2 * log2_floor(least_pointers_));
    const std::uint64_t direct = 2 * (least_pointers_ - 1), super_pointers = supers - in_index;
    const Bytes block =
        map_.image().read_once(index_block, 4 + 2 + widths_.address + std::uint64_t{index_elements_} * element_bytes_ +
                                                (direct + super_pointers) * widths_.address + 4);
    require_checksum(block, "a block of the index of chunks");
    Cursor cursor(block, widths_);
    take_block_head(cursor, "EAIB");
    take_elements(cursor, 0, index_elements_);
    std::uint64_t first = index_elements_;
    for (std::uint64_t s = 0; s < in_index; ++s)
      for (std::uint64_t k = 0; k < blocks_of(s); ++k, first += elements_of(s))
        read_block(cursor.address(), first, elements_of(s), {}, 0);
    for (std::uint64_t s = in_index; s < supers; ++s) {
      read_super(cursor.address(), first, s);
      first += blocks_of(s) * elements_of(s);
      if (first > map_count_) break;
    }
  }

 private:
  [[nodiscard]] static std::uint64_t blocks_of(std::uint64_t s) { return std::uint64_t{1} << (s / 2); }
  [[nodiscard]] std::uint64_t elements_of(std::uint64_t s) const { return least_elements_ << ((s + 1) / 2); }

  /// Returns the address of the index block.
  std::uint64_t read_header() {
    const Bytes header = map_.image().read(map_.data().layout.address,
                                           4 + 3 + 5 + 6 * std::uint64_t{widths_.length} + widths_.address + 4);
    require_checksum(header, "the index of chunks");
    Cursor cursor(header, widths_);
    take_head(cursor, "EAHD");
    most_bits_ = cursor.byte();
    index_elements_ = cursor.byte();
    least_elements_ = cursor.byte();
    least_pointers_ = cursor.byte();
    page_bits_ = cursor.byte();
    cursor.skip(4 * std::uint64_t{widths_.length});  // numbers and sizes of blocks
    map_count_ = cursor.length();                    // one more than the largest number set
    cursor.skip(widths_.length);                     // elements that exist
    if (most_bits_ == 0 || most_bits_ > 56 || least_elements_ == 0 || least_pointers_ < 2 || page_bits_ > 32 ||
        log2_floor(least_elements_) > most_bits_ || (least_elements_ & (least_elements_ - 1)) != 0 ||
        (least_pointers_ & (least_pointers_ - 1)) != 0)
      damaged("an index of chunks whose blocks do not double");
    return cursor.address();
  }

  [[nodiscard]] unsigned offset_bytes() const { return (most_bits_ + 7) / 8; }
  [[nodiscard]] std::uint64_t page() const { return std::uint64_t{1} << page_bits_; }

  void read_super(std::uint64_t address, std::uint64_t first, std::uint64_t s) {
    if (address == undefined_address) return;
    const std::uint64_t blocks = blocks_of(s), elements = elements_of(s);
    const std::uint64_t bits_bytes = elements > page() ? (elements / page() + 7) / 8 : 0;
    const std::uint64_t bytes = 4 + 2 + widths_.address + offset_bytes() +
                                product(blocks, bits_bytes + widths_.address, "an index of chunks") + 4;
    const Bytes block = map_.image().read_once(address, bytes);
    require_checksum(block, "a block of the index of chunks");
    Cursor cursor(block, widths_);
    take_block_head(cursor, "EASB");
    cursor.skip(offset_bytes());
    const ByteSpan bits = cursor.take_bytes(blocks * bits_bytes);  // those of all blocks follow each other
    for (std::uint64_t k = 0; k < blocks; ++k, first += elements)
      read_block(cursor.address(), first, elements, bits, k * (elements / page()));
  }

  void read_block(std::uint64_t address, std::uint64_t first, std::uint64_t elements, ByteSpan bits,
                  std::uint64_t first_bit) {
    if (address == undefined_address) return;
    const bool paged = !bits.empty();
    const std::uint64_t head_bytes = 4 + 2 + widths_.address + offset_bytes();
    const std::uint64_t inside = paged ? 0 : product(elements, element_bytes_, "an index of chunks");
    const Bytes block = map_.image().read_once(address, head_bytes + inside + 4);
    require_checksum(block, "a block of the index of chunks");
    Cursor cursor(block, widths_);
    take_block_head(cursor, "EADB");
    cursor.skip(offset_bytes());
    if (paged)
      read_pages(address + block.size(), first, elements, page(), bits, first_bit);
    else
      take_elements(cursor, first, elements);
  }

  unsigned most_bits_ = 0, index_elements_ = 0, page_bits_ = 0;
  std::uint64_t least_elements_ = 0, least_pointers_ = 0, map_count_ = 0;
};

}  // namespace

void read_fixed_array(ChunkMap& map, Widths widths) { FixedArray(map, widths).read(); }
void read_extensible_array(ChunkMap& map, Widths widths) { ExtensibleArray(map, widths).read(); }

}  // namespace sonde::hdf5

// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/hdf5/fractal_heap.h"

#include <bit>

#include "sonde/engine/io/hdf5/btree2.h"
#include "sonde/engine/io/hdf5/checksum.h"

namespace sonde::hdf5 {
namespace {

[[noreturn]] void refuse_filters() {
  unsupported("names or attributes that went through filters", "write the file again with h5repack");
}

}  // namespace

FractalHeap::FractalHeap(const Image& image, Widths widths, std::uint64_t address)
    : image_(image), widths_(widths), address_(address) {
  const unsigned l = widths.length, o = widths.address;
  const Bytes bytes =
      image.read(address, 4 + 1 + 2 + 2 + 1 + 4 + l + o + l + o + 8 * l + 2 + 2 * l + 2 + 2 + o + 2 + 4);
  Cursor cursor(bytes, widths);
  if (!cursor.take_if("FRHP") || cursor.byte() != 0) damaged(fmt::format("there is no heap at address {}", address));
  id_bytes_ = cursor.take<std::uint16_t>();
  filtered_ = cursor.take<std::uint16_t>() != 0;
  checksums_ = (cursor.byte() & 2u) != 0;
  const auto most_managed = cursor.take<std::uint32_t>();
  (void)cursor.length();  // next huge object
  huge_tree_ = cursor.address();
  (void)cursor.length();              // free space
  (void)cursor.address();             // its manager
  cursor.skip(8 * std::uint64_t{l});  // sizes and numbers of objects
  width_ = cursor.take<std::uint16_t>();
  start_bytes_ = cursor.length();
  most_direct_ = cursor.length();
  heap_bits_ = cursor.take<std::uint16_t>();
  cursor.skip(2);  // rows of the root at its beginning
  root_ = cursor.address();
  root_rows_ = cursor.take<std::uint16_t>();
  if (filtered_) refuse_filters();
  require_checksum(bytes, "a heap");
  if (width_ == 0 || !std::has_single_bit(width_) || !std::has_single_bit(start_bytes_) ||
      !std::has_single_bit(most_direct_) || most_direct_ < start_bytes_ || most_direct_ > (std::uint64_t{1} << 32) ||
      heap_bits_ == 0 || heap_bits_ > 62 || id_bytes_ == 0)
    damaged(fmt::format("a heap of {} blocks of {} to {} bytes per row", width_, start_bytes_, most_direct_));
  offset_bytes_ = static_cast<unsigned>((heap_bits_ + 7) / 8);
  length_bytes_ = std::min(bytes_for(most_direct_), bytes_for(most_managed));
}

Bytes FractalHeap::object(ByteSpan id) {
  if (id.size() != id_bytes_) damaged(fmt::format("an identifier of {} bytes in a heap of {}", id.size(), id_bytes_));
  const auto head = static_cast<unsigned>(id[0]);
  if (head >> 6 != 0) damaged("an identifier of another version of heaps");
  switch ((head >> 4) & 3u) {
    case 0:
      return managed(id);
    case 1:
      return huge(id);
    case 2:
      return tiny(id);
    default:
      damaged("an identifier of an unknown kind");
  }
}

Bytes FractalHeap::tiny(ByteSpan id) const {
  const auto head = static_cast<std::size_t>(id[0]);
  constexpr std::size_t longest_short = 16;
  const bool extended = id_bytes_ - 1 > longest_short + 1;
  if (extended && id.size() < 2) damaged("a heap object is longer than its identifier");
  const std::size_t length = extended ? (((head & 15u) << 8) | static_cast<std::size_t>(id[1])) + 1 : (head & 15u) + 1;
  const ByteSpan content = id.subspan(extended ? 2 : 1);
  if (length > content.size()) damaged("a heap object is longer than its identifier");
  return {content.begin(), content.begin() + static_cast<std::ptrdiff_t>(length)};
}

Bytes FractalHeap::huge(ByteSpan id) {
  Cursor cursor(id, widths_);
  cursor.skip(1);
  if (widths_.address + widths_.length <= id_bytes_ - 1) {
    const std::uint64_t address = cursor.address(), length = cursor.length();
    return image_.read(address, length);
  }
  if (!huge_known_) {
    constexpr unsigned huge_objects = 1;
    if (huge_tree_ != undefined_address)
      for_each_record(image_, widths_, huge_tree_, huge_objects, [&](ByteSpan bytes) {
        Cursor record(bytes, widths_);
        Place place;
        place.address = record.address();
        place.bytes = record.length();
        huge_.emplace(record.length(), place);
      });
    huge_known_ = true;
  }
  const auto found = huge_.find(cursor.number(std::min(widths_.length, id_bytes_ - 1)));
  if (found == huge_.end()) damaged("a huge object of a heap is in no tree");
  return image_.read(found->second.address, found->second.bytes);
}

Bytes FractalHeap::managed(ByteSpan id) {
  Cursor cursor(id);
  cursor.skip(1);
  const std::uint64_t offset = cursor.number(offset_bytes_), length = cursor.number(length_bytes_);
  if (root_ == undefined_address) damaged("an object of an empty heap");
  std::uint64_t start = 0;
  const Place place = root_rows_ == 0 ? Place{root_, start_bytes_} : block_in(root_, root_rows_, offset, start, 0);
  if (offset < start || offset - start > place.bytes || length > place.bytes - (offset - start))
    damaged(fmt::format("a heap object of {} bytes at offset {} ends outside of its block", length, offset));
  const Bytes& block = direct_block(place, start);
  const auto first = block.begin() + static_cast<std::ptrdiff_t>(offset - start);
  image_.charge(length + 64);
  return {first, first + static_cast<std::ptrdiff_t>(length)};
}

std::uint64_t FractalHeap::row_bytes(std::uint64_t row) const {
  if (row < 2) return start_bytes_;
  if (row - 1 + log2_floor(start_bytes_) > 62) damaged("a heap larger than any file");
  return start_bytes_ << (row - 1);
}

void FractalHeap::require_head(Cursor& cursor, std::string_view signature, std::uint64_t start) const {
  if (!cursor.take_if(signature) || cursor.byte() != 0 || cursor.address() != address_ ||
      cursor.number(offset_bytes_) != start)
    damaged(fmt::format("a block of the heap at address {} is not where it is expected", address_));
}

FractalHeap::Place FractalHeap::block_in(std::uint64_t indirect, std::uint64_t rows, std::uint64_t offset,
                                         std::uint64_t& start, int depth) {
  constexpr int most_depth = 32;
  if (depth > most_depth) damaged("the blocks of a heap nest without an end");
  const std::uint64_t direct_rows = log2_floor(most_direct_) - log2_floor(start_bytes_) + 2;
  const std::uint64_t head = 4 + 1 + widths_.address + offset_bytes_;
  const std::uint64_t entries = product(rows, width_, "a heap's table");
  auto found = indirect_.find(indirect);
  if (found == indirect_.end()) {
    Bytes bytes = image_.read(indirect, head + product(entries, widths_.address, "a heap's table") + 4);
    require_checksum(bytes, "a heap's table");
    found = indirect_.emplace(indirect, std::move(bytes)).first;
  }
  Cursor cursor(found->second, widths_);
  require_head(cursor, "FHIB", start);
  std::uint64_t at = start;
  for (std::uint64_t row = 0; row < rows; ++row) {
    const std::uint64_t each = row_bytes(row), all = product(each, width_, "a heap");
    if (offset - at >= all) {
      at += all;
      continue;
    }
    const std::uint64_t column = (offset - at) / each;
    at += column * each;
    cursor.skip((row * width_ + column) * widths_.address);
    const std::uint64_t child = cursor.address();
    if (child == undefined_address) damaged("an object in a block of a heap that was never written");
    start = at;
    if (row < direct_rows) return {child, each};
    const unsigned first = log2_floor(start_bytes_) + log2_floor(width_);
    if (log2_floor(each) < first) damaged("a heap's table without a row");
    return block_in(child, log2_floor(each) - first + 1, offset, start, depth + 1);
  }
  damaged(fmt::format("a heap object at offset {} is beyond the end of its heap", offset));
}

const Bytes& FractalHeap::direct_block(Place place, std::uint64_t start) {
  if (const auto found = direct_.find(place.address); found != direct_.end()) return found->second;
  Bytes bytes = image_.read(place.address, place.bytes);
  if ((direct_bytes_ += place.bytes) > image_.file().size())
    damaged(fmt::format("the blocks of the heap at address {} are larger than the file", address_));
  Cursor cursor(bytes, widths_);
  require_head(cursor, "FHDB", start);
  if (checksums_ && checks_checksums) {
    // The checksum is in the head, and counts as zero in its own sum.
    const std::size_t at = cursor.taken();
    const auto expected = cursor.take<std::uint32_t>();
    std::memset(bytes.data() + at, 0, 4);
    if (lookup3(bytes) != expected) damaged("the checksum of a block of a heap is wrong");
  }
  return direct_[place.address] = std::move(bytes);
}

}  // namespace sonde::hdf5

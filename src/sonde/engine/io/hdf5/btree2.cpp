// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/hdf5/btree2.h"

#include <unordered_set>

#include "sonde/engine/io/hdf5/checksum.h"

namespace sonde::hdf5 {
namespace {

class Btree2Reader {
 public:
  Btree2Reader(const Image& image, Widths widths, unsigned type, const std::function<void(ByteSpan)>& visit)
      : image_(image), widths_(widths), type_(type), visit_(visit) {}

  void read(std::uint64_t header_address) {
    const Bytes bytes =
        image_.read(header_address, 4 + 1 + 1 + 4 + 2 + 2 + 1 + 1 + widths_.address + 2 + widths_.length + 4);
    require_checksum(bytes, "a tree");
    Cursor cursor(bytes, widths_);
    if (!cursor.take_if("BTHD") || cursor.byte() != 0)
      damaged(fmt::format("there is no tree at address {}", header_address));
    if (const unsigned type = cursor.byte(); type != type_)
      damaged(fmt::format("a tree of type {}, expected {}", type, type_));
    node_bytes_ = cursor.take<std::uint32_t>();
    record_bytes_ = cursor.take<std::uint16_t>();
    const unsigned depth = cursor.take<std::uint16_t>();
    cursor.skip(2);  // when nodes are split and merged
    const std::uint64_t root = cursor.address();
    const unsigned records = cursor.take<std::uint16_t>();
    const std::uint64_t total = cursor.length();
    if (root == undefined_address || total == 0) return;
    choose_widths(depth);
    read_node(root, depth, records);
    if (visited_ != total) damaged(fmt::format("a tree of {} records, {} were found", total, visited_));
  }

 private:
  /// How many bytes pointers spend on counts depends on how many records fit into the nodes below.
  void choose_widths(unsigned depth) {
    constexpr unsigned most_depth = 32;
    constexpr std::uint64_t head = 4 + 1 + 1 + 4;
    if (depth > most_depth || record_bytes_ == 0 || node_bytes_ < head + record_bytes_)
      damaged(
          fmt::format("a tree of depth {} with records of {} bytes in nodes of {}", depth, record_bytes_, node_bytes_));
    std::uint64_t most = (node_bytes_ - head) / record_bytes_, total = most;
    count_bytes_ = bytes_for(most);
    total_bytes_.push_back(0);
    for (unsigned level = 1; level <= depth; ++level) {
      const std::uint64_t pointer = widths_.address + count_bytes_ + total_bytes_.back();
      if (node_bytes_ < head + pointer) damaged("a tree whose nodes are too small");
      most = (node_bytes_ - head - pointer) / (record_bytes_ + pointer);
      std::uint64_t below = 0;
      if (__builtin_mul_overflow(most + 1, total, &below) || __builtin_add_overflow(below, most, &total))
        total = ~std::uint64_t{0};
      total_bytes_.push_back(bytes_for(total));
    }
  }

  void read_node(std::uint64_t address, unsigned level, std::uint64_t records) {
    if (!seen_.insert(address).second) damaged(fmt::format("the tree's node at address {} appears twice", address));
    const std::uint64_t pointer = widths_.address + count_bytes_ + (level > 1 ? total_bytes_[level - 1] : 0);
    std::uint64_t bytes = 4 + 1 + 1 + product(records, record_bytes_, "a tree's node") + 4;
    if (level > 0) bytes += (records + 1) * pointer;
    if (bytes > node_bytes_) damaged(fmt::format("a tree's node of {} records in {} bytes", records, node_bytes_));
    const Bytes node = image_.read(address, bytes);
    require_checksum(node, "a tree's node");
    Cursor cursor(node, widths_);
    if (!cursor.take_if(level > 0 ? "BTIN" : "BTLF") || cursor.byte() != 0 || cursor.byte() != type_)
      damaged(fmt::format("there is no tree's node at address {}", address));
    const ByteSpan all = cursor.take_bytes(records * record_bytes_);
    for (std::uint64_t i = 0; i <= records; ++i) {
      if (level > 0) {
        const std::uint64_t child = cursor.address(), count = cursor.number(count_bytes_);
        if (level > 1) (void)cursor.number(total_bytes_[level - 1]);
        read_node(child, level - 1, count);
      }
      if (i == records) break;
      ++visited_;
      image_.charge(64);
      visit_(all.subspan(i * record_bytes_, record_bytes_));
    }
  }

  const Image& image_;
  Widths widths_;
  unsigned type_;
  const std::function<void(ByteSpan)>& visit_;
  std::uint64_t node_bytes_ = 0, record_bytes_ = 0, visited_ = 0;
  unsigned count_bytes_ = 0;
  std::vector<unsigned> total_bytes_;
  std::unordered_set<std::uint64_t> seen_;
};

}  // namespace

void for_each_record(const Image& image, Widths widths, std::uint64_t header_address, unsigned type,
                     const std::function<void(ByteSpan record)>& visit) {
  Btree2Reader(image, widths, type, visit).read(header_address);
}

}  // namespace sonde::hdf5

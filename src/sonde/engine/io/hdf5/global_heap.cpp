// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/hdf5/global_heap.h"

namespace sonde::hdf5 {

const GlobalHeap::Collection& GlobalHeap::collection(std::uint64_t address) {
  if (const auto found = collections_.find(address); found != collections_.end()) return found->second;
  const std::size_t head_bytes = 8 + 8;  // lengths of less than 8 bytes are padded
  const Bytes head = image_.read(address, head_bytes);
  Cursor start(head, widths_);
  if (!start.take_if("GCOL") || start.byte() != 1)
    damaged(fmt::format("there is no heap of texts at address {}", address));
  start.skip(3);
  const std::uint64_t bytes = start.length();
  if (bytes < head_bytes) damaged(fmt::format("a heap of texts of {} bytes", bytes));
  Collection& collection = collections_[address];
  collection.bytes = image_.read(address, bytes);
  Cursor cursor(collection.bytes, widths_);
  cursor.skip(head_bytes);
  while (cursor.left() >= head_bytes) {
    const auto number = cursor.take<std::uint16_t>();
    cursor.skip(2 + 4);  // references, reserved
    const std::uint64_t size = cursor.length();
    cursor.skip(8 - widths_.length);
    if (number == 0) break;  // free space, to the end
    collection.objects.emplace(number, cursor.take_bytes(size));
    cursor.skip(std::min<std::uint64_t>((8 - size % 8) % 8, cursor.left()));
    image_.charge(64);
  }
  return collection;
}

ByteSpan GlobalHeap::object(std::uint64_t address, std::uint32_t number) {
  const Collection& from = collection(address);
  const auto found = from.objects.find(number);
  if (found == from.objects.end())
    damaged(fmt::format("the heap of texts at address {} has no object {}", address, number));
  image_.charge(found->second.size());
  return found->second;
}

}  // namespace sonde::hdf5

// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/hdf5/dataspace.h"

#include <algorithm>

namespace sonde::hdf5 {

std::uint64_t Dataspace::count() const {
  if (null || std::find(extents.begin(), extents.end(), 0) != extents.end()) return 0;
  std::uint64_t count = 1;
  for (const std::uint64_t extent : extents) count = product(count, extent, "the declared shape");
  return count;
}

Shape Dataspace::shape() const {
  if (null) return {0};
  if (extents.size() > Shape::max_rank)
    unsupported(fmt::format("{} dimensions, at most {} are read", extents.size(), int{Shape::max_rank}),
                "store the array with fewer dimensions");
  Shape shape;
  for (const std::uint64_t extent : extents) {
    if (extent >> 62 != 0) damaged("the declared shape is larger than any file");
    shape.append(static_cast<Index>(extent));
  }
  return shape;
}

Dataspace read_dataspace(ByteSpan message, Widths widths) {
  Cursor cursor(message, widths);
  Dataspace space;
  const unsigned version = cursor.byte(), rank = cursor.byte(), flags = cursor.byte();
  if (version != 1 && version != 2) damaged(fmt::format("a dataspace of version {}", version));
  constexpr unsigned most_dimensions = 32, null_space = 2;
  if (rank > most_dimensions) damaged(fmt::format("a dataspace of {} dimensions", rank));
  if (version == 1)
    cursor.skip(5);
  else
    space.null = cursor.byte() == null_space;
  for (unsigned i = 0; i < rank; ++i) space.extents.push_back(cursor.length());
  space.largest = space.extents;
  if ((flags & 1u) != 0)
    for (std::uint64_t& largest : space.largest) {
      const std::uint64_t all_ones = Dataspace::unlimited >> (64 - 8 * widths.length);
      largest = cursor.length();
      if (largest == all_ones) largest = Dataspace::unlimited;
    }
  for (unsigned i = 0; i < rank; ++i)
    if (space.extents[i] > space.largest[i])
      damaged(fmt::format("dimension {} has {} elements of at most {}", i, space.extents[i], space.largest[i]));
  return space;
}

}  // namespace sonde::hdf5

// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/hdf5/boxes.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace sonde::hdf5 {
namespace {

using Position = std::array<Index, Shape::max_rank>;

/// The next position in C order over the first `dimensions` counts; false behind the last.
bool advance(Position& at, const Shape& count, int dimensions) {
  for (int i = dimensions - 1; i >= 0; --i) {
    if (++at[static_cast<std::size_t>(i)] < count[i]) return true;
    at[static_cast<std::size_t>(i)] = 0;
  }
  return false;
}

/// The number in C order of the element at `at` of a box, whose dimensions from `split` on are at their beginning.
std::uint64_t number_of(const Box& box, const Shape& whole, const Position& at, int split) {
  std::uint64_t number = 0;
  for (int i = 0; i < whole.rank(); ++i)
    number = number * static_cast<std::uint64_t>(whole[i]) +
             static_cast<std::uint64_t>(box.first[i] + (i < split ? at[static_cast<std::size_t>(i)] : 0));
  return number;
}

}  // namespace

bool intersect(const Box& a, const Box& b, Box& common) {
  common = {};
  for (int i = 0; i < a.first.rank(); ++i) {
    const Index first = std::max(a.first[i], b.first[i]);
    const Index last = std::min(a.first[i] + a.count[i], b.first[i] + b.count[i]);
    if (last <= first) return false;
    common.first.append(first);
    common.count.append(last - first);
  }
  return true;
}

Box relative(const Box& box, const Shape& origin) {
  Box moved{{}, box.count};
  for (int i = 0; i < origin.rank(); ++i) moved.first.append(box.first[i] - origin[i]);
  return moved;
}

bool is_run(const Box& box, const Shape& whole) {
  int i = 0;
  while (i < whole.rank() && box.count[i] == 1) ++i;
  for (++i; i < whole.rank(); ++i)
    if (box.count[i] != whole[i]) return false;
  return true;
}

std::uint64_t first_of(const Box& box, const Shape& whole) { return number_of(box, whole, {}, 0); }

void for_each_pair_of_rows(const Box& a, const Shape& whole_a, const Box& b, const Shape& whole_b,
                           const std::function<void(std::uint64_t, std::uint64_t, std::uint64_t)>& visit) {
  const int rank = a.count.rank();
  // Dimensions from here on follow each other in both.
  int split = rank;
  std::uint64_t row = 1;
  while (split > 0) {
    --split;
    row *= static_cast<std::uint64_t>(a.count[split]);
    if (a.count[split] != whole_a[split] || b.count[split] != whole_b[split]) break;
  }
  Position at{};
  do visit(number_of(a, whole_a, at, split), number_of(b, whole_b, at, split), row);
  while (advance(at, a.count, split));
}

void for_each_row(const Box& box, const Shape& whole,
                  const std::function<void(std::uint64_t, std::uint64_t, std::uint64_t)>& visit) {
  Box itself{{}, box.count};
  for (int i = 0; i < box.count.rank(); ++i) itself.first.append(0);
  for_each_pair_of_rows(itself, box.count, box, whole, visit);
}

void fill_with(std::span<const std::byte> element, std::span<std::byte> to) {
  if (std::all_of(element.begin(), element.end(), [](std::byte b) { return b == std::byte{0}; })) {
    std::fill(to.begin(), to.end(), std::byte{0});
    return;
  }
  for (std::size_t i = 0; i + element.size() <= to.size(); i += element.size())
    std::memcpy(to.data() + i, element.data(), element.size());
}

}  // namespace sonde::hdf5

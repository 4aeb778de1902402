// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "sonde/engine/array/shape.h"

namespace sonde::hdf5 {

/// A box of elements.
struct Box {
  Shape first, count;
};

/// What two boxes have in common; false when that is nothing.
[[nodiscard]] bool intersect(const Box& a, const Box& b, Box& common);
/// The same box seen from another origin.
[[nodiscard]] Box relative(const Box& box, const Shape& origin);
/// Whether the elements of a box follow each other in a whole of this shape.
[[nodiscard]] bool is_run(const Box& box, const Shape& whole);
/// The number in C order of a box's first element.
[[nodiscard]] std::uint64_t first_of(const Box& box, const Shape& whole);
/// Calls visit(element in a, element in b, count) for every row that two boxes of equal counts have in wholes of these
/// shapes.
void for_each_pair_of_rows(const Box& a, const Shape& whole_a, const Box& b, const Shape& whole_b,
                           const std::function<void(std::uint64_t, std::uint64_t, std::uint64_t)>& visit);

/// Calls visit(element in the box, element in the whole, count) for every row of a box inside a whole of this shape;
/// rows are as long as the two allow.
void for_each_row(const Box& box, const Shape& whole,
                  const std::function<void(std::uint64_t in_box, std::uint64_t in_whole, std::uint64_t count)>& visit);

/// Repeats one element over some bytes.
void fill_with(std::span<const std::byte> element, std::span<std::byte> to);

}  // namespace sonde::hdf5

// SPDX-License-Identifier: Apache-2.0
// Private, for the files compiled with wide instruction sets. A function that the linker may share between files must
// not come from such a file, or an older processor would meet its instructions: so no functions of the standard library
// here but C's own, and `Step` is a closure, which keeps each instantiation local to its file.
#pragma once

#include <cstddef>
#include <cstring>

namespace sonde {

/// Calls step(planes, stride, out) for every `strip` groups, each of which fills strip * group_bytes bytes, and once
/// more on padded copies when fewer are left.
template <std::size_t strip, std::size_t plane_count, std::size_t group_bytes, class Step>
inline void for_strips(const std::byte* planes, std::size_t stride, std::size_t groups, std::byte* out, Step step) {
  std::size_t done = 0;
  for (; done + strip <= groups; done += strip) step(planes + done, stride, out + done * group_bytes);
  if (done == groups) return;
  alignas(64) std::byte padded[plane_count * strip] = {};
  alignas(64) std::byte result[group_bytes * strip];
  for (std::size_t p = 0; p < plane_count; ++p)
    std::memcpy(padded + p * strip, planes + p * stride + done, groups - done);
  step(padded, strip, result);
  std::memcpy(out + done * group_bytes, result, (groups - done) * group_bytes);
}

}  // namespace sonde

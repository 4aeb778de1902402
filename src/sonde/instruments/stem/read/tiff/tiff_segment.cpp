// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/tiff/tiff_segment.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "sonde/engine/io/byte_order.h"
#include "sonde/engine/io/inflate.h"

namespace sonde::stem {
namespace {

/// Undoes predictor 2: sums along each row, wrapping as the differences did.
template <class T>
void sum_rows(std::span<std::byte> elements, Index row_elements) {
  const std::size_t row_bytes = static_cast<std::size_t>(row_elements) * sizeof(T);
  for (std::size_t row = 0; row + row_bytes <= elements.size(); row += row_bytes) {
    T sum = 0;
    for (std::size_t i = 0; i < row_bytes; i += sizeof(T)) {
      T difference;
      std::memcpy(&difference, &elements[row + i], sizeof(T));
      sum = static_cast<T>(sum + difference);
      std::memcpy(&elements[row + i], &sum, sizeof(T));
    }
  }
}

/// Undoes predictor 3 in rows of `row_elements` values of `size` bytes: sums of bytes, then one plane of bytes after
/// the other, the most significant first whatever the byte order of the file is.
void join_float_bytes(std::span<std::byte> elements, Index row_elements, std::size_t size) {
  const auto count = static_cast<std::size_t>(row_elements);
  std::vector<std::byte> planes(count * size);
  for (std::size_t row = 0; row + planes.size() <= elements.size(); row += planes.size()) {
    std::uint8_t sum = 0;
    for (std::size_t i = 0; i < planes.size(); ++i) {
      sum = static_cast<std::uint8_t>(sum + std::to_integer<std::uint8_t>(elements[row + i]));
      planes[i] = static_cast<std::byte>(sum);
    }
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t byte = 0; byte < size; ++byte)  // the host is little endian
        elements[row + i * size + byte] = planes[(size - 1 - byte) * count + i];
  }
}

}  // namespace

std::size_t unpack_packbits(std::span<const std::byte> stored, std::span<std::byte> to) {
  std::size_t written = 0;
  for (std::size_t at = 0; at < stored.size() && written < to.size();) {
    const auto control = static_cast<std::int8_t>(stored[at++]);
    if (control == -128) continue;
    if (control >= 0) {
      const std::size_t count =
          std::min({static_cast<std::size_t>(control) + 1, stored.size() - at, to.size() - written});
      std::copy_n(&stored[at], count, &to[written]);
      at += static_cast<std::size_t>(control) + 1;
      written += count;
    } else {
      if (at >= stored.size()) break;
      const std::size_t count = std::min(static_cast<std::size_t>(1 - control), to.size() - written);
      std::fill_n(&to[written], count, stored[at++]);
      written += count;
    }
  }
  return written;
}

std::size_t unpack_lzw(std::span<const std::byte> stored, std::span<std::byte> to) {
  constexpr unsigned clear = 256, end = 257, first_free = 258, most_codes = 4096;
  // An entry of the table is a run of bytes that was written before: where it begins, and how long it is.
  struct Run {
    std::size_t at = 0, size = 0;
  };
  std::array<Run, most_codes> table;
  std::size_t written = 0, bit = 0;
  unsigned next = first_free, width = 9;
  Run previous;
  while (bit + width <= 8 * stored.size() && written < to.size()) {
    unsigned code = 0;
    for (unsigned i = 0; i < 3; ++i) {
      const std::size_t byte = bit / 8 + i;
      code = (code << 8) | (byte < stored.size() ? std::to_integer<unsigned>(stored[byte]) : 0);
    }
    code = (code >> (24 - bit % 8 - width)) & ((1u << width) - 1);
    bit += width;
    if (code == end) break;
    if (code == clear) {
      next = first_free;
      width = 9;
      previous = {};
      continue;
    }
    const Run here = {written, 0};
    std::size_t size = 1;
    if (code < clear) {
      to[written++] = static_cast<std::byte>(code);
    } else {
      // A code beyond the table is the previous run and its first byte again: it is about to be defined.
      const bool about_to_be = code == next && previous.size > 0;
      if (code >= next && !about_to_be) break;
      const Run run = about_to_be ? Run{previous.at, previous.size + 1} : table[code];
      size = run.size;
      // Byte by byte: the run may reach into what is being written.
      for (std::size_t i = 0; i < run.size && written < to.size(); ++i, ++written) to[written] = to[run.at + i];
    }
    if (previous.size > 0 && next < most_codes) table[next++] = {previous.at, previous.size + 1};
    previous = {here.at, size};
    // The width grows one code early.
    if (next + 1 >= (1u << width) && width < 12) ++width;
  }
  return written;
}

bool decode_tiff_segment(const TiffFrame& frame, Index row_elements, std::span<const std::byte> stored,
                         std::span<std::byte> to) {
  switch (frame.compression) {
    case TiffCompression::none:
      if (stored.size() < to.size()) return false;
      std::memcpy(to.data(), stored.data(), to.size());
      break;
    case TiffCompression::lzw:
      if (unpack_lzw(stored, to) != to.size()) return false;
      break;
    case TiffCompression::packbits:
      if (unpack_packbits(stored, to) != to.size()) return false;
      break;
    case TiffCompression::deflate:
      if (!inflate_exactly(stored, to, DeflateFraming::zlib_or_gzip)) return false;
      break;
  }
  if (frame.prediction == TiffPrediction::bytes_of_floats) {
    join_float_bytes(to, row_elements, size_bytes(frame.dtype));
    return true;
  }
  if (frame.big_endian) swap_bytes(to, size_bytes(frame.dtype));
  if (frame.prediction == TiffPrediction::none) return true;
  switch (size_bytes(frame.dtype)) {
    case 1:
      sum_rows<std::uint8_t>(to, row_elements);
      break;
    case 2:
      sum_rows<std::uint16_t>(to, row_elements);
      break;
    case 4:
      sum_rows<std::uint32_t>(to, row_elements);
      break;
    default:
      sum_rows<std::uint64_t>(to, row_elements);
  }
  return true;
}

}  // namespace sonde::stem

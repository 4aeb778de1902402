// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/io/hdf5/fault.h"

namespace sonde::hdf5 {

using Bytes = std::vector<std::byte>;
using ByteSpan = std::span<const std::byte>;

/// An address that stands for "nowhere"; narrower ones are widened to it.
inline constexpr std::uint64_t undefined_address = ~std::uint64_t{0};

/// How many bytes addresses and lengths take in a file.
struct Widths {
  unsigned address = 8, length = 8;
};

/// Takes little-endian integers and texts off the front of some bytes; a Fault when they end early.
class Cursor {
 public:
  explicit Cursor(ByteSpan bytes, Widths widths = {}) : bytes_(bytes), widths_(widths) {}

  template <class T>
  T take() {
    return static_cast<T>(number(sizeof(T)));
  }
  std::uint8_t byte() { return take<std::uint8_t>(); }
  /// An unsigned integer of 0 to 8 bytes.
  std::uint64_t number(unsigned bytes) {
    if (bytes > 8) damaged("an integer of more than 8 bytes");
    const ByteSpan from = take_bytes(bytes);
    std::uint64_t value = 0;
    for (unsigned i = 0; i < bytes; ++i) value |= static_cast<std::uint64_t>(from[i]) << (8 * i);
    return value;
  }
  std::uint64_t address() {
    const std::uint64_t value = number(widths_.address);
    const bool nowhere = widths_.address < 8 && value == (std::uint64_t{1} << (8 * widths_.address)) - 1;
    return nowhere ? undefined_address : value;
  }
  std::uint64_t length() { return number(widths_.length); }

  ByteSpan take_bytes(std::uint64_t count) {
    if (bytes_.size() < count) damaged("a structure ends early");
    const ByteSpan part = bytes_.first(static_cast<std::size_t>(count));
    bytes_ = bytes_.subspan(static_cast<std::size_t>(count));
    taken_ += part.size();
    return part;
  }
  void skip(std::uint64_t count) { (void)take_bytes(count); }
  /// Up to the next multiple of `step` from where this cursor began.
  void align(std::size_t step) {
    if (taken_ % step != 0) skip(step - taken_ % step);
  }
  bool take_if(std::string_view signature) {
    if (bytes_.size() < signature.size() || std::memcmp(bytes_.data(), signature.data(), signature.size()) != 0)
      return false;
    skip(signature.size());
    return true;
  }
  /// The characters before the next zero byte, which is taken too.
  std::string text() {
    const void* zero = bytes_.empty() ? nullptr : std::memchr(bytes_.data(), 0, bytes_.size());
    if (zero == nullptr) damaged("a text without an end");
    const auto length = static_cast<std::size_t>(static_cast<const std::byte*>(zero) - bytes_.data());
    std::string text(reinterpret_cast<const char*>(bytes_.data()), length);
    skip(length + 1);
    return text;
  }
  [[nodiscard]] std::size_t left() const { return bytes_.size(); }
  [[nodiscard]] std::size_t taken() const { return taken_; }
  [[nodiscard]] ByteSpan rest() const { return bytes_; }

 private:
  ByteSpan bytes_;
  Widths widths_;
  std::size_t taken_ = 0;
};

/// Bytes that hold the integers 0 ... largest, as several structures of the format count them.
[[nodiscard]] constexpr unsigned bytes_for(std::uint64_t largest) {
  unsigned bytes = 1;
  while (bytes < 8 && largest >> (8 * bytes) != 0) ++bytes;
  return bytes;
}

/// floor(log2(value)); 0 for 0.
[[nodiscard]] constexpr unsigned log2_floor(std::uint64_t value) {
  unsigned bits = 0;
  while ((value >>= 1) != 0) ++bits;
  return bits;
}

/// a * b, or a Fault that names `what` when that does not fit into 62 bits.
[[nodiscard]] inline std::uint64_t product(std::uint64_t a, std::uint64_t b, std::string_view what) {
  std::uint64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result) || result > (std::uint64_t{1} << 62))
    damaged(fmt::format("{} is larger than any file", what));
  return result;
}

}  // namespace sonde::hdf5

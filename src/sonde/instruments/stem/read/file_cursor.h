// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/byte_order.h"
#include "sonde/engine/io/file.h"

namespace sonde::stem {

/// Error(bad_file) "FILE: damaged: FACT".
[[nodiscard]] Error damaged(const std::string& path, std::string_view fact);

/// Reads the headers of a file piece by piece, forwards or at places that the file names, through a small window. Every
/// read is checked against the end of the file before it is made: a count that a file declares never decides how much
/// is allocated. Not thread-safe.
class FileCursor {
 public:
  explicit FileCursor(const File& file, std::uint64_t position = 0) : file_(file), position_(position) {}

  [[nodiscard]] std::uint64_t position() const { return position_; }
  [[nodiscard]] std::uint64_t left() const { return file_.size() < position_ ? 0 : file_.size() - position_; }
  void seek(std::uint64_t position) { position_ = position; }
  /// Throws damaged() when fewer bytes are left; `what` names what is skipped.
  void skip(std::uint64_t bytes, std::string_view what);
  void require(std::uint64_t bytes, std::string_view what) const;

  template <std::unsigned_integral T>
  [[nodiscard]] T big(std::string_view what) {
    return load_big<T>(take(sizeof(T), what));
  }
  template <std::unsigned_integral T>
  [[nodiscard]] T little(std::string_view what) {
    return load_little<T>(take(sizeof(T), what));
  }
  /// In the byte order of the file at hand.
  template <std::unsigned_integral T>
  [[nodiscard]] T integer(bool big_endian, std::string_view what) {
    return big_endian ? big<T>(what) : little<T>(what);
  }
  /// At most 64 KiB at once.
  [[nodiscard]] std::string text(std::size_t bytes, std::string_view what);

 private:
  static constexpr std::size_t window_bytes = std::size_t{64} << 10;
  /// The next bytes (at most a window of them), valid until the next call; moves on.
  const std::byte* take(std::size_t bytes, std::string_view what);

  const File& file_;
  std::uint64_t position_;
  std::uint64_t window_at_ = 0;
  std::vector<std::byte> window_;
};

}  // namespace sonde::stem

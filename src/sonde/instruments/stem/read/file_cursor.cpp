// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/file_cursor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace sonde::stem {

Error damaged(const std::string& path, std::string_view fact) {
  return Error(ErrorKind::bad_file, fmt::format("{}: damaged: {}", path, fact)).hint("the copy may be incomplete");
}

void FileCursor::require(std::uint64_t bytes, std::string_view what) const {
  if (bytes > left())
    throw damaged(file_.path(),
                  fmt::format("{} needs {} bytes from offset {} on, the file has {}", what, bytes, position_, left()));
}

void FileCursor::skip(std::uint64_t bytes, std::string_view what) {
  require(bytes, what);
  position_ += bytes;
}

const std::byte* FileCursor::take(std::size_t bytes, std::string_view what) {
  assert(bytes <= window_bytes);
  require(bytes, what);
  if (position_ < window_at_ || position_ + bytes > window_at_ + window_.size()) {
    // Headers are small and often far apart: a small window after a jump, a large one while reading on.
    constexpr std::size_t first_bytes = 4096;
    const bool reading_on = position_ >= window_at_ && position_ <= window_at_ + window_.size() && !window_.empty();
    const std::size_t size = std::max(bytes, reading_on ? window_bytes : first_bytes);
    window_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(size, left())));
    window_at_ = position_;
    file_.read_at(position_, window_);
  }
  const std::byte* at = window_.data() + (position_ - window_at_);
  position_ += bytes;
  return at;
}

std::string FileCursor::text(std::size_t bytes, std::string_view what) {
  if (bytes > window_bytes) throw damaged(file_.path(), fmt::format("{} is {} bytes long", what, bytes));
  if (bytes == 0) return {};
  const std::byte* at = take(bytes, what);
  return {reinterpret_cast<const char*>(at), bytes};
}

}  // namespace sonde::stem

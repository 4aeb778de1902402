// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace sonde::serve {

/// A file that is part of the program.
struct Asset {
  std::string_view path;  ///< "/assets/index-DkX2b9aQ.js", exactly as a request names it
  std::string_view media_type;
  std::string_view tag;  ///< hash of the content, in the quotes of an ETag
  bool lasting = false;  ///< the name changes with the content, so it may be cached for ever
  std::span<const std::byte> bytes;
};

/// The viewer, or a page that says in words that it was not built. cmake/embed.cmake makes this table.
[[nodiscard]] std::span<const Asset> viewer_assets();

/// Why this program has no viewer, for a message; empty when it has one.
[[nodiscard]] std::string_view why_no_viewer();

}  // namespace sonde::serve

// SPDX-License-Identifier: Apache-2.0
// What a file says of its size is checked before anything is allocated by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sonde/engine/base/index.h"

namespace sonde {

/// A data set as its file declares it.
struct DeclaredSize {
  Index items = 0;
  std::size_t item_bytes = 0;
  Index chunks = 0;              ///< 0: not chunked
  std::uint64_t file_bytes = 0;  ///< of all files that hold its elements
  bool packed = true;            ///< by filters
  std::string_view name = "elements";
};

/// Throws Error(bad_file) when files of this size cannot hold a fair part of what they declare: then nearly everything
/// was never written, and going through it would take minutes and gigabytes for nothing. Up to a million items and
/// chunks are always believed. `what` names file and data set.
void require_believable(const std::string& what, const DeclaredSize& declared);

/// Throws Error(budget) when a list of `count` entries of `entry_bytes` does not fit into `memory_bytes`; "chunks" and
/// the like are its `name`.
void require_list_fits(const std::string& what, std::string_view name, Index count, std::size_t entry_bytes,
                       std::size_t memory_bytes);

}  // namespace sonde

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/engine/io/hdf5.h"
#include "sonde/engine/io/hdf5/object_header.h"

namespace sonde::hdf5 {

class OpenFile;

struct StoredLink {
  Hdf5Link link;
  std::uint64_t address = undefined_address;  ///< hard: the object's header
};

/// The links of one group in natural order, each name once.
using Links = std::vector<StoredLink>;

/// From a symbol table (old groups), from messages, or from a heap (groups of many links). A Fault for no group.
[[nodiscard]] Links read_links(const OpenFile& file, const ObjectHeader& group);

/// The link of this name; nullptr when there is none.
[[nodiscard]] const StoredLink* find_link(const Links& links, std::string_view name);

/// The links of a group of the old kind, in the order of its tree (sections III.A.1, III.B, III.D).
[[nodiscard]] Links read_symbol_table(const Image& image, Widths widths, ByteSpan message);

}  // namespace sonde::hdf5

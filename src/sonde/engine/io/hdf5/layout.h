// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/io/hdf5.h"
#include "sonde/engine/io/hdf5/attributes.h"

namespace sonde::hdf5 {

/// Where the elements of a data set are (sections IV.A.2.i).
struct Layout {
  enum class Kind { compact, contiguous, chunked, virtual_parts };
  enum class Index { tree_1, single, implicit, fixed_array, extensible_array, tree_2 };

  Kind kind = Kind::contiguous;
  Bytes compact;                              ///< the elements themselves
  std::uint64_t address = undefined_address;  ///< contiguous: of the elements; chunked: of the index
  std::uint64_t bytes = 0;                    ///< contiguous
  std::vector<std::uint64_t> chunk;
  Index index = Index::tree_1;
  bool whole_edges = true;         ///< false: chunks that reach beyond the shape did not go through the filters
  bool single_filtered = false;    ///< single: the chunk went through filters
  std::uint64_t single_bytes = 0;  ///< single, filtered: what it takes
  std::uint32_t single_mask = 0;
  std::uint64_t heap = undefined_address;  ///< virtual: the global heap's collection that lists the parts
  std::uint32_t heap_object = 0;
};

/// A data set as its header describes it.
struct Description {
  Dataspace space;
  Datatype type;
  Layout layout;
  std::vector<Hdf5Filter> filters;
  Bytes fill;  ///< one stored element; empty: zero
};

/// Reads and checks a data set's messages against each other: types and chunks against shapes, sizes against the file.
/// A Fault(not_supported) for elements in other files.
[[nodiscard]] Description read_description(const OpenFile& file, const ObjectHeader& header);

}  // namespace sonde::hdf5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "sonde/engine/io/hdf5/image.h"

namespace sonde::hdf5 {

/// Visits every record of a tree of version 2 in order (section III.A.2). A Fault when the tree is not of this type,
/// when a checksum is wrong, a node appears twice, or the number of records is not the one that the header declares.
void for_each_record(const Image& image, Widths widths, std::uint64_t header_address, unsigned type,
                     const std::function<void(ByteSpan record)>& visit);

}  // namespace sonde::hdf5

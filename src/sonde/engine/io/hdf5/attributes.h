// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "sonde/engine/io/hdf5/dataspace.h"
#include "sonde/engine/io/hdf5/datatype.h"
#include "sonde/engine/io/hdf5/open_file.h"

namespace sonde::hdf5 {

/// An attribute as it is stored; `bytes` may be shorter than its type and space promise, which its reader checks.
struct StoredAttribute {
  std::string name;
  Datatype type;
  Dataspace space;
  Bytes bytes;
};

/// Visits the attributes of an object, those in its header and those in a heap, until `visit` returns false.
void for_each_attribute(const OpenFile& file, const ObjectHeader& object,
                        const std::function<bool(StoredAttribute attribute)>& visit);

}  // namespace sonde::hdf5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/engine/io/netcdf_writer.h"

namespace sonde::neoclassical {

/// Empty, but for the attribute by which a file says that a verb wrote it.
[[nodiscard]] inline NetcdfContents result_contents() {
  NetcdfContents contents;
  contents.attribute("schema", std::string("sonde.neoclassical.result/1"));
  return contents;
}

}  // namespace sonde::neoclassical

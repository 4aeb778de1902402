// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/engine/io/contents.h"

namespace sonde::neoclassical {

/// Empty, but for the attribute by which a file says that a verb wrote it.
[[nodiscard]] inline Contents result_contents() {
  Contents contents;
  contents.attribute("schema", std::string("sonde.neoclassical.result/1"));
  return contents;
}

}  // namespace sonde::neoclassical

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace sonde {

/// What this binary is, fixed when it was built. Every report and every result carries it.
struct BuildInfo {
  std::string_view version;   ///< semantic version, "0.1.0"
  std::string_view revision;  ///< git revision, with "-modified" when the tree was not clean; "unknown" outside git
  std::string_view compiler;  ///< "GNU 12.2.0"
  std::string_view build_type;
  std::string_view cuda;     ///< toolkit version, empty when built without CUDA
  std::string_view licence;  ///< SPDX expression of the binary as linked
};

[[nodiscard]] const BuildInfo& build_info();

}  // namespace sonde

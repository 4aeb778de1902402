// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sonde/engine/options/compute_options.h"
#include "sonde/engine/options/fields.h"

namespace sonde {

/// The settings of every verb.
struct CommonOptions {
  ComputeOptions compute;
  Index threads = 0;
  std::optional<std::string> report;
  std::optional<std::string> config;
  bool json = false;
  bool dry_run = false;
  bool quiet = false;
  void describe(Fields& fields);
};

}  // namespace sonde

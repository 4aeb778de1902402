// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sonde/engine/options/compute_options.h"
#include "sonde/engine/options/fields.h"

namespace sonde {

/// The settings of every verb, and `live` of those that can be watched.
struct CommonOptions {
  ComputeOptions compute;
  Index threads = 0;
  std::optional<std::string> report;
  std::optional<std::string> config;
  bool json = false;
  bool dry_run = false;
  bool quiet = false;
  std::optional<Index> live;
  void describe(Fields& fields, bool watched = false);
};

}  // namespace sonde

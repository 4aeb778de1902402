// SPDX-License-Identifier: Apache-2.0
// Private to the room: what verbs read traces from.
#pragma once

#include <optional>
#include <string>

#include "sonde/engine/options/fields.h"
#include "sonde/engine/run/run.h"
#include "sonde/instruments/maxwell/field/line_files.h"

namespace sonde::maxwell {

/// Which traces of a file.
struct LineSource {
  std::string component;
  std::optional<Index> receiver, shot;
  Index channel = 1;
  bool allow_truncated = false;

  void describe(Fields& fields);
  [[nodiscard]] LineChoice choice() const;
  /// Throws Error(usage) for a setting that the file has no use for.
  void require_meant_for(LineFile kind, const std::string& path, const Run& run) const;
  /// The traces, with their warnings said.
  [[nodiscard]] FieldLine read(const std::string& path) const;
};

/// Room for a file of traces as numbers of 32 bits, and what is made of them.
[[nodiscard]] Reservation reserve_traces(const std::string& path, Run& run);

}  // namespace sonde::maxwell

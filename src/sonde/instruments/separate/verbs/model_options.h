// SPDX-License-Identifier: Apache-2.0
// Which trained network a verb works with.
#pragma once

#include <string>

#include "sonde/engine/options/fields.h"
#include "sonde/engine/run/run.h"
#include "sonde/instruments/separate/weights/model.h"

namespace sonde::separate {

/// The settings checkpoint, model and state_key; of a second network then, then_model and then_state_key.
struct ModelOptions {
  ModelFiles files;
  void describe(Fields& fields);
  void describe_second(Fields& fields);
  /// Throws Error(usage) without a checkpoint, and what open_model() throws. The configuration is a choice of the
  /// report; warnings and missing checksums are said.
  [[nodiscard]] Model open(Run& run, const std::string& whose = "") const;
};

/// For verbs that read only the file: adds `state_key`.
void describe_state_key(std::string& state_key, Fields& fields);
/// Warnings of a checkpoint, and what of it was not verified.
void say_doubts(const Checkpoint& checkpoint, Run& run);

}  // namespace sonde::separate

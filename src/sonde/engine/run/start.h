// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/run/common_options.h"
#include "sonde/engine/run/run.h"
#include "sonde/engine/run/verb.h"

namespace sonde {

/// A verb with every setting at its default. Values are given through `fields`; then it is started, once.
struct Prepared {
  explicit Prepared(const Verb& prepared);

  const Verb* verb;
  std::unique_ptr<Invocation> invocation;
  std::unique_ptr<CommonOptions> common;
  Fields fields;  ///< of both, bound to them
};

/// Reads the file of settings that the caller named: as `config`, which is set already, unless the verb reads that
/// itself, or as `argument`, what was given for the input `settings` of a verb that has one. To be called before the
/// other settings are given, because they count more. `verbs` are the names of all, whose tables the file may have too.
/// Throws Error(usage) when both name a file, and what read_toml() throws.
void read_settings(Prepared& prepared, const std::optional<std::string>& argument,
                   const std::vector<std::string>& verbs);
/// The key of such an input.
inline constexpr std::string_view settings_key = "settings";
/// Names of the verbs that only the program has (app/cli): for doors that lack them, since a file of settings may have
/// tables for them too.
inline constexpr std::array<std::string_view, 8> verbs_of_the_program = {
    "view", "demo", "devices", "machine", "bench", "report show", "report compare", "help"};

/// Who starts a verb.
struct Door {
  Surroundings surroundings{};
  /// Whether the process is its own: `threads` of 0 then means every core, otherwise it leaves them as they are, and
  /// processes that were started together are refused by a verb that they cannot share.
  bool owns_process = true;
  /// Takes what a dry run planned.
  std::function<void(const Report& report)> take_plan{};
  /// Takes the results: once at the end, also of a run that failed when its findings are the result.
  std::function<void(const Report& report)> take_results{};
};

/// Runs a verb from its settings to its report: the one way in, for every door. Warnings and notes of the way go to the
/// report too. Throws what the verb throws, after the report of the failure is written, Error(bad_input) where the
/// report would replace a file that it must not, and Error(not_supported) when several processes were started for work
/// that they cannot share.
void start(Prepared& prepared, const Door& door);

}  // namespace sonde

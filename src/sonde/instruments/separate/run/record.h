// SPDX-License-Identifier: Apache-2.0
// Private to the room: what says of files which run they are of, and what becomes of them after an error.
#pragma once

#include <string>

#include "sonde/engine/options/value.h"
#include "sonde/instruments/separate/run/separation.h"
#include "sonde/instruments/separate/run/spool.h"

namespace sonde::separate {

/// Where what is kept of a file is.
[[nodiscard]] std::string kept_path(const SeparationTask& task);
/// All that decides the samples of the stems of one file, a line for each thing.
[[nodiscard]] std::string origin_of(const SeparationTask& task, const SeparationSettings& settings,
                                    const Config& config);
/// The same with what decides the files.
[[nodiscard]] std::string identity_of(const SeparationTask& task, const SeparationSettings& settings,
                                      const std::string& origin);
/// Whether an earlier run has written all files of this task.
[[nodiscard]] bool is_complete(const SeparationTask& task, const std::string& identity);
/// Because of the present exception: removes what is kept of a file, unless somebody ended the work and a later run is
/// to continue it.
void abandon(Spool& kept);
/// What separation.json holds.
[[nodiscard]] Value summary_of(const SeparationTask& task, const SeparationResult& result, const std::string& identity,
                               const SeparationSettings& settings);

}  // namespace sonde::separate

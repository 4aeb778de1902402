// SPDX-License-Identifier: Apache-2.0
// What came out of a Timepix3 file, for people, reports, files and pictures.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/io/contents.h"
#include "sonde/engine/options/value.h"
#include "sonde/instruments/stem/timepix/timepix_events.h"

namespace sonde::stem {

/// Electrons that overlap another one by chance, so that both count as one: the share of those that had an unrelated
/// electron in one of the 3 x 3 pixels around their own within the cluster time before or after them, if all came
/// evenly over the time of the file. Less than the truth where they came unevenly.
[[nodiscard]] double overlap_by_chance(const TimepixEvents& events, double cluster_s);

/// What should not be trusted, and why; a wrong dwell or scan shape first.
[[nodiscard]] std::vector<std::string> warnings_of(const TimepixEvents& events, const TimepixOptions& options);

[[nodiscard]] std::vector<std::string> lines_of(const TimepixEvents& events, const TimepixOptions& options);
[[nodiscard]] Value value_of(const TimepixEvents& events, const TimepixOptions& options);

/// The container of events (count/event_file.h), and pattern u64 (row, column) and counts u64 (scan row, scan column).
/// The arrays keep the events.
[[nodiscard]] Contents contents_of(const std::shared_ptr<const TimepixEvents>& events, const TimepixOptions& options,
                                   const std::string& command);

/// The sum pattern, and the electrons of each position.
[[nodiscard]] Array picture_of(const TimepixEvents& events);

}  // namespace sonde::stem

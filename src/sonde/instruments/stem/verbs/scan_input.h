// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/run/run.h"
#include "sonde/instruments/stem/load/dataset.h"
#include "sonde/instruments/stem/load/series.h"

namespace sonde::stem {

/// The scans that the inputs of a verb name: files as find_scans() finds them, or one array of the caller. Throws
/// Error(usage) for an array beside others.
[[nodiscard]] std::vector<std::string> scans_of(const std::vector<std::string>& inputs, const SeriesOptions& series,
                                                const Run& run);

/// One of them, opened: a file as open_scan() opens it, or the array. Throws what these throw.
[[nodiscard]] std::unique_ptr<Source> open_input(const std::string& input, const LoadOptions& options, Run& run);

/// load() and preview_load() of an input.
[[nodiscard]] Dataset load_input(const std::string& input, const LoadOptions& options, Run& run,
                                 std::span<Operation* const> beside = {});
[[nodiscard]] LoadPreview preview_input(const std::string& input, const LoadOptions& options, Run& run);

}  // namespace sonde::stem

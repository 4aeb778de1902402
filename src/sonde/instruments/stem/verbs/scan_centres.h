// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>

#include "sonde/engine/run/run.h"
#include "sonde/instruments/stem/load/load_options.h"
#include "sonde/instruments/stem/phase/phase_options.h"
#include "sonde/instruments/stem/phase/phase_result.h"

namespace sonde::stem {

/// The deflections of a scan, or of a file of its centres of mass, and with them the phase unless the method is none;
/// lines and warnings are reported. The settings of a file hold where the caller gave no others. Nothing on a dry run,
/// whose needs are reported. Throws Error(usage) for settings of measuring beside a file that was measured,
/// Error(bad_input) for an output that is a part of the input, and what loading and make_phase() throw.
[[nodiscard]] std::optional<PhaseResult> phase_of_input(const std::string& input, const PhaseOptions& options,
                                                        const LoadOptions& load, std::span<const std::string> outputs,
                                                        Run& run);

/// The same of a scan, without asking first what it needs.
[[nodiscard]] PhaseResult phase_of_scan(const std::string& path, const PhaseOptions& options, const LoadOptions& load,
                                        Run& run);

}  // namespace sonde::stem

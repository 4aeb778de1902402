// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "sonde/app/cli/command.h"

namespace sonde::cli {

/// Simulates a small scan of overlapping patterns, reconstructs it, writes result, pictures and report into the folder,
/// and records as a check of the context's report how far the phase is from the truth.
void demonstrate_ptychography(const std::filesystem::path& folder, Context& context);

}  // namespace sonde::cli

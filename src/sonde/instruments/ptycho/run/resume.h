// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "sonde/engine/io/checkpoint.h"
#include "sonde/instruments/ptycho/run/run_file.h"

namespace sonde::ptycho {

/// Fills `run` with the settings of a checkpoint, changed by what a person wrote as "engine.0.iterations=400". What may
/// change is what counts from the next iteration on: engines that still work, constraints, stop rules, output, and
/// where things are kept. Throws Error(usage) with all settings that the checkpoint has fixed, and what
/// Tables::assign_text() throws.
void settings_of(const CheckpointReader& checkpoint, std::span<const std::string> changes, RunFile& run);

}  // namespace sonde::ptycho

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "sonde/instruments/ptycho/run/run_file.h"

namespace sonde::ptycho {

/// The page of all tables and keys of a run file, in Markdown, from the descriptions that read it.
[[nodiscard]] std::string run_file_reference();

/// A run file to begin with: every table and key with its meaning, those that nobody set commented out; the engines
/// there are, and every constraint that is not chosen, commented out whole. Settings named in `missing`
/// ("geometry.energy_keV") are marked to be filled in.
[[nodiscard]] std::string commented_run_file(const RunFile& known, const std::set<std::string>& missing = {});

}  // namespace sonde::ptycho

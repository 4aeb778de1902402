// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace sonde::ptycho {

/// The page of all tables and keys of a run file, in Markdown, from the descriptions that read it.
[[nodiscard]] std::string run_file_reference();

}  // namespace sonde::ptycho

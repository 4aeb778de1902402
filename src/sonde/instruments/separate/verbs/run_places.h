// SPDX-License-Identifier: Apache-2.0
// Private to the room: the folders and files that a run writes to.
#pragma once

#include <filesystem>
#include <vector>

#include "sonde/instruments/separate/run/separation.h"

namespace sonde::separate {

/// Folders that are made for a run, and removed when nothing came into them.
class MadeFolders {
 public:
  MadeFolders() = default;
  MadeFolders(const MadeFolders&) = delete;
  MadeFolders& operator=(const MadeFolders&) = delete;
  ~MadeFolders();
  void make(const std::filesystem::path& folder);

 private:
  std::vector<std::filesystem::path> made_;  // a folder before those in it
};

/// Makes the folders of all files of these tasks. Throws Error(bad_input) for places that may not be written to.
void make_places(const std::vector<SeparationTask>& tasks, bool midi, MadeFolders& folders);

/// Whether something is kept of the files of these tasks, from which a run with `resume` continues.
[[nodiscard]] bool can_resume(const std::vector<SeparationTask>& tasks);

}  // namespace sonde::separate

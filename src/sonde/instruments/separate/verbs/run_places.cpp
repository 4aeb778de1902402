// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/verbs/run_places.h"

#include <algorithm>
#include <string>
#include <system_error>

#include "sonde/engine/base/paths.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/instruments/separate/verbs/stem_midi.h"

namespace sonde::separate {

MadeFolders::~MadeFolders() {
  for (auto each = made_.rbegin(); each != made_.rend(); ++each) {
    std::error_code is_not_empty;
    std::filesystem::remove(*each, is_not_empty);
  }
}

void MadeFolders::make(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> missing;
  for (std::filesystem::path each = absolute_path(folder); !path_exists(each) && each.has_relative_path();
       each = each.parent_path()) {
    missing.push_back(each);
  }
  make_folders(folder);
  made_.insert(made_.end(), missing.rbegin(), missing.rend());
}

void make_places(const std::vector<SeparationTask>& tasks, bool midi, MadeFolders& folders) {
  for (const SeparationTask& task : tasks) {
    for (const std::string& path : task.paths) {
      folders.make(std::filesystem::path(path).parent_path());
      require_place(path, {.what = "the stem"});
    }
    if (midi) {
      const std::string path = midi_beside(task.outputs, task.paths).path;
      folders.make(std::filesystem::path(path).parent_path());
      require_place(path);
    }
    folders.make(std::filesystem::path(task.record).parent_path());
    require_place(task.record + ".json", side_output("the summary", FileMark::json));
    require_place(task.record + ".part", side_output("what is kept of a file", FileMark::text));
  }
}

bool can_resume(const std::vector<SeparationTask>& tasks) {
  return std::any_of(tasks.begin(), tasks.end(),
                     [](const SeparationTask& task) { return path_exists(task.record + ".part"); });
}

}  // namespace sonde::separate

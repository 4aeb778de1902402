// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/view/folder_watch.h"

#include <fmt/format.h>

#include <algorithm>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"

namespace sonde::stem {

namespace fs = std::filesystem;

FolderWatch::Changes FolderWatch::look(Entry& entry) {
  Changes changes;
  std::vector<std::string> known;
  for (Index item = 0; item < entry.size(); ++item) {
    known.push_back(entry.item_path(item));
    const std::vector<std::string> gone = entry.look_for_files(item);
    changes.items |= !gone.empty();
    changes.gone.insert(changes.gone.end(), gone.begin(), gone.end());
  }
  std::error_code failed;
  if (!fs::is_directory(entry.source(), failed)) return changes;
  std::vector<std::string> found;
  try {
    found = find_scans({entry.source()}, options_);
  } catch (const Error&) {  // empty now, or not to be read: the items say what is missing
    return changes;
  }
  for (const std::string& path : found) {
    if (std::find(known.begin(), known.end(), path) != known.end()) continue;
    const auto written = fs::last_write_time(path, failed);
    if (failed) continue;
    if (const auto before = refused_.find(path); before != refused_.end() && before->second == written) continue;
    try {
      entry.append(path);
      changes.items = true;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::bad_file || error.kind() == ErrorKind::io) continue;
      refused_[path] = written;
      log_warning(fmt::format("left out {}", in_words(error, path)));
    }
  }
  return changes;
}

}  // namespace sonde::stem

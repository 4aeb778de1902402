// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sonde/instruments/stem/load/series.h"
#include "sonde/instruments/stem/view/entry.h"

namespace sonde::stem {

/// What has changed in the folders of the entries, seen by looking every now and then: other than notifications of the
/// kernel that works on network file systems, where detectors write. One thread at a time.
class FolderWatch {
 public:
  explicit FolderWatch(SeriesOptions options) : options_(std::move(options)) {}

  struct Changes {
    bool items = false;               ///< the state of the entry has changed
    std::vector<std::string> gone{};  ///< files that were there at the last look
  };
  /// Appends scans that are complete now; one that is half written waits without a word, one of another shape, or
  /// too large, is left out with a line in the log until it is written anew. Marks items whose files have gone.
  [[nodiscard]] Changes look(Entry& entry);

 private:
  SeriesOptions options_;
  std::map<std::string, std::filesystem::file_time_type> refused_;
};

}  // namespace sonde::stem

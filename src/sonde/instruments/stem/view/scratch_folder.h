// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace sonde::stem {

/// A folder that only this user can read, removed with all that lies in it: for writers that write files when bytes are
/// wanted.
class ScratchFolder {
 public:
  /// Throws Error(io) when there is no place for temporary files.
  ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();

  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  /// Throws Error(io).
  [[nodiscard]] std::vector<std::byte> read(const std::string& name) const;

 private:
  std::filesystem::path path_;
};

}  // namespace sonde::stem

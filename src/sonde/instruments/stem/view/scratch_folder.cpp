// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/view/scratch_folder.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/file.h"

namespace sonde::stem {

ScratchFolder::ScratchFolder() {
  std::error_code failed;
  std::string pattern = (std::filesystem::temp_directory_path(failed) / "sonde-view-XXXXXX").string();
  if (failed || mkdtemp(pattern.data()) == nullptr)
    throw Error(ErrorKind::io, fmt::format("{}: no temporary folder can be made: {}", pattern,
                                           failed ? failed.message() : std::strerror(errno)))
        .hint("set TMPDIR to a folder that may be written");
  path_ = pattern;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::byte> ScratchFolder::read(const std::string& name) const {
  const File file(this->file(name));
  std::vector<std::byte> bytes(file.size());
  file.read_at(0, bytes);
  return bytes;
}

}  // namespace sonde::stem

// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/cache_file.h"

#include <cstdlib>
#include <filesystem>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/atomic_file.h"

namespace sonde {

std::string cache_path(const std::string& name) {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != '\0') return std::string(cache) + "/sonde/" + name;
  const char* home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? "" : std::string(home) + "/.cache/sonde/" + name;
}

void write_cache(const std::string& path, const std::string& text) {
  if (path.empty()) throw Error(ErrorKind::io, "no folder for the cache").hint("set XDG_CACHE_HOME or HOME");
  std::error_code ignored;  // the file says what is wrong
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace sonde

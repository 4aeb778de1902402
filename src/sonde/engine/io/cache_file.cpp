// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/cache_file.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/run_files.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/file.h"

namespace sonde {

std::string cache_path(const std::string& name) {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != '\0') return std::string(cache) + "/sonde/" + name;
  const char* home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? "" : std::string(home) + "/.cache/sonde/" + name;
}

std::optional<std::string> read_cache(const std::string& path) {
  if (path.empty()) return std::nullopt;
  const InRun apart(nullptr);
  try {
    return read_text(path);
  } catch (const Error& error) {  // a cache that cannot be read is no cache; one that is not there yet is no news
    if (error.kind() != ErrorKind::bad_file) log_note(fmt::format("a cache is not used: {}", error.message()));
  }
  return std::nullopt;
}

void write_cache(const std::string& path, const std::string& text) {
  if (path.empty()) throw Error(ErrorKind::io, "no folder for the cache").hint("set XDG_CACHE_HOME or HOME");
  make_folders(std::filesystem::path(path).parent_path());
  AtomicFile file(path, side_output("the cache", text.starts_with('{') ? FileMark::json : FileMark::text));
  file.write(text);
  file.commit();
}

}  // namespace sonde

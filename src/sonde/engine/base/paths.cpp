// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/base/paths.h"

#include <fmt/format.h>

#include <cstdlib>
#include <system_error>

#include "sonde/engine/base/error.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;

Error path_error(const fs::path& path, const char* activity, const std::error_code& reason) {
  if (reason == std::errc::no_such_file_or_directory || reason == std::errc::not_a_directory)
    return Error(ErrorKind::bad_file, fmt::format("{}: no such file or folder", path.string()));
  Error error(ErrorKind::io, fmt::format("{}: {} failed: {}", path.string(), activity, reason.message()));
  if (reason == std::errc::permission_denied || reason == std::errc::operation_not_permitted)
    error.hint("check the permissions of it and of the folders above it");
  return error;
}

template <class Iterator>
std::vector<fs::path> collect(const fs::path& folder) {
  std::error_code failed;
  Iterator each(folder, fs::directory_options::skip_permission_denied, failed);
  if (failed) throw path_error(folder, "listing it", failed);
  // A folder that may not be read is silently empty under this option; the folder itself must not be.
  if (each == Iterator()) {
    (void)fs::directory_iterator(folder, failed);
    if (failed) throw path_error(folder, "listing it", failed);
  }
  std::vector<fs::path> paths;
  for (; each != Iterator(); each.increment(failed)) {
    if (failed) throw path_error(folder, "listing it", failed);
    paths.push_back(each->path());
  }
  if (failed) throw path_error(folder, "listing it", failed);
  return paths;
}

}  // namespace

bool path_exists(const fs::path& path) noexcept {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool is_folder(const fs::path& path) noexcept {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool is_plain_file(const fs::path& path) noexcept {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

std::optional<std::uint64_t> file_bytes(const fs::path& path) noexcept {
  std::error_code failed;
  const std::uintmax_t bytes = fs::is_regular_file(path, failed) ? fs::file_size(path, failed) : 0;
  if (failed || !fs::is_regular_file(path, failed)) return std::nullopt;
  return bytes;
}

fs::path absolute_path(const fs::path& path) {
  std::error_code failed;
  const fs::path whole = fs::absolute(path, failed);
  return failed ? path : whole.lexically_normal();
}

fs::path canonical_path(const fs::path& path) {
  std::error_code failed;
  fs::path found = fs::canonical(path, failed);
  if (failed) throw path_error(path, "following its links", failed);
  return found;
}

fs::path temporary_folder() {
  const char* named = std::getenv("TMPDIR");
  return named != nullptr && *named != '\0' ? fs::path(named) : fs::path("/tmp");
}

void make_folders(const fs::path& path) {
  std::error_code failed;
  fs::create_directories(path, failed);
  if (is_folder(path)) return;
  if (!failed) failed = std::make_error_code(std::errc::not_a_directory);
  throw Error(ErrorKind::io, fmt::format("{}: no folder can be made: {}", path.string(), failed.message()))
      .hint("choose a folder that you may write to");
}

void remove_path(const fs::path& path) {
  std::error_code failed;
  fs::remove(path, failed);
  if (failed) throw Error(ErrorKind::io, fmt::format("{}: removing it failed: {}", path.string(), failed.message()));
}

std::vector<fs::path> entries_of(const fs::path& folder) { return collect<fs::directory_iterator>(folder); }

std::vector<fs::path> entries_below(const fs::path& folder) {
  return collect<fs::recursive_directory_iterator>(folder);
}

}  // namespace sonde

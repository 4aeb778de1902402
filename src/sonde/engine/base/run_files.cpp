// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/base/run_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "sonde/engine/base/error.h"

namespace sonde {
namespace {

thread_local RunFiles* current = nullptr;

/// Where a file lies or will lie: its folder's identity and its name there.
std::optional<std::pair<FileIdentity, std::string>> place_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  const std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  const std::optional<FileIdentity> there = file_identity(folder);
  if (!there) return std::nullopt;
  return std::pair{*there, slash == std::string::npos ? path : path.substr(slash + 1)};
}

}  // namespace

std::optional<FileIdentity> file_identity(const std::string& path) noexcept {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return FileIdentity{static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino)};
}

RunFiles::RunFiles(const RunFiles& earlier) : std::enable_shared_from_this<RunFiles>() {
  const std::lock_guard lock(earlier.mutex_);
  inputs_ = earlier.inputs_;
}

void RunFiles::refuse(const Declared& output, const Input& input) {
  if (input.continued && output.continues) return;
  const std::string which =
      input.path == output.path ? "a file that this run reads" : input.path + ", which this run reads";
  throw Error(ErrorKind::bad_input, fmt::format("{}: {} would replace {}; an output never replaces an input",
                                                output.path, output.what, which))
      .hint(fmt::format("give {} another name", output.what));
}

void RunFiles::add_input(const std::string& path, FileIdentity file) {
  const std::lock_guard lock(mutex_);
  if (made_.contains(file)) return;
  const Input& input = inputs_.try_emplace(file, Input{path}).first->second;
  if (const auto found = replaced_.find(file); found != replaced_.end()) refuse(found->second, input);
}

void RunFiles::add_input(const std::string& path) {
  if (const std::optional<FileIdentity> file = file_identity(path)) add_input(path, *file);
}

void RunFiles::add_continued(const std::string& path) {
  const std::optional<FileIdentity> file = file_identity(path);
  if (!file) return;
  const std::lock_guard lock(mutex_);
  const Input& input = inputs_.insert_or_assign(*file, Input{path, true}).first->second;
  if (const auto found = replaced_.find(*file); found != replaced_.end()) refuse(found->second, input);
}

void RunFiles::declare_output(const std::string& path, const std::string& what, bool continues) {
  const std::optional<FileIdentity> there = file_identity(path);
  const auto place = place_of(path);
  const Declared output{path, what, continues};
  const std::lock_guard lock(mutex_);
  if (there && !made_.contains(*there)) {
    if (const auto input = inputs_.find(*there); input != inputs_.end()) refuse(output, input->second);
    replaced_.insert_or_assign(*there, output);
  }
  if (!place) return;
  const auto [found, fresh] = outputs_.try_emplace(*place, output);
  if (!fresh && found->second.what != what)
    throw Error(ErrorKind::bad_input, fmt::format("{}: is {} and {} of one run; every output needs a name of its own",
                                                  path, found->second.what, what))
        .hint(fmt::format("give {} another name", what));
}

void RunFiles::add_made(FileIdentity file, std::optional<FileIdentity> before) {
  const std::lock_guard lock(mutex_);
  if (before) {  // the system may give its number to another file
    made_.erase(*before);
    inputs_.erase(*before);
    replaced_.erase(*before);
  }
  made_.insert(file);
  inputs_.erase(file);
  replaced_.erase(file);
}

RunFiles* run_files() noexcept { return current; }

InRun::InRun(RunFiles* files) noexcept : before_(std::exchange(current, files)) {}
InRun::~InRun() { current = before_; }

void note_input(const std::string& path) {
  if (RunFiles* files = run_files()) files->add_input(path);
}

void note_continued(const std::string& path) {
  if (RunFiles* files = run_files()) files->add_continued(path);
}

void note_made_up_names() {
  if (RunFiles* files = run_files()) files->make_up_names();
}

}  // namespace sonde

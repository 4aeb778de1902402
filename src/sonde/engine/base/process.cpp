// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/base/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

extern char** environ;

namespace sonde {
namespace {

enum class Messages { ours, collected };

std::optional<ProgramEnd> run(const std::vector<std::string>& command, const std::string& folder, Messages messages) {
  std::vector<char*> words;
  words.reserve(command.size() + 1);
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  int ends[2];
  if (command.empty() || pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  if (messages == Messages::collected) posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  if (!folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  pid_t child = 0;
  const int failed = posix_spawnp(&child, words.front(), &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string output;
  char buffer[4096];
  for (ssize_t got = 1; failed == 0 && got != 0;) {
    got = read(ends[0], buffer, sizeof buffer);
    if (got < 0 && errno != EINTR) break;
    if (got > 0) output.append(buffer, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  if (failed != 0) return std::nullopt;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return ProgramEnd{WIFEXITED(status) && WEXITSTATUS(status) == 0, std::move(output)};
}

}  // namespace

std::optional<std::string> program_output(const std::vector<std::string>& command, const std::string& folder) {
  std::optional<ProgramEnd> end = run(command, folder, Messages::ours);
  if (!end || !end->well) return std::nullopt;
  return std::move(end->text);
}

std::optional<ProgramEnd> program_end(const std::vector<std::string>& command, const std::string& folder) {
  return run(command, folder, Messages::collected);
}

}  // namespace sonde

// SPDX-License-Identifier: Apache-2.0
// Runs the built program as a child and keeps what it wrote and how it ended.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/support/files.h"
#include "tests/support/places.h"

namespace sonde::testing {

struct Ended {
  int status = -1;  ///< exit status, or 128 + signal
  std::string out;  ///< standard output
  std::string err;  ///< standard error
};

/// A started program; wait() collects it.
class Program {
 public:
  /// `before` runs in the child before the program starts (limits, environment); keep it async-signal-safe.
  explicit Program(std::vector<std::string> arguments, void (*before)() = nullptr,
                   const std::string& output_path = "") {
    arguments.insert(arguments.begin(), program());
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const std::string out = output_path.empty() ? folder_.file("out") : output_path, err = folder_.file("err");
    child_ = fork();
    if (child_ == 0) {
      redirect(out, STDOUT_FILENO);
      redirect(err, STDERR_FILENO);
      if (before != nullptr) before();
      execv(argv.front(), argv.data());
      _exit(127);
    }
  }
  [[nodiscard]] pid_t id() const { return child_; }
  [[nodiscard]] std::string error_so_far() const { return read(folder_.file("err")); }

  [[nodiscard]] Ended wait() const {
    int status = 0;
    EXPECT_EQ(waitpid(child_, &status, 0), child_);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read(folder_.file("out")),
            read(folder_.file("err"))};
  }

 private:
  static void redirect(const std::string& path, int descriptor) {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || dup2(file, descriptor) < 0) _exit(126);
  }
  static std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TemporaryFolder folder_;
  pid_t child_ = -1;
};

inline Ended run(std::vector<std::string> arguments) { return Program(std::move(arguments)).wait(); }

/// The names in a folder, sorted.
inline std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace sonde::testing

// SPDX-License-Identifier: Apache-2.0
// Limits and permissions are tried in a child process, so that they do not outlive the test and hold for root too.
#pragma once

#include <grp.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <exception>
#include <string>
#include <utility>

namespace sonde::testing {

/// Runs `body` in a child process and returns the text it returned, or the text of the exception it threw.
template <class Body>
std::string text_from_child(Body&& body) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) {
    ADD_FAILURE() << "no pipe";
    return "";
  }
  const pid_t child = fork();
  if (child == 0) {
    std::string text;
    try {
      text = std::forward<Body>(body)();
    } catch (const std::exception& failure) {
      text = failure.what();
    }
    const ssize_t put = write(ends[1], text.data(), text.size());
    _exit(put == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t got = 0; (got = read(ends[0], part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "the child ended with status " << status;
  return text;
}

/// In a child: root becomes nobody, for whom permissions count.
inline void become_nobody() {
  if (geteuid() != 0) return;
  if (setgroups(0, nullptr) != 0 || setgid(65534) != 0 || setuid(65534) != 0) _exit(2);
}

/// In a child: no file may grow beyond `bytes`, as on a full disk; writes fail with an error instead of a signal.
inline void limit_file_size(rlim_t bytes) {
  const rlimit limit{bytes, bytes};
  if (signal(SIGXFSZ, SIG_IGN) == SIG_ERR || setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(2);
}

}  // namespace sonde::testing

// SPDX-License-Identifier: Apache-2.0
// How a program ends that is asked to; what work does about it is in error_test.cpp.
#include "sonde/engine/base/interrupt.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "sonde/engine/base/error.h"
#include "tests/support/errors.h"

namespace sonde {
namespace {

/// The exit status of a child process that runs `body`, or 128 + signal.
template <class Body>
int status_of_child(Body&& body) {
  const pid_t child = fork();
  if (child == 0) {
    clear_interrupt();
    listen_for_interrupts();
    body();
    _exit(99);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

class SecondInterrupt : public ::testing::TestWithParam<int> {};

TEST_P(SecondInterrupt, EndsAProcessThatDoesNotLook) {
  EXPECT_EQ(status_of_child([] {
              for (;;) raise(GetParam());
            }),
            128 + GetParam());
}

INSTANTIATE_TEST_SUITE_P(, SecondInterrupt, ::testing::Values(SIGINT, SIGTERM),
                         [](const auto& each) { return each.param == SIGINT ? "SIGINT" : "SIGTERM"; });

TEST(Interrupt, TwoAtOnceAreOne) {
  const auto twice = [] {
    raise(SIGTERM);
    raise(SIGTERM);
    _exit(interrupt_requested() ? 7 : 8);
  };
  // A child that is held up between the two is ended by the second.
  int status = 143;
  for (int trial = 0; trial < 20 && status == 143; ++trial) status = status_of_child(twice);
  EXPECT_EQ(status, 7);
}

struct Case {
  int signal;
  ErrorKind kind;
};

class Request : public ::testing::TestWithParam<Case> {
 protected:
  ~Request() override { clear_interrupt(); }
};

TEST_P(Request, EndsTheWork) {
  request_interrupt(GetParam().signal);
  (void)testing::error_of(GetParam().kind, [] { check_interrupt(); });
}

TEST_P(Request, WaitsForACheckpointUnlessAPersonWaits) {
  request_interrupt(GetParam().signal);
  const TerminationWaits waits(1e6);
  if (GetParam().signal == SIGINT)
    EXPECT_THROW(check_interrupt(), Error);
  else
    EXPECT_NO_THROW(check_interrupt());
}

INSTANTIATE_TEST_SUITE_P(Interrupt, Request,
                         ::testing::Values(Case{SIGINT, ErrorKind::interrupted}, Case{SIGTERM, ErrorKind::terminated},
                                           Case{SIGHUP, ErrorKind::terminated}));

}  // namespace
}  // namespace sonde

// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <new>
#include <stdexcept>
#include <thread>

#include "sonde/engine/base/as_error.h"
#include "sonde/engine/base/interrupt.h"
#include "tests/support/errors.h"
#include "tests/support/interrupts.h"

namespace sonde {
namespace {

TEST(Error, KindsHaveTheirOwnNames) {
  EXPECT_EQ(name(ErrorKind::bad_file), "bad_file");
  EXPECT_EQ(name(ErrorKind::not_converged), "not_converged");
  EXPECT_EQ(name(ErrorKind::interrupted), "interrupted");
}

TEST(Error, TextHoldsMessageActivitiesAndHint) {
  const std::string text = testing::error_of(ErrorKind::bad_file, [] {
    during("loading scan", [] {
      during("reading chunk 3", [] { throw Error(ErrorKind::bad_file, "a.h5: short").hint("copy it again"); });
    });
  });
  EXPECT_EQ(text, "error: a.h5: short\nwhile: reading chunk 3\nwhile: loading scan\nhint: copy it again");
}

TEST(Error, SeveralProblemsTakeTheSmallestExitStatus) {
  Problems problems;
  problems.add(Error(ErrorKind::io, "b: disk full"));
  problems.add(Error(ErrorKind::bad_file, "a: short").hint("copy it again"));
  const std::string text = testing::error_of(ErrorKind::bad_file, [&] { problems.throw_if_any("2 problems in scan"); });
  EXPECT_EQ(text, "error: 2 problems in scan\n  - b: disk full\n  - a: short\n    hint: copy it again");
}

TEST(Error, ProblemsOfAProblemAreTold) {
  Problems in_file, all;
  in_file.add(Error(ErrorKind::bad_file, "a: short").hint("copy it again"));
  in_file.add(Error(ErrorKind::bad_file, "b: long"));
  all.collect([&] { in_file.throw_if_any("2 problems in scan"); });
  all.add(Error(ErrorKind::usage, "--c"));
  EXPECT_EQ(
      testing::error_of(ErrorKind::usage, [&] { all.throw_if_any("several"); }),
      "error: several\n  - 2 problems in scan\n    - a: short\n      hint: copy it again\n    - b: long\n  - --c");
}

TEST(Error, OneProblemIsThrownAsItIs) {
  Problems problems;
  EXPECT_FALSE(problems.collect([] { throw Error(ErrorKind::io, "b: disk full"); }));
  EXPECT_TRUE(problems.collect([] {}));
  EXPECT_EQ(testing::error_of(ErrorKind::io, [&] { problems.throw_if_any("unused"); }), "error: b: disk full");
}

TEST(Error, NoProblemThrowsNothing) { EXPECT_NO_THROW(Problems().throw_if_any("unused")); }

TEST(Error, AnyExceptionIsOne) {
  const auto of = [](const auto& thrown) { return as_error(std::make_exception_ptr(thrown), "close something"); };
  EXPECT_STREQ(of(Error(ErrorKind::io, "disk full").hint("make room")).what(), "error: disk full\nhint: make room");
  EXPECT_EQ(of(std::bad_alloc()).kind(), ErrorKind::budget);
  EXPECT_EQ(of(std::bad_alloc()).hint(), "close something");
  EXPECT_EQ(of(std::runtime_error("no such key")).kind(), ErrorKind::internal);
  EXPECT_EQ(of(std::runtime_error("no such key")).message(), "unexpected: no such key");
  EXPECT_EQ(of(42).kind(), ErrorKind::internal);
}

TEST(Interrupt, SignalsBecomeErrorsOfTheirKind) {
  request_interrupt(2);
  testing::error_of(ErrorKind::interrupted, [] { check_interrupt(); });
  request_interrupt(15);
  testing::error_of(ErrorKind::terminated, [] { check_interrupt(); });
  clear_interrupt();
  EXPECT_NO_THROW(check_interrupt());
}

TEST(Interrupt, TerminationWaitsForAPieceOfWorkAndAPersonDoesNot) {
  {
    const TerminationWaits patient(3600);
    request_interrupt(15);
    EXPECT_NO_THROW(check_interrupt());
    EXPECT_TRUE(interrupt_requested()) << "who asks is told";
    request_interrupt(2);
    testing::error_of(ErrorKind::interrupted, [] { check_interrupt(); });
    request_interrupt(15);
  }
  testing::error_of(ErrorKind::terminated, [] { check_interrupt(); });
  clear_interrupt();
}

TEST(Interrupt, TerminationWaitsNoLongerThanItMay) {
  const TerminationWaits hasty(0);
  request_interrupt(15);
  EXPECT_NO_THROW(check_interrupt()) << "seen at this moment";
  testing::error_of(ErrorKind::terminated, [] {
    for (;;) check_interrupt();
  });
  clear_interrupt();
}

TEST(Interrupt, WorkOfOneThreadIsCancelledAlone) {
  Cancel cancel;
  const CancelScope outer(&cancel);
  EXPECT_NO_THROW(check_interrupt());
  cancel.request();
  EXPECT_THAT(testing::error_of(ErrorKind::interrupted, [] { check_interrupt(); }), ::testing::HasSubstr("cancelled"));
  EXPECT_FALSE(interrupt_requested()) << "the program goes on";
  std::jthread([] { EXPECT_NO_THROW(check_interrupt()) << "another thread"; }).join();
  {
    const CancelScope inner(nullptr);
    EXPECT_NO_THROW(check_interrupt());
  }
  EXPECT_ANY_THROW(check_interrupt());
}

TEST(Interrupt, WorkMayBeCancelledFromATimeOn) {
  Cancel cancel;
  const auto now = std::chrono::steady_clock::now();
  cancel.request_at(now + std::chrono::hours(1));
  EXPECT_FALSE(cancel.requested());
  cancel.request_at(now);
  EXPECT_TRUE(cancel.requested());
  cancel.request_at(now + std::chrono::hours(1));
  EXPECT_TRUE(cancel.requested()) << "the earliest time counts";
}

TEST(Interrupt, ComesAtTheLookThatATestChooses) {
  const testing::InterruptAt third(3);
  check_interrupt();
  EXPECT_FALSE(interrupt_requested());
  testing::error_of(ErrorKind::interrupted, [] { check_interrupt(); });
  EXPECT_EQ(third.looks(), 3);
}

}  // namespace
}  // namespace sonde

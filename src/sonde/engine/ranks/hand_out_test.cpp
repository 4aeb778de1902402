// SPDX-License-Identifier: Apache-2.0
// Every fact holds for any number of ranks, as in ranks_test.cpp.
#include "sonde/engine/ranks/hand_out.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "tests/support/errors.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t pieces = 40;

/// Pieces {k, k^2} in order; what is found is the sum of both, here kept by k.
struct Sums {
  std::int64_t given = 0;
  std::atomic<std::int64_t> found{0};
  std::vector<std::int64_t> of = std::vector<std::int64_t>(pieces, -1);
  std::vector<int> by = std::vector<int>(pieces, -1);

  Desk desk() {
    return {[this](int) {
              const std::int64_t k = given++;
              return k < pieces ? Piece{k, k * k} : Piece();
            },
            [this](int rank, std::span<const std::byte> bytes) {
              std::int64_t two[2];
              ASSERT_EQ(bytes.size(), sizeof two);
              std::memcpy(two, bytes.data(), sizeof two);
              of[static_cast<std::size_t>(two[0])] = two[1];
              by[static_cast<std::size_t>(two[0])] = rank;
              ++found;
            }};
  }
};

void add_up(const Piece& piece, const Deliver& deliver) {
  const std::int64_t two[2] = {piece[0], piece[0] + piece[1]};
  deliver(std::as_bytes(std::span(two)));
}

TEST(HandOut, EveryPieceIsDoneOnceAndItsResultComesToTheDesk) {
  const Ranks ranks = Ranks::world();
  Sums sums;
  EXPECT_TRUE(hand_out(ranks, sums.desk(), add_up));
  if (ranks.rank() != 0) {
    EXPECT_EQ(sums.found, 0) << "only rank 0 has the desk";
    return;
  }
  EXPECT_EQ(sums.found, pieces);
  for (std::int64_t k = 0; k < pieces; ++k) EXPECT_EQ(sums.of[static_cast<std::size_t>(k)], k + k * k);
}

TEST(HandOut, WhoIsSlowGetsLess) {
  const Ranks ranks = Ranks::world();
  Sums sums;
  // Rank 0 is done with its first piece when the others have done all else.
  EXPECT_TRUE(hand_out(ranks, sums.desk(), [&](const Piece& piece, const Deliver& deliver) {
    while (ranks.size() > 1 && ranks.rank() == 0 && sums.found < pieces - 1)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    add_up(piece, deliver);
  }));
  const auto own = std::count(sums.by.begin(), sums.by.end(), 0);
  EXPECT_EQ(own, ranks.rank() != 0 ? 0 : ranks.size() == 1 ? pieces : 1);
}

TEST(HandOut, AnErrorOfAnyRankEndsTheWorkOfAllAndIsThrownByTheFirst) {
  const Ranks ranks = Ranks::world();
  for (int failing = 0; failing < ranks.size(); ++failing) {
    SCOPED_TRACE(failing);
    Sums sums;
    sums.given = -1000000;  // there is always more to do, but for what the failure ends
    Desk desk = sums.desk();
    desk.receive = [](int, std::span<const std::byte>) {};
    bool done = true;
    const auto all = [&] {
      done = hand_out(ranks, desk, [&](const Piece& piece, const Deliver& deliver) {
        if (ranks.rank() == failing)
          during("counting", [] { throw Error(ErrorKind::not_converged, "no end").hint("count less"); });
        add_up(piece, deliver);
      });
    };
    if (ranks.rank() != 0) {
      all();
      EXPECT_FALSE(done);
    } else {
      const std::string text = testing::error_of(ErrorKind::not_converged, all);
      EXPECT_THAT(text, HasSubstr("no end"));
      EXPECT_THAT(text, HasSubstr("while: counting"));
      EXPECT_THAT(text, HasSubstr("hint: count less"));
      EXPECT_EQ(text.find("working on rank " + std::to_string(failing)) != std::string::npos, failing > 0) << text;
    }
    // Nothing of it is left between the ranks.
    std::vector<std::int64_t> one = {1};
    ranks.all_reduce(std::span(one));
    EXPECT_EQ(one.front(), ranks.size());
  }
}

TEST(HandOut, AnErrorAtTheDeskEndsTheWorkOfAll) {
  const Ranks ranks = Ranks::world();
  for (const bool receiving : {false, true}) {
    SCOPED_TRACE(receiving);
    Sums sums;
    sums.given = -1000000;
    Desk desk = sums.desk();
    const auto refuse = [] { throw Error(ErrorKind::io, "the disk is full"); };
    desk.receive = [&](int rank, std::span<const std::byte>) {
      if (receiving && rank == ranks.size() - 1) refuse();
    };
    if (!receiving)
      desk.next = [&, more = desk.next](int rank) {
        if (rank == ranks.size() - 1) refuse();
        return more(rank);
      };
    bool done = true;
    const auto all = [&] { done = hand_out(ranks, desk, add_up); };
    if (ranks.rank() == 0) {
      EXPECT_THAT(testing::error_of(ErrorKind::io, all), HasSubstr("the disk is full"));
    } else {
      all();
      EXPECT_FALSE(done);
    }
  }
}

TEST(HandOut, AnInterruptIsThrown) {
  if (Ranks::world().size() > 1) return;  // there it ends the program, which tests of the program see
  Sums sums;
  testing::error_of(ErrorKind::interrupted, [&] {
    (void)hand_out(Ranks::alone(), sums.desk(), [](const Piece& piece, const Deliver& deliver) {
      add_up(piece, deliver);
      request_interrupt(2);
      check_interrupt();
    });
  });
  clear_interrupt();
  EXPECT_EQ(sums.found, 1);
}

TEST(AllSucceed, WhenNoneHasThrown) {
  int called = 0;
  EXPECT_TRUE(all_succeed(Ranks::world(), [&] { ++called; }));
  EXPECT_EQ(called, 1);
}

TEST(AllSucceed, TheErrorOfTheLowestIsThrownByTheFirst) {
  const Ranks ranks = Ranks::world();
  for (int lowest = 0; lowest < ranks.size(); ++lowest) {
    bool succeeded = true;
    const auto all = [&] {
      succeeded = all_succeed(ranks, [&] {
        if (ranks.rank() >= lowest)
          throw Error(ErrorKind::budget, "no space for rank " + std::to_string(ranks.rank())).hint("less");
      });
    };
    if (ranks.rank() != 0) {
      all();
      EXPECT_FALSE(succeeded);
    } else {
      const std::string text = testing::error_of(ErrorKind::budget, all);
      EXPECT_THAT(text, HasSubstr("no space for rank " + std::to_string(lowest)));
      EXPECT_THAT(text, HasSubstr("hint: less"));
    }
  }
}
TEST(AllSucceed, EveryProblemOfAnotherRankArrives) {
  const Ranks ranks = Ranks::world();
  const auto last = [&] {
    if (ranks.rank() + 1 < ranks.size()) return;
    Problems problems;
    problems.add(Error(ErrorKind::bad_file, "a: short").hint("copy it again"));
    problems.add(Error(ErrorKind::io, "b: disk full"));
    problems.throw_if_any("2 problems");
  };
  if (ranks.rank() != 0) {
    EXPECT_FALSE(all_succeed(ranks, last));
  } else {
    const std::string text = testing::error_of(ErrorKind::bad_file, [&] { (void)all_succeed(ranks, last); });
    EXPECT_THAT(text, HasSubstr("2 problems\n  - a: short\n    hint: copy it again\n  - b: disk full"));
  }
}

}  // namespace
}  // namespace sonde

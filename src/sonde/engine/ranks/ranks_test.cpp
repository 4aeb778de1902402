// SPDX-License-Identifier: Apache-2.0
// Every fact holds for any number of ranks: run by itself this is a unit test, and ctest starts it with 1, 2 and 4
// (label mpi). Nothing ends a test early, because the other ranks would wait.
#include "sonde/engine/ranks/ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <vector>

#include "tests/support/child.h"
#include "tests/support/errors.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;

template <class T>
class RanksOf : public ::testing::Test {
 protected:
  /// Value i of a rank: small integers, whose sums are exact in every type.
  static T value(int rank, std::size_t i) { return static_cast<T>(static_cast<float>(100 * (rank + 1) + i % 97)); }
  static std::vector<T> values(int rank, std::size_t count) {
    std::vector<T> all(count);
    for (std::size_t i = 0; i < count; ++i) all[i] = value(rank, i);
    return all;
  }
  Ranks ranks_ = Ranks::world();
};
using Types = ::testing::Types<float, double, std::complex<float>, std::complex<double>, std::int64_t>;
TYPED_TEST_SUITE(RanksOf, Types);

TYPED_TEST(RanksOf, AllReduceSumsOverTheRanks) {
  auto mine = this->values(this->ranks_.rank(), 1000);
  this->ranks_.all_reduce(std::span(mine));
  std::vector<TypeParam> expected(1000, TypeParam(0));
  for (int rank = 0; rank < this->ranks_.size(); ++rank)
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += this->value(rank, i);
  EXPECT_EQ(mine, expected);
}

TEST(Ranks, AllThatOneLauncherStartedHereShareThisMachine) {
  const Ranks ranks = Ranks::world();
  EXPECT_EQ(ranks.on_this_machine(), ranks.size());
  EXPECT_EQ(Ranks::alone().on_this_machine(), 1);
}

TEST(Ranks, LargestIsThatOfAll) {
  const Ranks ranks = Ranks::world();
  std::vector<double> values = {static_cast<double>(ranks.rank()), -static_cast<double>(ranks.rank()) - 3};
  ranks.largest(values);
  EXPECT_EQ(values, (std::vector<double>{static_cast<double>(ranks.size() - 1), -3}));
}

TYPED_TEST(RanksOf, BroadcastGivesEveryRankTheValuesOfOne) {
  for (int root = 0; root < this->ranks_.size(); ++root) {
    auto mine = this->values(this->ranks_.rank(), 333);
    this->ranks_.broadcast(std::span(mine), root);
    EXPECT_EQ(mine, this->values(root, 333));
  }
}

TYPED_TEST(RanksOf, GatherJoinsTheValuesInTheOrderOfRanks) {
  for (int root = 0; root < this->ranks_.size(); ++root) {
    // Each rank gives another number of values, the last none.
    const auto count = [&](int rank) { return static_cast<std::size_t>(5 * (this->ranks_.size() - 1 - rank)); };
    const auto mine = this->values(this->ranks_.rank(), count(this->ranks_.rank()));
    const auto all = this->ranks_.gather(std::span<const TypeParam>(mine), root);
    std::vector<TypeParam> expected;
    if (this->ranks_.rank() == root)
      for (int rank = 0; rank < this->ranks_.size(); ++rank) {
        const auto part = this->values(rank, count(rank));
        expected.insert(expected.end(), part.begin(), part.end());
      }
    EXPECT_EQ(all, expected);
  }
}

TYPED_TEST(RanksOf, ExchangeBringsTheBordersOfBothNeighbours) {
  // A ring: the upper border goes to the next rank, the lower to the one before. With one or two ranks a rank has the
  // same neighbour, or itself, on both sides, and the tags keep the messages apart.
  const int size = this->ranks_.size(), rank = this->ranks_.rank();
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  const auto upper = this->values(2 * rank, 50), lower = this->values(2 * rank + 1, 70);
  std::vector<TypeParam> from_before(50), from_next(70), both(50);
  if (size == 1) {
    const Exchange<TypeParam> own{0, 1, upper, both};
    this->ranks_.exchange(std::span<const Exchange<TypeParam>>(&own, 1));
    EXPECT_EQ(both, upper);
    return;
  }
  const std::vector<Exchange<TypeParam>> exchanges = {
      {next, 1, upper, {}}, {before, 1, {}, from_before}, {before, 2, lower, {}}, {next, 2, {}, from_next}};
  this->ranks_.exchange(std::span<const Exchange<TypeParam>>(exchanges));
  EXPECT_EQ(from_before, this->values(2 * before, 50));
  EXPECT_EQ(from_next, this->values(2 * next + 1, 70));
}

TEST(Ranks, AreThoseThatWereStarted) {
  const Ranks ranks = Ranks::world();
  const char* started = std::getenv("SONDE_TEST_RANKS");
  EXPECT_EQ(ranks.size(), started == nullptr ? 1 : std::atoi(started));
  std::vector<std::int64_t> seen(static_cast<std::size_t>(ranks.size()), 0);
  if (ranks.rank() < ranks.size()) seen[static_cast<std::size_t>(ranks.rank())] = 1;
  ranks.all_reduce(std::span(seen));
  EXPECT_THAT(seen, ::testing::Each(1)) << "each number once";
}

TEST(Ranks, NobodyPassesABarrierBeforeAllAreThere) {
  // Each round one rank changes a value that all know, then all agree on it; without waiting the sums would differ.
  const Ranks ranks = Ranks::world();
  for (int round = 0; round < 3 * ranks.size(); ++round) {
    ranks.barrier();
    std::vector<double> sum = {ranks.rank() == round % ranks.size() ? round : 0.0};
    ranks.all_reduce(std::span(sum));
    EXPECT_EQ(sum.front(), round);
  }
}

TEST(Ranks, AloneEveryCallIsDoneAtOnce) {
  const Ranks ranks = Ranks::alone();
  EXPECT_EQ(ranks.rank(), 0);
  EXPECT_EQ(ranks.size(), 1);
  std::vector<float> values = {1, 2, 3};
  ranks.all_reduce(std::span(values));
  ranks.broadcast(std::span(values));
  ranks.barrier();
  EXPECT_EQ(ranks.gather(std::span<const float>(values)), (std::vector<float>{1, 2, 3}));
}

TEST(Ranks, AnExchangeWithNobodyIsAnError) {
  const Ranks ranks = Ranks::alone();
  const Exchange<float> nobody{1, 0, {}, {}};
  EXPECT_THAT(
      testing::error_of(ErrorKind::internal, [&] { ranks.exchange(std::span<const Exchange<float>>(&nobody, 1)); }),
      HasSubstr("no exchange with rank 1 of 1, tag 0"));
  const std::vector<float> three(3);
  std::vector<float> two(2);
  const Exchange<float> uneven{0, 0, three, two};
  EXPECT_THAT(
      testing::error_of(ErrorKind::internal, [&] { ranks.exchange(std::span<const Exchange<float>>(&uneven, 1)); }),
      HasSubstr("exchanges 3 elements"));
}

TEST(Ranks, SeveralProcessesWithoutMpiAreAnError) {
  if (*mpi_library() != '\0') return;  // the tests with several processes show what happens with MPI
  const std::string text = testing::text_from_child([]() -> std::string {
    setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
    return std::to_string(Ranks::world().size());
  });
  EXPECT_THAT(text, HasSubstr("4 processes were started together, but this program was built without MPI"));
}

}  // namespace
}  // namespace sonde

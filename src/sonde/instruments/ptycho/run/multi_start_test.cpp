// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/run/multi_start.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/ptycho/run/test_scan.h"
#include "tests/support/errors.h"
#include "tests/support/interrupts.h"

namespace sonde::ptycho {
namespace {

using ::testing::HasSubstr;
using testing::SmallScan;

const char* const eight_of_gd = "[[engine]]\nname = \"gd\"\niterations = 8\n[stop]\nrule = \"off\"\n";

TEST(MultiStart, TheLowestScoreGoesOn) {
  const SmallScan scan(
      1e5, std::string(eight_of_gd) +
               "[object]\ninit = \"random\"\nrandom_phase = 1.0\n[multi_start]\nstarts = 4\niterations = 3\n");
  Job job(scan.run, scan.source, plan_job(scan.run, scan.source));
  const std::vector<StartOutcome> outcomes = choose_start(job, scan.run);
  ASSERT_EQ(outcomes.size(), 4u);
  const auto best = std::min_element(outcomes.begin(), outcomes.end(),
                                     [](const auto& a, const auto& b) { return a.score < b.score; });
  EXPECT_TRUE(best->chosen);
  EXPECT_EQ(job.reconstruction().history().size(), 3u);
  EXPECT_EQ(score_of(job.reconstruction()), best->score);
  EXPECT_NE(outcomes[0].score, outcomes[1].score);
  // And it goes on to the end of the schedule.
  while (job.reconstruction().outcome().kind == Outcome::Kind::running) (void)job.reconstruction().iterate();
  EXPECT_EQ(job.reconstruction().history().size(), 8u);
}

TEST(MultiStart, HowManyWorkAtTheSameTimeDoesNotChangeWhatGoesOn) {
  set_thread_count(2);
  std::vector<std::vector<double>> scores;
  std::vector<Array> objects;
  for (const char* at_once : {"1", "2"}) {
    const SmallScan scan(
        1e5, std::string(eight_of_gd) +
                 "[object]\ninit = \"random\"\n[multi_start]\nstarts = 5\niterations = 3\nat_once = " + at_once + "\n");
    Job job(scan.run, scan.source, plan_job(scan.run, scan.source));
    EXPECT_EQ(job.plan().starts_at_once->value, at_once[0] - '0');
    scores.emplace_back();
    for (const StartOutcome& outcome : choose_start(job, scan.run)) scores.back().push_back(outcome.score);
    objects.push_back(job.reconstruction().state().object.clone());
  }
  EXPECT_EQ(scores[0], scores[1]);
  EXPECT_EQ(std::memcmp(objects[0].data(), objects[1].data(), objects[0].allocated_bytes()), 0);
  set_thread_count(0);
}

TEST(MultiStart, AskedToStopItLeavesTheBestUntilThen) {
  const SmallScan scan(
      1e5, std::string(eight_of_gd) + "[object]\ninit = \"random\"\n[multi_start]\nstarts = 3\nat_once = 1\n");
  const auto tried = [&](int look) {
    Job job(scan.run, scan.source, plan_job(scan.run, scan.source));
    const sonde::testing::InterruptAt request(look);
    (void)sonde::testing::error_of(ErrorKind::interrupted, [&] { (void)choose_start(job, scan.run); });
    EXPECT_GE(look + thread_count(), request.looks());
    return job.reconstruction().history().size();
  };
  EXPECT_EQ(tried(50), 0u);    // within the first iteration of a hundred patterns
  EXPECT_EQ(tried(250), 2u);   // gd goes through them once
  EXPECT_EQ(tried(1150), 8u);  // the second start is under way
}

TEST(MultiStart, OneStartIsTheUsualRun) {
  const SmallScan scan(1e5, eight_of_gd);
  Job job(scan.run, scan.source, plan_job(scan.run, scan.source));
  EXPECT_TRUE(choose_start(job, scan.run).empty());
  EXPECT_TRUE(job.reconstruction().history().empty());
}

TEST(MultiStart, EqualStartsAreRefused) {
  const SmallScan scan(1e5, std::string(eight_of_gd) + "[multi_start]\nstarts = 2\n");
  Job job(scan.run, scan.source, plan_job(scan.run, scan.source));
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [&] { (void)choose_start(job, scan.run); }),
              HasSubstr("object.init = \"random\""));
}

}  // namespace
}  // namespace sonde::ptycho

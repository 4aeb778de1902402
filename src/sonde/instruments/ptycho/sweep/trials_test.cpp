// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/sweep/trials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "sonde/instruments/ptycho/sweep/sweep_file.h"
#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

using sonde::testing::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> texts(const std::vector<Trial>& trials) {
  std::vector<std::string> all;
  for (const Trial& trial : trials) all.push_back(trial.text());
  return all;
}

TEST(Trials, AGridHasEveryCombination) {
  EXPECT_THAT(texts(grid_trials({{.setting = "a", .values = {"1", "2"}},
                                 {.setting = "b", .low = 1, .high = 100, .steps = 3, .log = true}})),
              ElementsAre("a=1 b=1", "a=1 b=10", "a=1 b=100", "a=2 b=1", "a=2 b=10", "a=2 b=100"));
}

TEST(Trials, RandomOnesFillTheirRangesEvenly) {
  const std::vector<Trial> trials = random_trials(
      {{.setting = "x", .low = 10, .high = 1000, .log = true}, {.setting = "w", .values = {"p", "q", "r"}}}, 3000, 7);
  Index below = 0, q = 0;
  for (const Trial& trial : trials) {
    const double x = std::strtod(trial.settings[0].second.c_str(), nullptr);
    ASSERT_GE(x, 10);
    ASSERT_LE(x, 1000);
    below += x < 100 ? 1 : 0;
    q += trial.settings[1].second == "q" ? 1 : 0;
  }
  // Half of the logarithmic range, a third of the list: five standard deviations of a binomial.
  EXPECT_NEAR(static_cast<double>(below), 1500, 5 * std::sqrt(3000 * 0.25));
  EXPECT_NEAR(static_cast<double>(q), 1000, 5 * std::sqrt(3000 * 2.0 / 9));
}

TEST(Trials, MoreRandomOnesBeginWithTheSame) {
  const std::vector<Variation> one{{.setting = "x", .low = 0, .high = 1}};
  const auto few = texts(random_trials(one, 3, 7)), many = texts(random_trials(one, 5, 7));
  EXPECT_THAT(few, ElementsAre(many[0], many[1], many[2]));
  EXPECT_NE(few, texts(random_trials(one, 3, 8)));
}

std::vector<std::pair<Index, Index>> plain(const std::vector<Round>& rounds) {
  std::vector<std::pair<Index, Index>> all;
  for (const Round& round : rounds) all.emplace_back(round.trials, round.until.value_or(-1));
  return all;
}

TEST(Trials, HalvingLeavesOne) {
  EXPECT_THAT(plain(halving_rounds(9, 10, 3, 1000)), ElementsAre(std::pair(9, 10), std::pair(3, 30), std::pair(1, -1)));
  // The schedule is over before one is left.
  EXPECT_THAT(plain(halving_rounds(9, 10, 3, 20)), ElementsAre(std::pair(9, 10), std::pair(3, -1)));
  EXPECT_THAT(plain(halving_rounds(1, 10, 3, 1000)), ElementsAre(std::pair(1, -1)));
}

TEST(SweepFile, ReadsWhatIsVaried) {
  SweepFile file;
  file.parse(
      "[sweep]\nrun = \"r.toml\"\nhalving = true\nfirst = 5\n[[vary]]\nname = \"values\"\nsetting = "
      "\"probe.modes\"\nvalues = [1, 3]\n[[vary]]\nname = \"range\"\nsetting = \"probe.defocus_A\"\nlow = 100\nhigh = "
      "200\nsteps = 3\n",
      "sweep.toml");
  EXPECT_THAT(texts(file.trials()),
              ElementsAre("probe.modes=1 probe.defocus_A=100", "probe.modes=1 probe.defocus_A=150",
                          "probe.modes=1 probe.defocus_A=200", "probe.modes=3 probe.defocus_A=100",
                          "probe.modes=3 probe.defocus_A=150", "probe.modes=3 probe.defocus_A=200"));
  EXPECT_THAT(plain(file.rounds(100)), ElementsAre(std::pair(6, 5), std::pair(2, 15), std::pair(1, -1)));
}

TEST(SweepFile, RefusesWhatMakesNoSense) {
  const auto problem = [](const std::string& text) {
    return error_of(ErrorKind::bad_input, [&] {
      SweepFile file;
      file.parse(text, "sweep.toml");
      (void)file.trials();
    });
  };
  const std::string vary = "[[vary]]\nname = \"values\"\nvalues = [1]\nsetting = ";
  EXPECT_THAT(problem("[sweep]\n"), HasSubstr("varies nothing"));
  EXPECT_THAT(problem(vary + "\"data.crop\"\n"), HasSubstr("data.crop cannot be varied"));
  EXPECT_THAT(problem(vary + "\"probe.modes\"\n" + vary + "\"probe.modes\"\n"), HasSubstr("varied twice"));
  EXPECT_THAT(problem("[[vary]]\nname = \"range\"\nsetting = \"a.b\"\nlow = 2\nhigh = 1\n"), HasSubstr("is no range"));
  EXPECT_THAT(problem("[[vary]]\nname = \"range\"\nsetting = \"a.b\"\nlow = 0\nhigh = 1\nlog = true\n"),
              HasSubstr("logarithmic range"));
}

}  // namespace
}  // namespace sonde::ptycho

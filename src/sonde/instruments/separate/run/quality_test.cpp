// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/run/quality.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sonde/engine/report/json.h"
#include "sonde/instruments/separate/run/test_runs.h"

namespace sonde::separate {
namespace {

/// Kick: half the mixture. Snare: the mixture, a tenth louder in one pass and softer in the other. Hi-hat: silence.
class Wavering final : public Network {
 public:
  double waver = 0.1;
  void run(View<const float, 2> samples, View<float, 3> stems) override {
    const auto louder = static_cast<float>(1 + waver);
    for (Index c = 0; c < samples.extent[0]; ++c) {
      for (Index i = 0; i < samples.extent[1]; ++i) {
        stems(0, c, i) = 0.5F * samples(c, i);
        stems(1, c, i) = louder * samples(c, i);
        stems(2, c, i) = 0;
      }
    }
  }
  [[nodiscard]] std::vector<Time> times() const override { return {}; }
};

TEST(Quality, IsTheVarianceOfPassesAndWhatTheStemsLackOfTheMixture) {
  Setting at;
  Wavering network;
  at.settings = {.overlap = 2, .policy = Policy::uniform, .preview = true, .quality = true};
  at.settings.refined = [&](const SeparationTask&, const SeparationResult&) { network.waver = -network.waver; };
  const SeparationTask task = at.task(song(100000));
  const SeparationResult result = separate_file(task, at.settings, at.of.config, network);
  const Value& quality = result.quality;
  EXPECT_EQ(quality.find("passes")->as_whole(), 2);
  EXPECT_EQ(quality.find("seconds")->as_real(), 1);
  const auto& consistency = quality.find("consistency_db")->items();
  ASSERT_EQ(consistency.size(), 3u);  // 2.3 s
  const auto& stems = quality.find("stems")->items();
  const auto over_time = [&](std::size_t stem, const char* what = "agreement_db_over_time") {
    return stems[stem].find(what)->items();
  };
  const auto& mixture = quality.find("mixture_db")->items();
  for (std::size_t second = 0; second < 3; ++second) {
    // Squares of 44100 roundings of 2^-24 beside those of what is sought.
    EXPECT_NEAR(consistency[second].as_real(), 20 * std::log10(0.5), 1e-5);
    EXPECT_EQ(over_time(0)[second].as_real(), 120);  // the bound: it does not depend on the pass
    EXPECT_NEAR(over_time(1)[second].as_real(), 20, 1e-5);
    EXPECT_TRUE(over_time(2)[second].is_null());
    EXPECT_EQ(over_time(0, "deviation_db_over_time")[second].as_real(), -120);
    EXPECT_NEAR(over_time(1, "deviation_db_over_time")[second].as_real(), mixture[second].as_real() - 20, 1e-5);
  }
  EXPECT_NEAR(stems[1].find("agreement_db")->as_real(), 20, 1e-5);
  EXPECT_EQ(to_json(*read_json(task.record + ".json").find("quality")), to_json(quality));
}

TEST(Quality, SaysNothingOfPassesWhereThereIsOne) {
  Setting at;
  Wavering network;
  at.settings = {.overlap = 1, .quality = true};
  const Value quality = separate_file(at.task(song(9000)), at.settings, at.of.config, network).quality;
  EXPECT_EQ(quality.find("passes")->as_whole(), 1);
  EXPECT_EQ(quality.find("stems")->items()[1].find("agreement_db"), nullptr);
  EXPECT_EQ(quality.find("consistency_db")->items().size(), 1u);
}

TEST(QualityMeter, TakesLongerTimesWhereThereWouldBeTooManyValues) {
  QualityMeter meter(1, 1, 1);
  const float variance = 0.25F;
  for (Index i = 0; i < 4097; ++i) {
    const auto x = static_cast<float>(i % 2);
    meter.add(&x, &x, &variance);
  }
  const Quality quality = meter.quality();
  EXPECT_EQ(quality.seconds, 2);
  ASSERT_EQ(quality.mixture.size(), 2049u);
  EXPECT_EQ(quality.mixture.front(), 0.5);
  EXPECT_EQ(quality.mixture.back(), 0);  // of a single sample
  EXPECT_EQ(quality.difference.front(), 0);
  EXPECT_EQ(quality.stems[0].variance.front(), 0.25);
}

}  // namespace
}  // namespace sonde::separate

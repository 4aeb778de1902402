// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/view/stem_growth.h"

#include <gtest/gtest.h>

namespace sonde::separate {
namespace {

std::vector<float> stems(float kick, float snare, Index count) {
  std::vector<float> samples(static_cast<std::size_t>(count), kick);
  samples.insert(samples.end(), static_cast<std::size_t>(count), snare);
  return samples;
}

/// The level of a stem in a column; 1 where nothing was separated.
double level(const StemGrowth& growth, std::size_t stem, std::size_t column) {
  const Value options = growth.options();
  const Value& value = options.find("curves")->items().at(stem).find("y")->items().at(column);
  return value.is_null() ? 1 : value.as_real();
}

TEST(StemGrowth, HasTheLevelsOfWhatIsSeparated) {
  StemGrowth growth({"kick", "snare"}, 100);
  EXPECT_TRUE(growth.options().find("curves")->items().empty());
  growth.begin("song.wav", 4000);
  const auto part = stems(0.1F, 0, 2000);
  growth.add(0, 1, 0, {part.data(), 2, 1, 2000});
  EXPECT_NEAR(level(growth, 0, 0), -20, 1e-6);  // a float32 of 0.1
  EXPECT_EQ(level(growth, 1, 199), -80);        // silence
  EXPECT_EQ(level(growth, 0, 200), 1);
  EXPECT_EQ(growth.options().find("x")->find("last")->as_real(), 40);
  EXPECT_EQ(growth.options().find("hint")->as_text(), "song.wav");
}

TEST(StemGrowth, PutsALaterPassInThePlaceOfTheOneBefore) {
  StemGrowth growth({"kick", "snare"}, 100);
  growth.begin("song.wav", 400);
  const auto first = stems(0.1F, 0.1F, 400), second = stems(1, 1, 100);
  growth.add(0, 2, 0, {first.data(), 2, 1, 400});
  growth.add(1, 2, 350, {second.data(), 2, 1, 100});  // 350 to 399, and 0 to 49
  EXPECT_NEAR(level(growth, 0, 0), 0, 1e-6);
  EXPECT_NEAR(level(growth, 0, 50), -20, 1e-6);
  EXPECT_NEAR(level(growth, 0, 399), 0, 1e-6);
  EXPECT_EQ(growth.options().find("hint")->as_text(), "song.wav, pass 2 of 2");
  growth.begin("other.wav", 400);
  EXPECT_EQ(level(growth, 0, 0), 1);
}

}  // namespace
}  // namespace sonde::separate

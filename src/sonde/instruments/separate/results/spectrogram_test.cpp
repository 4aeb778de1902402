// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/results/spectrogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/support/files.h"

#include "sonde/instruments/separate/audio/audio_writer.h"

namespace sonde::separate {
namespace {

/// A tone of 1 kHz in the second half of two seconds, of amplitude 0.5 in both channels.
std::string tone_file(const sonde::testing::TemporaryFolder& folder) {
  std::vector<float> samples(2 * 32000);
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (i % 32000 >= 16000)
      samples[i] = static_cast<float>(0.5 * std::sin(2 * std::numbers::pi * 1000 * static_cast<double>(i) / 16000));
  AudioWriter writer(folder.file("tone.wav"), {.rate = 16000, .channels = 2});
  writer.write({samples.data(), 2, 32000});
  writer.commit();
  return folder.file("tone.wav");
}

TEST(Spectrogram, ShowsAToneWhereItIs) {
  const sonde::testing::TemporaryFolder folder;
  const SpectrogramStyle style{.columns = 20, .bands = 40, .lowest_hz = 50, .highest_hz = 16000};
  const Spectrogram found = spectrogram_of(tone_file(folder), style);
  EXPECT_EQ(found.name, "tone");
  EXPECT_EQ(found.seconds, 2);
  const auto level = [&](Index band, Index column) {
    return found.levels_db[static_cast<std::size_t>(band * 20 + column)];
  };
  // The band of 1000 Hz among 40 between 50 and 8000 Hz, half the rate.
  const auto band = static_cast<Index>(40 * std::log(1000.0 / 50) / std::log(8000.0 / 50));
  EXPECT_NEAR(level(band, 15), 20 * std::log10(0.5), 1.5);  // a bin beside the maximum of the window at most
  EXPECT_LT(level(band - 4, 15), -80);
  EXPECT_LT(level(band, 4), -150);  // silence
}

TEST(Spectrogram, ChartHasAFacetForEachFileOnOneScale) {
  const sonde::testing::TemporaryFolder folder;
  const Spectrogram loud = spectrogram_of(tone_file(folder));
  Spectrogram quiet = loud;
  for (double& each : quiet.levels_db) each -= 20;
  const Chart chart = spectrogram_chart("tones", {loud, quiet});
  ASSERT_EQ(chart.facets.size(), 2u);
  const auto largest = [](const Facet& facet) { return *std::max_element(facet.map->z.begin(), facet.map->z.end()); };
  EXPECT_EQ(largest(chart.facets[0]), 0);
  EXPECT_NEAR(largest(chart.facets[1]), -20, 1e-9);
  EXPECT_EQ(*std::min_element(chart.facets[0].map->z.begin(), chart.facets[0].map->z.end()), -70);
}

}  // namespace
}  // namespace sonde::separate

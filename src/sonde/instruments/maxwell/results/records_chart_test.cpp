// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/results/records_chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace sonde::maxwell {
namespace {

using sonde::testing::error_of;
using ::testing::ElementsAre;

/// Two shots, three receivers of Ey at even steps and one of Hx.
ObservedData line_records() {
  ObservedData made{.title = "a line", .spacing = {0.1, 1, 0.2}, .origin = {0, 0, 10}, .dt = 2e-9, .steps = 2};
  SurveyShot shot;
  shot.sources = {{Component::Ey, {1, 0, 1}}};
  for (const double x : {1.0, 2.0, 3.0}) shot.receivers.push_back({Component::Ey, {2, 0, x}});
  shot.receivers.push_back({Component::Hx, {2.5, 0, 1}});
  made.shots = {shot, shot};
  for (int i = 0; i < 16; ++i) made.samples.push_back(i);
  return made;
}

TEST(RecordsChart, DrawsTheGatherOfAShot) {
  const Chart chart = records_chart(line_records(), {.shot = 1});
  ASSERT_EQ(chart.facets.size(), 1U);
  const HeightMap& map = *chart.facets[0].map;
  EXPECT_THAT(map.x, ElementsAre(10.2, 10.4, 10.6));
  EXPECT_THAT(map.y, ElementsAre(2, 4));  // ns: the first sample of E is at dt
  EXPECT_THAT(map.z, ElementsAre(4, 5, 6, 12, 13, 14));
}

TEST(RecordsChart, CountsTracesThatAreOnNoLine) {
  ObservedData data = line_records();
  data.shots[0].receivers[1].at[0] = 4;
  EXPECT_THAT(records_chart(data, {}).facets.at(0).map->x, ElementsAre(1, 2, 3));
}

TEST(RecordsChart, DrawsOneReceiverOverTime) {
  const Chart chart = records_chart(line_records(), {.receiver = 3});
  ASSERT_EQ(chart.facets.at(0).series.size(), 1U);
  EXPECT_THAT(chart.facets[0].series[0].x,
              ElementsAre(::testing::DoubleEq(1), ::testing::DoubleEq(3)));  // ns: H is half a step earlier
  EXPECT_THAT(chart.facets[0].series[0].y, ElementsAre(3, 11));
  EXPECT_EQ(chart.facets[0].y.unit, "A/m");
}

TEST(RecordsChart, RefusesWhatTheRecordsDoNotHave) {
  const auto error = [](const RecordsChoice& choice) {
    return error_of(ErrorKind::bad_input, [&] { (void)records_chart(line_records(), choice); });
  };
  EXPECT_EQ(error({.shot = 2}), "error: shot 3: the records have 2");
  EXPECT_EQ(error({.receiver = 4}), "error: receiver 5: the records have 4");
  EXPECT_EQ(error({.component = Component::Hz}), "error: shot 1: no receiver of Hz");
}

}  // namespace
}  // namespace sonde::maxwell

// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/results/quality_chart.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sonde/engine/report/json.h"
#include "tests/support/errors.h"

namespace sonde::separate {
namespace {

TEST(QualityChart, HasACurveForEachStemAndOneForTheMixture) {
  const Value summary = parse_json(
      R"({"quality": {"seconds": 2, "consistency_db": [-20, null], "stems": [{"name": "kick",
          "agreement_db_over_time": [12, null], "deviation_db_over_time": [-40, -90]},
          {"name": "snare", "agreement_db_over_time": [3, 4]}]}})",
      "");
  const Chart chart = quality_chart(summary, "separation.json");
  ASSERT_EQ(chart.facets.size(), 3u);
  EXPECT_EQ(chart.facets[0].series.at(0).y, (std::vector<double>{-40, -90}));
  ASSERT_EQ(chart.facets[1].series.size(), 2u);
  const Series& kick = chart.facets[1].series[0];
  EXPECT_EQ(kick.name, "kick");
  EXPECT_EQ(kick.x, (std::vector<double>{1, 3}));
  EXPECT_EQ(kick.y[0], 12);
  EXPECT_TRUE(std::isnan(kick.y[1]));
  EXPECT_EQ(chart.facets[2].series[0].y[0], -20);
}

TEST(QualityChart, RefusesSummariesWithout) {
  EXPECT_EQ(sonde::testing::error_of(ErrorKind::bad_input,
                                     [] { (void)quality_chart(parse_json("{}", ""), "out/separation.json"); }),
            "error: out/separation.json: has no quality of stems; expected a separation.json that has\nhint: separate "
            "again with --quality");
}

}  // namespace
}  // namespace sonde::separate

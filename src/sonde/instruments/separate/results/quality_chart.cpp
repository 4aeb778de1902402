// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/results/quality_chart.h"

#include <limits>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/report/json.h"

namespace sonde::separate {
namespace {

/// Values each of which is of `seconds`, drawn in the middle of them.
Series curve(const std::string& name, const Value* values, double seconds) {
  Series made{.name = name, .mark = Mark::lines};
  if (values == nullptr || !values->is_list()) return made;
  for (const Value& each : values->items()) {
    made.x.push_back((static_cast<double>(made.x.size()) + 0.5) * seconds);
    made.y.push_back(each.is_number() ? each.as_real() : std::numeric_limits<double>::quiet_NaN());
  }
  return made;
}

}  // namespace

Chart quality_chart(const Value& summary, const std::string& path) {
  const Value* const quality = summary.find("quality");
  const Value* const seconds = quality == nullptr ? nullptr : quality->find("seconds");
  const Value* const stems = quality == nullptr ? nullptr : quality->find("stems");
  if (seconds == nullptr || !seconds->is_number() || stems == nullptr || !stems->is_list()) {
    throw Error(ErrorKind::bad_input, path + ": has no quality of stems; expected a separation.json that has")
        .hint("separate again with " + setting("quality"));
  }
  const Axis time{.title = "time", .unit = "s"};
  Facet deviation{.title = "Deviation of single passes", .x = time, .y = {.title = "of full scale", .unit = "dB"}};
  Facet agreement{.title = "Agreement of passes", .x = time, .y = {.title = "stem above deviation", .unit = "dB"}};
  for (const Value& stem : stems->items()) {
    for (auto [facet, key] :
         {std::pair(&deviation, "deviation_db_over_time"), std::pair(&agreement, "agreement_db_over_time")}) {
      Series each = curve(text_at(stem, "name"), stem.find(key), seconds->as_real());
      if (!each.x.empty()) facet->series.push_back(std::move(each));
    }
  }
  Facet consistency{
      .title = "Consistency", .x = time, .y = {.title = "mixture without all stems", .unit = "dB of the mixture"}};
  consistency.series.push_back(curve("", quality->find("consistency_db"), seconds->as_real()));
  Chart chart{.columns = 1};
  for (Facet* each : {&deviation, &agreement}) {
    if (!each->series.empty()) chart.facets.push_back(std::move(*each));
  }
  chart.facets.push_back(std::move(consistency));
  return chart;
}

}  // namespace sonde::separate

// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/results/records_chart.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/maxwell/results/gprmax_result.h"
#include "sonde/instruments/maxwell/results/traces_chart.h"

namespace sonde::maxwell {
namespace {

std::vector<double> samples_of(const ObservedData& data, Index shot, Index receiver) {
  std::vector<double> made;
  const auto shots = static_cast<Index>(data.shots.size());
  for (Index n = 0; n < data.steps; ++n)
    made.push_back(data.samples[static_cast<std::size_t>((n * shots + shot) * data.receivers() + receiver)]);
  return made;
}

/// In m along the axis that they share, where they follow each other at even steps; empty otherwise.
std::vector<double> even_positions(const ObservedData& data, const std::vector<SurveyPoint>& points,
                                   const std::vector<Index>& which) {
  const auto at = [&](std::size_t i, std::size_t a) { return points[static_cast<std::size_t>(which[i])].at[a]; };
  for (const Axis axis : axes_of(data.mode)) {
    const std::size_t a = dimension(axis);
    const double step = at(1, a) - at(0, a);
    bool even = step != 0 && data.spacing[a] > 0;
    for (std::size_t i = 1; i < which.size(); ++i) {
      // A hundredth of a step is not seen in a picture.
      even = even && std::abs(at(i, a) - at(i - 1, a) - step) < 0.01 * std::abs(step);
      for (const Axis other : axes_of(data.mode))
        even = even && (other == axis || at(i, dimension(other)) == at(0, dimension(other)));
    }
    if (!even) continue;
    std::vector<double> made;
    for (std::size_t i = 0; i < which.size(); ++i) made.push_back(data.origin[a] + at(i, a) * data.spacing[a]);
    return made;
  }
  return {};
}

}  // namespace

Chart records_chart(const ObservedData& data, const RecordsChoice& choice) {
  const auto require = [](Index given, Index count, const char* what) {
    if (given < 0 || given >= count)
      throw Error(ErrorKind::bad_input, fmt::format("{} {}: the records have {}", what, given + 1, count));
  };
  require(choice.shot, static_cast<Index>(data.shots.size()), "shot");
  if (choice.receiver) require(*choice.receiver, data.receivers(), "receiver");
  const std::vector<SurveyPoint>& points = data.shots[static_cast<std::size_t>(choice.shot)].receivers;
  const auto component_of = [&](Index r) { return points[static_cast<std::size_t>(r)].component; };
  const Component c = choice.component.value_or(component_of(choice.receiver.value_or(0)));
  std::vector<Index> which;
  for (Index r = 0; r < data.receivers(); ++r)
    if (component_of(r) == c && choice.receiver.value_or(r) == r) which.push_back(r);
  if (which.empty())
    throw Error(ErrorKind::bad_input, fmt::format("shot {}: no receiver of {}", choice.shot + 1, name(c)));
  const std::string title = fmt::format("{}{}shot {}", data.title, data.title.empty() ? "" : ", ", choice.shot + 1);
  const std::string component(name(c));
  if (which.size() == 1)
    return ascan_chart(fmt::format("{}, receiver {}", title, which[0] + 1), data.dt,
                       {{component, unit_of(c), samples_of(data, choice.shot, which[0]), data.start(c)}});
  Line line{.title = title,
            .name = component,
            .unit = unit_of(c),
            .dt = data.dt,
            .start = data.start(c),
            .samples = {},
            .positions = even_positions(data, points, which),
            .traces = static_cast<Index>(which.size())};
  line.samples.resize(static_cast<std::size_t>(data.steps) * which.size());
  for (std::size_t i = 0; i < which.size(); ++i) {
    const std::vector<double> trace = samples_of(data, choice.shot, which[i]);
    for (std::size_t n = 0; n < trace.size(); ++n) line.samples[n * which.size() + i] = trace[n];
  }
  return bscan_chart(line);
}

}  // namespace sonde::maxwell

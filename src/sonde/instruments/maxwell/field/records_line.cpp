// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/field/records_line.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/maxwell/field/gprmax_line.h"

namespace sonde::maxwell {
namespace {

/// In m along the axis that they share, where they follow each other at even steps; empty otherwise.
std::vector<double> shared_axis(const ObservedData& data, const std::vector<SurveyPoint>& points,
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

FieldLine line_of(const ObservedData& data, const RecordsChoice& choice) {
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
  FieldLine line{.format = "sonde records",
                 .title = fmt::format("{}{}shot {}", data.title, data.title.empty() ? "" : ", ", choice.shot + 1),
                 .traces = static_cast<Index>(which.size()),
                 .samples = data.steps,
                 .values = {},
                 .quantity = std::string(name(c)),
                 .unit = unit_of(c),
                 .dt = data.dt,
                 .time_zero = -data.start(c)};
  if (line.traces == 1)
    line.title += fmt::format(", receiver {}", which[0] + 1);
  else
    line.positions = shared_axis(data, points, which);
  const auto shots = static_cast<Index>(data.shots.size());
  for (const Index receiver : which)
    for (Index n = 0; n < data.steps; ++n)
      line.values.push_back(static_cast<float>(
          data.samples[static_cast<std::size_t>((n * shots + choice.shot) * data.receivers() + receiver)]));
  return line;
}

}  // namespace sonde::maxwell

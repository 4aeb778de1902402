// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/field/gprmax_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/instruments/maxwell/field/stored_values.h"

namespace sonde::maxwell {
namespace {

/// Cells as metres, along the axis with the largest of them.
struct Movement {
  std::size_t axis = 0;
  double step = 0;
};

Movement movement_of(const GprmaxOutput& output) {
  Movement made;
  for (std::size_t a = 0; a < 3; ++a) {
    const double step = static_cast<double>(output.rx_steps[a]) * output.spacing[a];
    if (std::abs(step) > std::abs(made.step)) made = {a, step};
  }
  return made;
}

Component strongest_of(const GprmaxOutput::Receiver& receiver) {
  std::optional<Component> strongest;
  double largest = -1;
  for (const auto& [c, samples] : receiver.fields) {
    if (!is_electric(c)) continue;
    for (const double sample : samples)
      if (std::abs(sample) > largest) {
        largest = std::abs(sample);
        strongest = c;
      }
  }
  if (!strongest) throw Error(ErrorKind::bad_input, fmt::format("receiver {} has no component of E", receiver.name));
  return *strongest;
}

Index runs_of(const GprmaxOutput& output) { return std::max<Index>(1, output.runs); }

/// One component of all receivers and runs.
std::vector<double> gathered(const GprmaxOutput& output, Component c) {
  const auto rows = static_cast<std::size_t>(output.iterations * runs_of(output)), receivers = output.receivers.size();
  std::vector<double> made(rows * receivers, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t r = 0; r < receivers; ++r) {
    const auto found = output.receivers[r].fields.find(c);
    if (found == output.receivers[r].fields.end()) continue;
    for (std::size_t i = 0; i < rows; ++i) made[i * receivers + r] = found->second[i];
  }
  return made;
}

template <class Points>
void add_places(Contents& contents, const std::string& of, const Points& points, const XyzIndex& steps,
                const GprmaxOutput& output) {
  std::vector<double> places;
  for (Index run = 0; run < runs_of(output); ++run)
    for (const auto& point : points)
      for (std::size_t a = 0; a < 3; ++a)
        places.push_back(point.position[a] + static_cast<double>(run * steps[a]) * output.spacing[a]);
  const auto count = static_cast<Index>(points.size());
  if (count > 0)
    contents.add(of + "_position", {"run", of, "xyz"}, Array::from(places, {runs_of(output), count, 3})).unit("m");
}

std::vector<double> numbers(const XyzIndex& values) {
  std::vector<double> made;
  for (const Index value : values) made.push_back(static_cast<double>(value));
  return made;
}

}  // namespace

std::string unit_of(Component c) { return is_electric(c) ? "V/m" : "A/m"; }

FieldLine line_of(const GprmaxOutput& output, const TracesChoice& choice) {
  if (choice.receiver < 0 || choice.receiver >= static_cast<Index>(output.receivers.size()))
    throw Error(ErrorKind::bad_input,
                fmt::format("receiver {}: the file has {}", choice.receiver + 1, output.receivers.size()));
  const GprmaxOutput::Receiver& receiver = output.receivers[static_cast<std::size_t>(choice.receiver)];
  const Component component = choice.component ? *choice.component : strongest_of(receiver);
  const auto found = receiver.fields.find(component);
  if (found == receiver.fields.end())
    throw Error(ErrorKind::bad_input, fmt::format("receiver {} has no {}", receiver.name, name(component)));
  FieldLine line{.format = "gprMax",
                 .title = output.title.empty() ? receiver.name : output.title,
                 .traces = runs_of(output),
                 .samples = output.iterations,
                 .values = {},
                 .quantity = std::string(name(component)),
                 .unit = unit_of(component),
                 .dt = output.dt,
                 .time_zero = is_electric(component) ? 0 : output.dt / 2};
  for (Index i = 0; i < line.traces; ++i)
    for (Index n = 0; n < line.samples; ++n)
      line.values.push_back(static_cast<float>(found->second[static_cast<std::size_t>(n * line.traces + i)]));
  const Movement movement = movement_of(output);
  double first = receiver.position[movement.axis];
  if (output.sources.size() == 1) {
    const Xyz& source = output.sources.front().position;
    first = (first + source[movement.axis]) / 2;
    line.separation = std::hypot(receiver.position[0] - source[0], receiver.position[1] - source[1],
                                 receiver.position[2] - source[2]);
  }
  for (Index i = 0; movement.step != 0 && i < output.runs; ++i)
    line.positions.push_back(first + static_cast<double>(i) * movement.step);
  return line;
}

Contents traces_contents(const GprmaxOutput& output) {
  Contents contents;
  contents.attribute("schema", std::string(traces_schema));
  contents.attribute("title", output.title);
  contents.attribute("dt", output.dt);
  contents.attribute("cells", numbers(output.cells));
  contents.attribute("spacing", std::vector<double>(output.spacing.begin(), output.spacing.end()));
  contents.attribute("src_steps", numbers(output.src_steps));
  contents.attribute("rx_steps", numbers(output.rx_steps));
  std::vector<std::string> receivers, sources;
  for (const auto& receiver : output.receivers) receivers.push_back(receiver.name);
  for (const auto& source : output.sources) sources.push_back(source.type);
  contents.attribute("receivers", fmt::format("{}", fmt::join(receivers, "\n")));
  contents.attribute("sources", fmt::format("{}", fmt::join(sources, "\n")));
  std::vector<double> time(static_cast<std::size_t>(output.iterations));
  for (std::size_t n = 0; n < time.size(); ++n) time[n] = static_cast<double>(n) * output.dt;
  contents.add("time", {"time"}, Array::from(time, {output.iterations})).unit("s");
  const auto count = static_cast<Index>(output.receivers.size());
  for (const Component c : all_components) {
    const bool anywhere = std::any_of(output.receivers.begin(), output.receivers.end(),
                                      [&](const auto& receiver) { return receiver.fields.contains(c); });
    if (anywhere)
      contents
          .add(std::string(name(c)), {"time", "run", "receiver"},
               Array::from(gathered(output, c), {output.iterations, runs_of(output), count}))
          .unit(unit_of(c));
  }
  add_places(contents, "receiver", output.receivers, output.rx_steps, output);
  add_places(contents, "source", output.sources, output.src_steps, output);
  return contents;
}

GprmaxOutput read_traces(const std::string& path) {
  const StoredValues stored(path, traces_schema);
  GprmaxOutput made{.title = stored.text("title"), .dt = stored.above_zero("dt")};
  const auto triple = [&](const std::string& name) {
    const std::vector<double> values = stored.numbers(name, 3);
    return Xyz{values[0], values[1], values[2]};
  };
  const auto whole = [&](const std::string& name) {
    XyzIndex cells{};
    const Xyz values = triple(name);
    for (std::size_t a = 0; a < 3; ++a) {
      if (!(std::abs(values[a]) < 1e9)) throw stored.bad(fmt::format("{} = {:g}; expected cells", name, values[a]));
      cells[a] = static_cast<Index>(std::llround(values[a]));
    }
    return cells;
  };
  made.cells = whole("cells");
  made.spacing = triple("spacing");
  made.src_steps = whole("src_steps");
  made.rx_steps = whole("rx_steps");
  const auto places = [&](const std::string& of) {
    std::vector<Xyz> found;
    if (!stored.has(of + "_position")) return found;
    const NumberArray array = stored.array(of + "_position", 3);
    if (array.shape[0] < 1 || array.shape[2] != 3)
      throw stored.bad(fmt::format("{}_position is {}; expected (runs, {}s, 3)", of, array.shape.text(), of));
    for (Index i = 0; i < array.shape[1]; ++i) {
      const double* first = array.values.data() + 3 * i;
      found.push_back({first[0], first[1], first[2]});
    }
    return found;
  };
  const auto named = [](std::vector<std::string> names, std::size_t count) {
    names.resize(count);
    return names;
  };
  const std::vector<Xyz> from = places("source"), at = places("receiver");
  const auto types = named(stored.lines("sources"), from.size()), names = named(stored.lines("receivers"), at.size());
  for (std::size_t s = 0; s < from.size(); ++s) made.sources.push_back({types[s], from[s]});
  for (std::size_t r = 0; r < at.size(); ++r) made.receivers.push_back({names[r], at[r], {}});
  const std::size_t receivers = at.size();
  made.iterations = stored.array("time", 1).shape[0];
  for (const Component c : all_components) {
    if (!stored.has(std::string(name(c)))) continue;
    const NumberArray array = stored.array(std::string(name(c)), 3);
    const Shape expected{made.iterations, array.shape[1], static_cast<Index>(receivers)};
    if (array.shape != expected || array.shape.count() == 0 || (made.runs != 0 && array.shape[1] != made.runs))
      throw stored.bad(fmt::format("{} is {}; expected {}", name(c), array.shape.text(), expected.text()));
    made.runs = array.shape[1];
    for (std::size_t r = 0; r < receivers; ++r) {
      std::vector<double> samples;
      for (std::size_t i = r; i < array.values.size(); i += receivers) samples.push_back(array.values[i]);
      const bool absent = std::all_of(samples.begin(), samples.end(), [](double value) { return std::isnan(value); });
      if (!absent) made.receivers[r].fields[c] = std::move(samples);
    }
  }
  if (made.runs == 1) made.runs = 0;
  return made;
}

}  // namespace sonde::maxwell

// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/results/gprmax_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sonde/engine/base/error.h"

namespace sonde::maxwell {
namespace {

const std::vector<double>* samples_of(const std::vector<GprmaxTrace>& traces, Component c) {
  for (const GprmaxTrace& trace : traces)
    if (trace.component == c) return &trace.samples;
  return nullptr;
}

/// One component of all receivers and runs.
std::vector<double> gathered(const std::vector<GprmaxRecord>& records, Component c, std::size_t iterations) {
  const std::size_t receivers = records.front().traces.size();
  std::vector<double> made(iterations * records.size() * receivers, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t run = 0; run < records.size(); ++run)
    for (std::size_t r = 0; r < receivers; ++r)
      if (const auto* samples = samples_of(records[run].traces[r], c))
        for (std::size_t n = 0; n < iterations; ++n) made[(n * records.size() + run) * receivers + r] = (*samples)[n];
  return made;
}

template <class Points>
void add_places(Contents& contents, const std::string& name, const std::string& of,
                const std::vector<GprmaxRecord>& records, Points points) {
  std::vector<double> places;
  for (const GprmaxRecord& record : records)
    for (const auto& point : points(record)) places.insert(places.end(), point.position.begin(), point.position.end());
  const auto runs = static_cast<Index>(records.size());
  const Index count = static_cast<Index>(places.size()) / runs / 3;
  if (count > 0) contents.add(name, {"run", of, "xyz"}, Array::from(places, {runs, count, 3})).unit("m");
}

/// Where a line's traces are, along the axis that moves most; empty where nothing moves.
std::vector<double> positions_of(const GprmaxOutput& output, const Xyz& first) {
  std::size_t axis = 0;
  Xyz step{};
  for (std::size_t a = 0; a < 3; ++a) {
    step[a] = static_cast<double>(output.rx_steps[a]) * output.spacing[a];
    if (std::abs(step[a]) > std::abs(step[axis])) axis = a;
  }
  std::vector<double> made;
  for (Index i = 0; step[axis] != 0 && i < output.runs; ++i)
    made.push_back(first[axis] + static_cast<double>(i) * step[axis]);
  return made;
}

const std::vector<double>& chosen_field(const GprmaxOutput::Receiver& receiver, std::optional<Component>& component) {
  if (component) {
    const auto found = receiver.fields.find(*component);
    if (found == receiver.fields.end())
      throw Error(ErrorKind::bad_input, fmt::format("receiver {} has no {}", receiver.name, name(*component)));
    return found->second;
  }
  double largest = -1;
  for (const auto& [c, samples] : receiver.fields) {
    if (!is_electric(c)) continue;
    for (const double sample : samples)
      if (std::abs(sample) > largest) {
        largest = std::abs(sample);
        component = c;
      }
  }
  if (!component) throw Error(ErrorKind::bad_input, fmt::format("receiver {} has no component of E", receiver.name));
  return receiver.fields.at(*component);
}

}  // namespace

Chart traces_chart(const GprmaxOutput& output, const TracesChoice& choice) {
  if (choice.receiver < 0 || choice.receiver >= static_cast<Index>(output.receivers.size()))
    throw Error(ErrorKind::bad_input,
                fmt::format("receiver {}: the file has {}", choice.receiver + 1, output.receivers.size()));
  const GprmaxOutput::Receiver& receiver = output.receivers[static_cast<std::size_t>(choice.receiver)];
  const std::string title = output.title.empty() ? receiver.name : output.title;
  std::optional<Component> component = choice.component;
  if (output.runs > 0) {
    const std::vector<double>& samples = chosen_field(receiver, component);
    return bscan_chart({.title = title,
                        .name = std::string(name(*component)),
                        .unit = unit_of(*component),
                        .dt = output.dt,
                        .samples = samples,
                        .positions = positions_of(output, receiver.position),
                        .traces = output.runs});
  }
  std::vector<NamedTrace> traces;
  if (component) (void)chosen_field(receiver, component);
  const auto is_zero = [](double sample) { return sample == 0; };
  for (const auto& [c, samples] : receiver.fields)  // in two dimensions half of the components are zero
    if (component ? c == *component : !std::all_of(samples.begin(), samples.end(), is_zero))
      traces.push_back({std::string(name(c)), unit_of(c), samples});
  if (traces.empty())
    throw Error(ErrorKind::bad_input, fmt::format("receiver {}: every sample is zero", receiver.name));
  return ascan_chart(title, output.dt, traces);
}

std::string unit_of(Component c) { return is_electric(c) ? "V/m" : "A/m"; }

GprmaxOutput gprmax_output(const GprmaxRun& run, const GprmaxRecord& record) {
  GprmaxOutput made = empty_output(run.model(), record.acquisition);
  for (std::size_t r = 0; r < made.receivers.size(); ++r)
    for (const GprmaxTrace& trace : record.traces[r]) made.receivers[r].fields[trace.component] = trace.samples;
  return made;
}

Contents result_contents(const GprmaxRun& run, const std::vector<GprmaxRecord>& records) {
  const GprmaxModel& model = run.model();
  const auto iterations = static_cast<std::size_t>(model.iterations);
  Contents contents;
  contents.attribute("schema", std::string("sonde.maxwell.traces/1"));
  contents.attribute("title", model.title);
  std::vector<double> time(iterations);
  for (std::size_t n = 0; n < iterations; ++n) time[n] = static_cast<double>(n) * model.dt;
  contents.add("time", {"time"}, Array::from(time, {model.iterations})).unit("s");
  const auto runs = static_cast<Index>(records.size());
  const auto receivers = static_cast<Index>(records.front().traces.size());
  for (const Component c : all_components) {
    const bool anywhere = std::any_of(records.front().traces.begin(), records.front().traces.end(),
                                      [&](const auto& traces) { return samples_of(traces, c) != nullptr; });
    if (!anywhere) continue;
    contents
        .add(std::string(name(c)), {"time", "run", "receiver"},
             Array::from(gathered(records, c, iterations), {model.iterations, runs, receivers}))
        .unit(unit_of(c));
  }
  add_places(contents, "receiver_position", "receiver", records,
             [&](const GprmaxRecord& record) { return empty_output(model, record.acquisition).receivers; });
  add_places(contents, "source_position", "source", records,
             [&](const GprmaxRecord& record) { return empty_output(model, record.acquisition).sources; });
  return contents;
}

}  // namespace sonde::maxwell

// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/results/gprmax_result.h"

#include <fmt/format.h>

#include <algorithm>

#include "sonde/engine/base/error.h"

namespace sonde::maxwell {
Chart traces_chart(const GprmaxOutput& output, const TracesChoice& choice) {
  if (choice.receiver < 0 || choice.receiver >= static_cast<Index>(output.receivers.size()))
    throw Error(ErrorKind::bad_input,
                fmt::format("receiver {}: the file has {}", choice.receiver + 1, output.receivers.size()));
  if (output.runs > 0) return bscan_chart(line_of(output, choice));
  if (choice.component) (void)line_of(output, choice);
  const GprmaxOutput::Receiver& receiver = output.receivers[static_cast<std::size_t>(choice.receiver)];
  std::vector<NamedTrace> traces;
  const auto is_zero = [](double sample) { return sample == 0; };
  for (const auto& [c, samples] : receiver.fields)  // in two dimensions half of the components are zero
    if (choice.component ? c == *choice.component : !std::all_of(samples.begin(), samples.end(), is_zero))
      traces.push_back({std::string(name(c)), unit_of(c), samples});
  if (traces.empty())
    throw Error(ErrorKind::bad_input, fmt::format("receiver {}: every sample is zero", receiver.name));
  return ascan_chart(output.title.empty() ? receiver.name : output.title, output.dt, traces);
}

GprmaxOutput gprmax_output(const GprmaxRun& run, const GprmaxRecord& record) {
  GprmaxOutput made = empty_output(run.model(), record.acquisition);
  for (std::size_t r = 0; r < made.receivers.size(); ++r)
    for (const GprmaxTrace& trace : record.traces[r]) made.receivers[r].fields[trace.component] = trace.samples;
  return made;
}

Contents result_contents(const GprmaxRun& run, const std::vector<GprmaxRecord>& records) {
  std::vector<GprmaxOutput> outputs;
  for (const GprmaxRecord& record : records) outputs.push_back(gprmax_output(run, record));
  return traces_contents(merged(outputs));
}

}  // namespace sonde::maxwell

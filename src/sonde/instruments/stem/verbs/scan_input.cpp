// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/verbs/scan_input.h"

#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/load/in_place.h"
#include "sonde/instruments/stem/load/survey.h"

namespace sonde::stem {
std::vector<std::string> scans_of(const std::vector<std::string>& inputs, const SeriesOptions& series, const Run& run) {
  for (const std::string& input : inputs) {
    if (!run.array(input)) continue;
    if (inputs.size() > 1)
      throw Error(ErrorKind::usage, "an array is one input of several").hint("give it by itself; a series is of files");
    return inputs;
  }
  return find_scans(inputs, series);
}

std::unique_ptr<Source> open_input(const std::string& input, const LoadOptions& options, Run& run) {
  if (const std::shared_ptr<const Array> array = run.array(input)) return open_array(alias(array), input, options);
  return open_scan(input, options, run.budget());
}

Dataset load_input(const std::string& input, const LoadOptions& options, Run& run, std::span<Operation* const> beside) {
  if (!run.array(input)) return load(input, options, run.budget(), run.device(), beside);
  return load(open_input(input, options, run), options, run.budget(), run.device(), beside);
}

LoadPreview preview_input(const std::string& input, const LoadOptions& options, Run& run) {
  return preview_load(open_input(input, options, run), options, run.budget());
}

}  // namespace sonde::stem

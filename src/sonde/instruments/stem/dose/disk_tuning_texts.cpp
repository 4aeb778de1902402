// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "sonde/engine/base/setting.h"
#include "sonde/instruments/stem/dose/disk_tuning.h"

namespace sonde::stem {

std::string DiskTuning::repeat() const {
  std::string text;
  for (const TunedSetting& of : settings) {
    const std::string& value = of.trials[of.chosen].value;
    if (value == "auto") continue;
    text += (text.empty() ? "" : " ") + setting(of.key, value);
  }
  return text;
}

std::vector<std::string> DiskTuning::lines() const {
  std::vector<std::string> lines;
  lines.push_back(fmt::format(
      "tuning    {} patterns, {} with a lattice; their counts allow an error of strain of {:.2e} at each position",
      patterns, with_lattice, bound));
  lines.push_back("value                     error   over bound   disks   spurious   missed   no lattice");
  for (const TunedSetting& of : settings) {
    lines.push_back(setting(of.key));
    for (std::size_t i = 0; i < of.trials.size(); ++i) {
      const TuningTrial& trial = of.trials[i];
      const std::string precision =
          std::isnan(trial.over_bound)
              ? fmt::format("{:>9}   {:>10}", "-", "-")
              : fmt::format("{:>9.2e}   {:>10.2f}", trial.over_bound * bound, trial.over_bound);
      lines.push_back(fmt::format("  {} {:<16}   {}   {:>5}   {:>8}   {:>6}   {:>10}", i == of.chosen ? '*' : ' ',
                                  trial.value, precision, trial.detections, trial.spurious, trial.missed,
                                  trial.without));
    }
  }
  for (const TunedSetting& of : settings)
    lines.push_back(fmt::format("chosen    {} ({})", setting(of.key, of.trials[of.chosen].value), of.because));
  lines.push_back("use       " + repeat());
  return lines;
}

Value DiskTuning::to_value() const {
  Value value;
  value["patterns"] = patterns;
  value["patterns_with_lattice"] = with_lattice;
  value["bound"] = bound;
  for (const TunedSetting& of : settings) {
    Value one;
    for (const TuningTrial& trial : of.trials) {
      Value row;
      row["detections"] = trial.detections;
      row["spurious"] = trial.spurious;
      row["missed"] = trial.missed;
      row["patterns_without_lattice"] = trial.without;
      if (!std::isnan(trial.over_bound)) {
        row["error"] = trial.over_bound * bound;
        row["over_bound"] = trial.over_bound;
      }
      one["values"][trial.value] = row;
    }
    one["before"] = of.trials[of.before].value;
    one["chosen"] = of.trials[of.chosen].value;
    one["because"] = of.because;
    value["settings"][of.key] = one;
  }
  value["over_bound"] = over_bound();
  value["options"] = repeat();
  value["warnings"] = warnings;
  return value;
}

}  // namespace sonde::stem

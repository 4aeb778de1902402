// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/sweep/trials.h"

#include <fmt/format.h>

#include <cmath>

#include "sonde/engine/math/random.h"

namespace sonde::ptycho {
namespace {

/// The value at `place` from 0 to 1 of a range.
std::string value_at(const Variation& variation, double place) {
  const double value = variation.log ? variation.low * std::pow(variation.high / variation.low, place)
                                     : variation.low + place * (variation.high - variation.low);
  return fmt::format("{:.6g}", value);
}

std::vector<std::string> values_of(const Variation& variation) {
  if (!variation.values.empty()) return variation.values;
  std::vector<std::string> values;
  for (Index i = 0; i < variation.steps; ++i)
    values.push_back(value_at(
        variation, variation.steps == 1 ? 0.5 : static_cast<double>(i) / static_cast<double>(variation.steps - 1)));
  return values;
}

}  // namespace

std::string Trial::text() const {
  std::string text;
  for (const auto& [setting, value] : settings) text += (text.empty() ? "" : " ") + setting + "=" + value;
  return text;
}

std::vector<Trial> grid_trials(const std::vector<Variation>& variations) {
  std::vector<Trial> trials(1);
  for (const Variation& variation : variations) {
    std::vector<Trial> more;
    for (const Trial& trial : trials)
      for (const std::string& value : values_of(variation)) {
        more.push_back(trial);
        more.back().settings.emplace_back(variation.setting, value);
      }
    trials = std::move(more);
  }
  return trials;
}

std::vector<Trial> random_trials(const std::vector<Variation>& variations, Index count, std::uint64_t seed) {
  std::vector<Trial> trials;
  for (Index i = 0; i < count; ++i) {
    Random random(seed, static_cast<std::uint64_t>(i));
    Trial& trial = trials.emplace_back();
    for (const Variation& variation : variations) {
      const double place = random.uniform();
      const auto number = static_cast<double>(variation.values.size());
      trial.settings.emplace_back(variation.setting, variation.values.empty()
                                                         ? value_at(variation, place)
                                                         : variation.values[static_cast<std::size_t>(place * number)]);
    }
  }
  return trials;
}

std::vector<Round> halving_rounds(Index trials, Index first, Index keep_one_of, Index total) {
  std::vector<Round> rounds;
  for (Index until = first; trials > 1 && until < total; until *= keep_one_of) {
    rounds.push_back({trials, until});
    trials = (trials + keep_one_of - 1) / keep_one_of;
  }
  rounds.push_back({trials, std::nullopt});
  return rounds;
}

}  // namespace sonde::ptycho

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde::ptycho {

/// A setting of the run file ("probe.defocus_A", "engine.0.batch") and what it may be: one of a list of values, or
/// anything between two numbers.
struct Variation {
  std::string setting;
  std::vector<std::string> values{};  ///< empty: the range
  double low = 0, high = 1;
  Index steps = 5;   ///< of a range in a grid, both ends included
  bool log = false;  ///< even in its logarithm
};

/// Settings that are tried together: (setting, value as a run file writes it).
struct Trial {
  std::vector<std::pair<std::string, std::string>> settings{};

  /// "probe.defocus_A=150 engine.0.batch=32".
  [[nodiscard]] std::string text() const;
};

/// Every combination, the last variation fastest.
[[nodiscard]] std::vector<Trial> grid_trials(const std::vector<Variation>& variations);
/// Drawn independently, evenly over lists and ranges; trial i is the same however many are drawn.
[[nodiscard]] std::vector<Trial> random_trials(const std::vector<Variation>& variations, Index count,
                                               std::uint64_t seed);

/// One round of a sweep: the best `trials` of the round before go on to this iteration; no value: to their end.
struct Round {
  Index trials = 0;
  std::optional<Index> until{};
};

/// Successive halving (Jamieson and Talwalkar 2016): all trials get `first` iterations, then one of `keep_one_of` goes
/// on to `keep_one_of` times as many, and so on, until one is left or `total` iterations are reached.
[[nodiscard]] std::vector<Round> halving_rounds(Index trials, Index first, Index keep_one_of, Index total);

}  // namespace sonde::ptycho

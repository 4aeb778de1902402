// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sonde/engine/options/tables.h"
#include "sonde/instruments/ptycho/sweep/trials.h"

namespace sonde::ptycho {

enum class Draw { grid, random };

/// [sweep]: what is varied how often.
struct SweepSettings {
  std::string run;               ///< the run file
  std::string output = "sweep";  ///< folder
  Draw draw = Draw::grid;
  Index trials = 20, seed = 1;
  bool halving = false;
  Index first = 10, keep_one_of = 3;
  Index at_once = 0;  ///< 0: as many as there are threads and memory

  void describe(Fields& fields);
};

/// A sweep file: [sweep], and a [[vary]] for every setting that is tried, of kind "values" or "range".
///
///   [sweep]
///   run = "recon.toml"
///   [[vary]]
///   name = "range"
///   setting = "probe.defocus_A"
///   low = 100
///   high = 200
class SweepFile {
 public:
  SweepFile();
  SweepFile(const SweepFile&) = delete;
  SweepFile& operator=(const SweepFile&) = delete;

  SweepSettings sweep;

  /// Relative paths start at the file's folder. Throws like read_toml().
  void read(const std::string& path);
  void parse(std::string_view text, const std::string& name);

  [[nodiscard]] const Tables& tables() const { return tables_; }
  /// All of them. Throws Error(bad_input) when nothing is varied, a setting twice or none, a range is no range, and for
  /// settings that decide which data are read: those of [data] but holdout, compute.precision, and what is written.
  [[nodiscard]] std::vector<Trial> trials() const;
  [[nodiscard]] std::vector<std::string> settings() const;
  /// For a schedule of `total` iterations: one round to the end unless halving is asked for.
  [[nodiscard]] std::vector<Round> rounds(Index total) const;

 private:
  Tables tables_;
  std::vector<std::unique_ptr<Variation>> variations_;
};

}  // namespace sonde::ptycho

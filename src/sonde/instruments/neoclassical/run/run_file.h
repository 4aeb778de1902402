// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/options/tables.h"
#include "sonde/instruments/neoclassical/read/surface_options.h"
#include "sonde/instruments/neoclassical/run/field_axis.h"
#include "sonde/instruments/neoclassical/run/settings.h"

namespace sonde::neoclassical {

/// A run file: tables [surface], [grid], [case] or [scan], [solver], [output] and [logging], as those of NTX.
///
///   RunFile run;
///   run.read("run.toml");
///   run.tables().assign_text("grid.n_xi=100");
class RunFile {
 public:
  RunFile();
  RunFile(const RunFile&) = delete;
  RunFile& operator=(const RunFile&) = delete;

  SurfaceOptions surface;
  GridSettings grid;
  CaseSettings at;  ///< [case]
  ScanSettings scan;
  SolverSettings solver;
  OutputSettings output;
  LoggingSettings logging;

  /// Reads a file; relative paths in it start at its folder from then on. Throws like read_toml().
  void read(const std::string& path);
  /// The same from text; paths stay as they are.
  void parse(std::string_view text, const std::string& name);

  [[nodiscard]] Tables& tables() { return tables_; }
  [[nodiscard]] const Tables& tables() const { return tables_; }
  /// The resolved settings as the text of a run file: reading it repeats the run.
  [[nodiscard]] std::string text() const;

  /// The electric field of [case]: none is 0. Throws Error(bad_input) when it is given in two ways.
  [[nodiscard]] FieldAxis case_field() const;
  /// nu_hat of [case]. Throws Error(bad_input) when there is none or it is not above zero.
  [[nodiscard]] double case_nu() const;
  /// The same of [scan]. Throws Error(usage) for what is no list of numbers.
  [[nodiscard]] FieldAxis scan_field() const;
  [[nodiscard]] std::vector<double> scan_nu() const;
  /// rho of [scan], or what [surface] says. Empty for a file of one surface.
  [[nodiscard]] std::vector<double> scan_rho() const;

 private:
  Tables tables_;
};

/// The reference page of the run file: every table and key.
[[nodiscard]] std::string run_file_reference();

}  // namespace sonde::neoclassical

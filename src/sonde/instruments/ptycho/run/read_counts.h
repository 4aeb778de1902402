// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sonde/instruments/ptycho/model/measurement.h"
#include "sonde/instruments/ptycho/read/source.h"
#include "sonde/instruments/ptycho/run/job_plan.h"
#include "sonde/instruments/ptycho/run/run_file.h"

namespace sonde::ptycho {

/// The counts of a scan, which jobs on one [data] share; several threads read them.
struct Counts {
  std::shared_ptr<const Measurement> measurement;
  Array mean;                                ///< f64 (rows, columns): the mean pattern
  std::vector<Index> skip;                   ///< frames that take no part, ascending
  double counts_per_unit = 1;                ///< of the values; 0: not known
  std::vector<std::string> notes, warnings;  ///< what was found while reading
};

/// Reads them as the plan says. Throws like load_counts(). With several processes all must ask.
[[nodiscard]] std::shared_ptr<const Counts> read_counts(const RunFile& run, const Source& source, const JobPlan& plan);

}  // namespace sonde::ptycho

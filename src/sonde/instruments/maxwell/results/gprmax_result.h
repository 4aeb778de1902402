// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/io/contents.h"
#include "sonde/instruments/maxwell/field/gprmax_line.h"
#include "sonde/instruments/maxwell/read/gprmax_output.h"
#include "sonde/instruments/maxwell/results/traces_chart.h"
#include "sonde/instruments/maxwell/run/gprmax_run.h"

namespace sonde::maxwell {

/// One run as a file of gprMax.
[[nodiscard]] GprmaxOutput gprmax_output(const GprmaxRun& run, const GprmaxRecord& record);

/// All runs as arrays (traces_contents()), in the precision of the run.
[[nodiscard]] Contents result_contents(const GprmaxRun& run, const std::vector<GprmaxRecord>& records);

/// An A-scan of one run, a B-scan of a merged file. Components that are zero are left out of an A-scan unless they
/// are asked for. Throws Error(bad_input) for a receiver or component that the file does not have, and where every
/// sample is zero.
[[nodiscard]] Chart traces_chart(const GprmaxOutput& output, const TracesChoice& choice);

}  // namespace sonde::maxwell

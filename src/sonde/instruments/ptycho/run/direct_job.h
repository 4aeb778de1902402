// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sonde/instruments/ptycho/direct/direct.h"
#include "sonde/instruments/ptycho/read/scan.h"
#include "sonde/instruments/ptycho/read/source.h"
#include "sonde/instruments/ptycho/results/result.h"
#include "sonde/instruments/ptycho/run/job.h"
#include "sonde/instruments/ptycho/run/memory_plan.h"
#include "sonde/instruments/ptycho/run/run_file.h"

namespace sonde::ptycho {

/// A one-shot reconstruction as a run file describes it, known before a count is read.
struct DirectPlan {
  DirectMethod method = DirectMethod::ssb;
  Scan scan;
  ScanLattice lattice;
  KnownLens lens;
  DirectSettings settings;
  Index images = 0;  ///< pixels of the bright-field disk
  MemoryPlan memory;
};

/// Throws like plan_scan() and scan_lattice(), Error(not_supported) without energy and angles, Error(bad_input) without
/// a semiangle.
[[nodiscard]] DirectPlan plan_direct(const RunFile& run, const Source& source, DirectMethod method);

/// What came out.
struct DirectOutcome {
  DirectImage image;
  std::vector<std::string> notes, warnings;
  bool measured_probe = false;  ///< the measurement brings a probe, which a run prefers to one made of an aperture
  /// As a result file: exp(i phi / slices) on the object's pixels, the probe of the lens that was found with the mean
  /// counts of a frame, and positions turned by the rotation that was found.
  Result result;
};
[[nodiscard]] DirectOutcome run_direct(const RunFile& run, const Source& source, DirectPlan plan);

/// The method that object.init asks for; nothing for every other beginning.
[[nodiscard]] std::optional<DirectMethod> direct_start(const RunFile& run);
/// Settings of the one-shot reconstruction that suit a beginning, where the run file says nothing: the strength of
/// weakened frequencies is made right, too.
void prefer_right_strengths(RunFile& run);
/// Puts the geometry that was found into the settings of a run: the scan has the rotation, and a probe that is made of
/// an aperture the aberrations of the fit.
void take_geometry(const DirectOutcome& outcome, RunFile& run);
/// The same, and the object starts from the file `start`.
void start_from(const DirectOutcome& outcome, const std::string& start, RunFile& run);
/// Begins a run by the one-shot reconstruction that it asks for, without a file: does it, within the host budget of
/// `resources`, takes the geometry that was found, and plans the run with that and with the object in `direct`.
[[nodiscard]] JobPlan begin_directly(RunFile& run, const Source& source, const Resources& resources);

}  // namespace sonde::ptycho

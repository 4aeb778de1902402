// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>

#include "sonde/engine/run/run.h"
#include "sonde/instruments/stem/bragg/bragg_vectors.h"
#include "sonde/instruments/stem/bragg/probe.h"
#include "sonde/instruments/stem/load/dataset.h"

namespace sonde::stem {

/// Whether an input is a scan, in which disks have to be found, and not a file of Bragg disks.
[[nodiscard]] bool is_scan(const std::string& input, const Run& run);

/// What verbs whose input is a scan or the file of its disks ask beside it: a file whose calibration comes before what
/// either states.
void describe_calibration(std::string& calibration, Fields& fields);

/// Reports what finding the disks of a scan will need: frames are read twice, and none is held.
void plan_scan_disks(const std::string& input, const std::string& calibration, Run& run);

/// The Bragg disks of an input, and where they come from.
struct FoundDisks {
  BraggVectors vectors;
  std::optional<Dataset> dataset;  ///< of a scan
  Probe probe;                     ///< they were found with
};
/// The same as disks_of(), with the scan.
[[nodiscard]] FoundDisks found_disks_of(const std::string& input, const std::string& calibration,
                                        std::span<const std::string> outputs, Run& run);

/// The patterns of a scan, loaded as for its disks, which is reported; nothing on a dry run, which reports the plan.
[[nodiscard]] std::optional<Dataset> patterns_of(const std::string& input, const std::string& calibration,
                                                 std::span<const std::string> outputs, Run& run);

/// The Bragg disks of an input: of a file of them, or found in a scan with the defaults of `sonde stem bragg`, which
/// are reported; with the steps of the file `calibration`, if there is one. Throws Error(usage) for an output that is a
/// part of the scan, and what reading and finding throw.
[[nodiscard]] BraggVectors disks_of(const std::string& input, const std::string& calibration,
                                    std::span<const std::string> outputs, Run& run);

}  // namespace sonde::stem

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/base/choice.h"
#include "sonde/instruments/ptycho/read/scan.h"
#include "sonde/instruments/ptycho/read/source.h"
#include "sonde/instruments/ptycho/read/start_values.h"
#include "sonde/instruments/ptycho/reconstruct/reconstruction.h"
#include "sonde/instruments/ptycho/run/memory_plan.h"
#include "sonde/instruments/ptycho/run/run_file.h"
#include "sonde/instruments/ptycho/scan/spacing.h"

namespace sonde::ptycho {

/// What a run will do, known before a count is read.
struct JobPlan {
  Scan scan;
  ObjectExtent extent;  ///< size of the object, and what is added to positions so that they lie inside
  RunSizes sizes;
  MemoryPlan memory;
  Spacing spacing;                                ///< of the positions of frames that take part, object pixels
  std::vector<std::string> warnings;              ///< of the file, the settings and the positions
  std::optional<Device> kernels{};                ///< the GPU whose kernels compute; unset: the CPU's threads do
  PatternTier patterns = PatternTier::device;     ///< where they wait for kernels
  GroupLimits groups{};                           ///< of those that kernels have in flight
  std::string storage_because;                    ///< storage, tiers and batches in one sentence
  std::optional<Choice<Index>> starts_at_once{};  ///< of [multi_start], where there are several
  TierBudgets budgets = TierBudgets::unlimited();
  std::shared_ptr<Share> share;               ///< this process's part of the scan, when there are several
  std::shared_ptr<const KnownObject> direct;  ///< what a one-shot reconstruction has found, where a run begins by it
};

/// What a run may use. Without budgets everything is kept in memory, whatever it holds.
struct Resources {
  std::optional<TierBudgets> budgets{};  ///< of this process
  Ranks ranks = Ranks::alone();
  bool kernels = false;  ///< a GPU's compute, which keeps exit waves itself
};

/// Whether the data file has a probe of the size that patterns are fitted to.
[[nodiscard]] bool carries_probe(const Source& source, const Scan& scan);

/// The first probe as far as it is known without counts: nothing when it comes from the mean pattern. Its power is 1.
[[nodiscard]] std::optional<Array> probe_without_counts(const RunFile& run, const Source& source, const JobPlan& plan);

/// What is doubtful before counts are read: in the source, in what settings say of it, and in the positions of a scan.
[[nodiscard]] std::vector<std::string> scan_warnings(const RunFile& run, const Source& source, const Scan& scan,
                                                     const Spacing& spacing, const ObjectExtent& extent);

/// Throws like plan_scan(), and for settings that do not fit each other.
[[nodiscard]] JobPlan plan_job(const RunFile& run, const Source& source, const Resources& resources = {});

}  // namespace sonde::ptycho

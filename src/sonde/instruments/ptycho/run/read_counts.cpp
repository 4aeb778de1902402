// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/run/read_counts.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "sonde/instruments/ptycho/read/frames.h"

namespace sonde::ptycho {
namespace {

/// What the processes have read becomes known to all: frames to skip, mean counts, the mean pattern.
void join_counts(const Share& share, Scan& scan, LoadedCounts& counts) {
  std::vector<std::int64_t> skipped(scan.positions.size(), 0);
  for (const Index frame : scan.skip) skipped[static_cast<std::size_t>(frame)] = 1;
  share.ranks().all_reduce(std::span<std::int64_t>(skipped));
  const std::vector<Index> before = scan.skip;
  scan.skip.clear();
  for (std::size_t j = 0; j < skipped.size(); ++j)
    if (skipped[j] > 0) scan.skip.push_back(static_cast<Index>(j));

  double sums[3] = {0, 0, 0};  // counts, frames with counts, frames that take part
  for (std::size_t i = 0; i < share.frames().size(); ++i) {
    const CountSums& frame = counts.measurement.sums()[i];
    sums[0] += frame.counts;
    sums[1] += frame.counts > 0 ? 1 : 0;
    sums[2] += std::binary_search(before.begin(), before.end(), share.frames()[i]) ? 0 : 1;
  }
  auto* mean = static_cast<double*>(counts.mean.data());
  for (Index p = 0; p < counts.mean.count(); ++p) mean[p] = sums[2] > 0 ? mean[p] * sums[2] : 0;
  share.sum(sums);
  share.sum({mean, static_cast<std::size_t>(counts.mean.count())});
  for (Index p = 0; p < counts.mean.count(); ++p) mean[p] /= sums[2];
  counts.measurement.take_mean(sums[0] / sums[1]);
  // All take what the first of them found: shares differ, and so may what a sample of them says.
  double unit[1] = {share.ranks().rank() == 0 ? counts.counts_per_unit : 0};
  share.sum(unit);
  counts.counts_per_unit = unit[0];
}

}  // namespace

std::shared_ptr<const Counts> read_counts(const RunFile& run, const Source& source, const JobPlan& plan) {
  Scan scan = plan.scan;
  LoadedCounts loaded = load_counts(
      source, scan, run.data, {.storage = plan.sizes.storage, .tier = plan.sizes.pattern_tier, .budgets = plan.budgets},
      plan.share ? plan.share->frames() : std::vector<Index>{});
  if (plan.share) join_counts(*plan.share, scan, loaded);
  auto counts = std::make_shared<Counts>();
  counts->measurement = std::make_shared<const Measurement>(std::move(loaded.measurement));
  counts->mean = std::move(loaded.mean);
  counts->skip = std::move(scan.skip);
  counts->counts_per_unit = loaded.counts_per_unit;
  counts->notes.assign(scan.notes.begin() + static_cast<std::ptrdiff_t>(plan.scan.notes.size()), scan.notes.end());
  counts->warnings = std::move(loaded.warnings);
  return counts;
}

}  // namespace sonde::ptycho

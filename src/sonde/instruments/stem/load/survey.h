// SPDX-License-Identifier: Apache-2.0
// Images without a load: a sample of the frames says where the pattern is and which pixels are bad, then every frame is
// read once and summed.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sonde/instruments/stem/image/mask.h"
#include "sonde/instruments/stem/load/dataset.h"

namespace sonde::stem {

/// Opens and validates a file as load() does.
[[nodiscard]] std::unique_ptr<Source> open_scan(const std::string& path, const LoadOptions& options,
                                                const Budget& budget);

/// Whether survey() takes such a source: integers of one frame per chunk, with sums of given bins, bad pixels judged by
/// a sample or not at all, and nothing that asks for elements in memory. Fewer than 100 frames are too few for a
/// sample.
[[nodiscard]] bool can_survey(const Source& source, const LoadOptions& options);

/// A data set that is held on file and of which a sample of at most 128 frames has been decoded: masks, bad pixels and
/// the sum of the pattern are those of the sample (Dataset::sampled_frames). `source` is that of open_scan. Throws
/// what load() throws before its pass.
[[nodiscard]] Dataset survey(std::unique_ptr<Source> source, const LoadOptions& options, const Budget& budget);

/// Whether sum_masks() evaluates so many masks on bit planes: up to fifteen, where frames are bitshuffle chunks.
[[nodiscard]] bool sums_on_planes(const Dataset& survey, std::size_t masks);

/// Whether it counts the electrons of lists, which are few enough for so many masks.
[[nodiscard]] bool sums_of_electrons(const Dataset& survey, std::size_t masks);

/// Sums over boolean masks of resident pixels, (positions) u64 each: every stored frame is read once, on all cores, and
/// summed on its bit planes (sums_on_planes), else decoded for a MaskSet, whatever the number of masks. The same
/// integers as from a load with these bad pixels. Records in the data set what the walk has shown: ledger, valid
/// positions, identity, "no data". Holds three batches of 8 MiB and 100 bytes for each position.
/// Throws Error(bad_file) for a broken frame, Error(bad_input) for a weighted mask, Error(interrupted).
[[nodiscard]] std::vector<Array> sum_masks(Dataset& survey, std::span<const Mask> masks);

/// Adds what was decided and measured before the data set existed: its first choice, and how long opening took.
void record_opening(Dataset& dataset, Choice<std::string> choice, double validate_s);

}  // namespace sonde::stem

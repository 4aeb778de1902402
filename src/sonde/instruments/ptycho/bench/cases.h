// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/engine/bench/case.h"
#include "sonde/instruments/ptycho/bench/live_case.h"

namespace sonde::ptycho {

/// Every case of `sonde bench ptycho`. The first operation of each is the floor F: two transforms per pattern and mode
/// on one thread, in place.
///   ptycho-engines  one iteration of every engine, whole-pixel positions, one mode
///   ptycho-modes    gd with one, three and five modes
///   ptycho-shift    the same engines between pixels, where F counts four transforms
///   ptycho-direct   single side band, parallax and the search for the focus; F: a transform per pair of images
///   ptycho-tiers    gd and dm with patterns or exit waves on the disk, beside all in memory
///   ptycho-metrics  gd by itself, and with all that a reconstruction adds to it
///   ptycho-live     the same while somebody looks at it, and while nobody does
///   ptycho-crossover  frame after frame, disjoint groups and overlapping batches over scans of growing size, on the
///                     CPU and on a GPU: from which size on which is the fastest
/// Their targets are stated with each case. `show` opens a page for a viewer.
[[nodiscard]] std::vector<BenchCase> bench_cases(ShowPage show);

}  // namespace sonde::ptycho

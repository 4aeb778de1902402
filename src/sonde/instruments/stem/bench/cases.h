// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/engine/bench/case.h"

namespace sonde::stem {

/// Every case of `sonde bench stem`, with floors (bytes) and packaged peers:
///   stem-decode    stored bytes in memory to elements in a touched buffer
///   stem-load      file to data set in fresh memory, frame-major and pixel-major
///   stem-bin       decode, mask and bin into a touched buffer
///   stem-bitplane  bright-field image straight from compressed bytes
///   stem-index     chunk index of 10,000 frames
///   stem-image     virtual images and drag steps on a resident scan
///   stem-view      commands of the viewer, from the command to the frame
///   stem-density   the same image from planes, from frames, by complement, for masks of every size
///   stem-dose      decoding and bit planes for frames of every dose
/// and of `sonde bench stem-analysis`, which compares with reading, transforms and products in the same run:
///   -com, -rings, -masks, -radial   sums over frames in memory
///   -disks, -orient, -phase, -strain
///   -frames, -disk-count            how times grow
///   -file                           a scan on disk
[[nodiscard]] std::vector<BenchCase> bench_cases();

}  // namespace sonde::stem

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/bench/case.h"
#include "sonde/instruments/stem/read/source.h"
#include "sonde/instruments/stem/simulate/presets.h"

namespace sonde::stem {

/// The master file of a reference scan (128 x 128 x 192 x 192 u16), written once into the folder of temporary files.
/// Throws Error(bad_input) when it compresses more easily or less easily than a measured scan (W1 9.7 +- 0.3 :
/// 1, W2 23 +- 1 : 1): a benchmark on easier data would be worth nothing.
[[nodiscard]] std::string workload_file(Workload which);

/// An opened scan with all stored bytes in memory.
struct HeldScan {
  std::unique_ptr<Source> source;
  RawBatch batch;
  [[nodiscard]] Index frames() const { return source->acquisition().frames; }
  [[nodiscard]] std::size_t frame_bytes() const;
  [[nodiscard]] double decoded_bytes() const;
};
[[nodiscard]] std::shared_ptr<HeldScan> hold_scan(Workload which);

/// A scan of u8, pixel-major in memory: planes, and the total of every position.
struct ResidentScan {
  Array planes, total;
};
/// W3: 256 x 256 x 96 x 96.
[[nodiscard]] std::shared_ptr<ResidentScan> resident_scan();
/// 512 x 512 x 192 x 192: the 16384 positions of W1 sixteen times over, since sums take as long whatever the counts
/// are. Throws Error(budget) where 9.7 GB are too much.
[[nodiscard]] std::shared_ptr<ResidentScan> full_size_scan();

/// Frames (positions, side, side) of u16 in memory: a strained crystal that diffracts into (2 orders + 1)^2 disks, one
/// count per pixel on average (generator A of the simulations). 512 are drawn, the rest are copies of them.
[[nodiscard]] std::shared_ptr<Array> disk_frames(Index positions, Index side, Index orders = 2);
/// As many frames of that size as 256 MiB hold: more than the caches.
[[nodiscard]] Index frames_beyond_caches(Index side);

/// Adds up all bytes as words of 64 bits, on all threads: the time of reading them.
std::uint64_t read_words(const void* from, std::size_t bytes);

/// A folder for the files of a case, kept from run to run.
[[nodiscard]] std::filesystem::path bench_folder(const std::string& name);

}  // namespace sonde::stem

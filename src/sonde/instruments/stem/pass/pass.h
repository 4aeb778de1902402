// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/instruments/stem/correct/bad_pixels.h"
#include "sonde/instruments/stem/pass/cleaning.h"
#include "sonde/instruments/stem/pass/grid.h"
#include "sonde/instruments/stem/pass/ledger_sum.h"
#include "sonde/instruments/stem/pass/operation.h"
#include "sonde/instruments/stem/read/source.h"

namespace sonde::stem {

/// One walk over stored frames: which ones, and how they are cleaned before any operation sees them.
struct PassSettings {
  DetectorGrid detector;
  ScanGrid scan;
  std::vector<std::uint32_t> mask_bits;       ///< (rows, cols) of the stored detector; bad pixels become zero first
  std::vector<Interpolation> interpolations;  ///< then these are filled in
  /// Pixels that a sample says are bad, ascending: zeroed like the masked ones, but their own sums still go into
  /// input_sum, so that the exact rule can judge them after the pass.
  std::vector<Index> suspects;
  BinMode mode = BinMode::sum;
  OnError on_error = OnError::fail;
  /// Elements that are not finite are handed on as they are instead of as zero. Sums over them are not finite either:
  /// for passes that are wanted for their elements only.
  bool keep_not_finite = false;
  /// S of the stored detector is summed. Where stored frames are resident frames PatternStatistics has it, but for the
  /// suspects.
  bool sum_stored = true;
  std::size_t batch_bytes = std::size_t{8} << 20;
  std::string stage = "loading";  ///< what progress is called; empty: none is reported
};

/// Whether stored frames are resident frames, so that nothing is summed in bins.
[[nodiscard]] bool is_plain(const PassSettings& settings);

/// What cleaning found. Sums are over good pixels, exact for counts; those of floats are rounded in an order that the
/// scan decides, not the number of threads or the size of batches.
struct PassResult {
  /// (rows, cols) u64 or f64: S on the stored detector, before binning; without sum_stored only that of suspects.
  Array input_sum;
  std::vector<std::uint64_t> sentinels_per_pixel;  ///< (rows, cols) of the stored detector
  std::vector<std::uint8_t> valid;                 ///< (position): 0 where no frame exists or all failed
  double suspects_largest = 0;                     ///< largest stored value of a suspect
  double largest = 0;                              ///< largest resident value (exact below 2^53)
  std::uint64_t sentinels = 0;         ///< "no data" values in good pixels: the sentinel; of floats NaN and infinity
  std::uint64_t sentinel_frames = 0;   ///< frames that hold such values
  std::uint64_t masked_sentinels = 0;  ///< and in masked ones
  LedgerSum masked;                    ///< values in masked pixels, without "no data"
  std::uint64_t saturated = 0;         ///< good values above the detector's saturation value
  std::uint64_t frames = 0;            ///< stored frames decoded
  bool by_events = false;              ///< they were lists of electrons, and no frame was made of one
  std::vector<FailedFrame> failed;     ///< with on_error zero
  std::size_t stored_bytes = 0;
  std::uint64_t content_hash = 0;  ///< XXH3 of the sizes and bytes of all frames read, in stored order
  StageSeconds seconds;
  std::vector<double> operation_s;  ///< (operation) seconds, summed over threads
};

/// Reads all batches (a reader thread keeps ahead), decodes, masks and bins on all cores, and hands the clean frames to
/// every operation while they are in the cache. Where frames are lists of electrons and every operation takes lists,
/// none is made: the cost is that of the electrons, and sums of counts are the same bits. Throws what the source
/// throws, what operations say of their settings before any frame is read, and Error(interrupted) between batches.
[[nodiscard]] PassResult run_pass(Source& source, const PassSettings& settings, std::span<Operation* const> operations);

/// The settings of a pass over some resident positions only, ascending; in its results they are numbered in this order.
[[nodiscard]] PassSettings only_at(PassSettings settings, std::vector<Index> positions);
/// And over a rectangle of them.
[[nodiscard]] PassSettings part_of(PassSettings settings, const ScanRegion& part);

/// Bytes a pass holds besides resident elements: ring of compressed buffers (of the largest batch each, together no
/// more than the scan has), schedule, scratch of every worker, and what the operations say.
[[nodiscard]] std::size_t pass_bytes(const PassSettings& settings, DType stored, std::span<Operation* const> operations,
                                     std::size_t largest_batch_bytes, std::size_t scan_bytes, int workers);

}  // namespace sonde::stem

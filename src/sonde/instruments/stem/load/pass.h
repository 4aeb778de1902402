// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/base/choice.h"
#include "sonde/engine/device/stream.h"
#include "sonde/instruments/stem/correct/bad_pixels.h"
#include "sonde/instruments/stem/layout/resident.h"
#include "sonde/instruments/stem/load/grid.h"
#include "sonde/instruments/stem/load/ledger.h"
#include "sonde/instruments/stem/read/source.h"

namespace sonde {
class Error;
}

namespace sonde::stem {

/// Where a pass puts the resident elements.
enum class Destination { none, frames, planes };

enum class BinMode { sum, mean };
enum class OnError { fail, zero };

/// One walk over all stored frames: what is done to them and where they go.
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
  DType out = DType::u16;  ///< u8, u16, u32 or f32
  bool saturate = false;   ///< values beyond `out` are clipped and counted; else the pass reports overflow
  Destination destination = Destination::none;
  /// Elements that are not finite are stored as they are instead of as zero. Sums over them are not finite either: for
  /// passes that are wanted for their elements only.
  bool keep_not_finite = false;
  std::size_t batch_bytes = std::size_t{8} << 20;
  std::string stage = "loading";  ///< what progress is called
};

/// Seconds of work in each stage, summed over threads (reading runs beside the others), and the time of the whole load.
/// validate is opening and checking the files, index the order of reading.
struct StageSeconds {
  double validate = 0, index = 0, read = 0, decode = 0, mask = 0, moments = 0, bin = 0, place = 0, wall = 0;
  void add(const StageSeconds& other);
};

struct FailedFrame {
  Index frame = 0;
  std::string reason;  ///< what is wrong and where: block, file, offset
};

/// What a decoding error says, in one line.
[[nodiscard]] std::string failure_reason(const Error& error);

/// What a pass found. Sums are over good pixels, exact for counts; those of floats are rounded in an order that the
/// scan decides, not the number of threads.
struct PassResult {
  Moments moments;  ///< on the resident grids
  Array input_sum;  ///< (rows, cols) u64 or f64: S on the stored detector, before binning
  std::vector<std::uint64_t> sentinels_per_pixel;  ///< (rows, cols) of the stored detector
  std::vector<std::uint8_t> valid;                 ///< (position): 0 where no frame exists or all failed
  double suspects_largest = 0;                     ///< largest stored value of a suspect
  double largest = 0;                              ///< largest resident value (exact below 2^53)
  bool overflow = false;        ///< `largest` does not fit into `out` and nothing was clipped: elements are not usable
  std::uint64_t clipped = 0;    ///< resident values set to the maximum of `out`
  std::uint64_t sentinels = 0;  ///< "no data" values in good pixels: the sentinel; of floats NaN and infinity
  std::uint64_t sentinel_frames = 0;   ///< frames that hold such values
  std::uint64_t masked_sentinels = 0;  ///< and in masked ones
  LedgerSum masked;                    ///< values in masked pixels, without "no data"
  LedgerSum clipped_counts;            ///< by how much `clipped` values exceeded the maximum, together
  std::uint64_t saturated = 0;         ///< good values above the detector's saturation value
  std::uint64_t frames = 0;            ///< stored frames decoded
  std::vector<FailedFrame> failed;     ///< with on_error zero
  std::size_t stored_bytes = 0;
  std::uint64_t content_hash = 0;  ///< XXH3 of the sizes and bytes of all frames read, in stored order
  StageSeconds seconds;
};

/// Reads all batches (a reader thread keeps ahead), decodes, masks, bins and sums on all cores, and writes resident
/// elements into `destination` (made by make_frames or make_planes with type `out`; ignored for Destination::none).
/// Throws what the source throws, and Error(interrupted) between batches.
[[nodiscard]] PassResult run_pass(Source& source, const PassSettings& settings, Array& destination);

/// The same with the destination (and so the sums) on the stream's device; pass_way says how. Moments and all else
/// come back to the host.
[[nodiscard]] PassResult run_pass(Stream& stream, Source& source, const PassSettings& settings, Array& destination);
/// Which processor decodes and sums in such a pass, and why: what a GPU has no kernels for is done by the CPU and
/// copied.
[[nodiscard]] Choice<std::string> pass_way(Device device, const Source& source, const PassSettings& settings);

/// The settings of a pass over some resident positions only, a rectangle of them.
[[nodiscard]] PassSettings part_of(PassSettings settings, const ScanRegion& part);

/// Bytes a pass holds besides the destination: ring of compressed buffers (of the largest batch each, together no more
/// than the scan has), schedule, sums, scratch of every worker.
[[nodiscard]] std::size_t pass_bytes(const PassSettings& settings, DType stored, std::size_t largest_batch_bytes,
                                     std::size_t scan_bytes, int workers);

/// What a few frames spread over the scan say before the pass.
struct ScanSample {
  double largest = 0;  ///< largest resident value with the pass's mask, suspects and bins: at most the true maximum
  Array sum;           ///< (rows, cols) u64 or f64: S over the sampled frames, suspects included
  Index frames = 0;
};
[[nodiscard]] ScanSample sample_scan(Source& source, const PassSettings& settings, Index samples);

}  // namespace sonde::stem

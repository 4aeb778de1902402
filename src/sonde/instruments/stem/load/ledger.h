// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "sonde/engine/options/value.h"
#include "sonde/instruments/stem/pass/ledger_sum.h"

namespace sonde::stem {

/// Where the values of all frames that were read went:
///   stored + interpolated = kept + masked + hot + clipped + cut
/// Each value has one fate, judged in the order masked, hot, cut, clipped. Values that mean "no data" are no counts:
/// they are numbers beside it. `stored` comes from the sums of pixels over frames, `kept` from the sums of frames over
/// pixels, so that the balance checks one by the other.
struct Ledger {
  bool counts = true;      ///< whole numbers; false: floating-point values, summed in f64, whose balance is rounded
  LedgerSum stored;        ///< all values of the frames read
  LedgerSum kept;          ///< the resident elements (of means: the sums that were divided)
  LedgerSum masked;        ///< in pixels that the mask of the file or a mask file calls bad
  LedgerSum hot;           ///< in pixels found bad and zeroed or interpolated
  LedgerSum clipped;       ///< beyond the largest value of the element type asked for
  LedgerSum cut;           ///< in pixels of incomplete bins at the edge that were dropped
  LedgerSum interpolated;  ///< put in where bad pixels were interpolated; not stored in the file
  LedgerSum marked;        ///< of `kept`: in pixels found bad and only marked

  std::uint64_t frames_read = 0;      ///< decoded, broken ones included, which are zero
  std::uint64_t frames_unread = 0;    ///< outside the region, dropped, or in incomplete bins of the scan
  std::uint64_t frames_broken = 0;    ///< of those read
  std::uint64_t empty_positions = 0;  ///< scan positions for which the file has no frame
  std::uint64_t no_data = 0;          ///< values in good pixels that mean "no data": sentinels, NaN, infinity
  std::uint64_t no_data_pixels = 0;   ///< in how many pixels
  std::uint64_t no_data_frames = 0;   ///< in how many frames
  std::uint64_t masked_no_data = 0;   ///< such values in masked pixels

  /// stored + interpolated - (kept + masked + hot + clipped + cut): 0 for counts.
  [[nodiscard]] double unexplained() const;
  /// {"stored": ..., "kept": ..., ..., "frames_read": ...}. Counts are whole numbers, beyond 63 bits texts of digits.
  [[nodiscard]] Value to_value() const;
  /// One line: "stored 1234 = kept 1200 + masked 34".
  [[nodiscard]] std::string text() const;
};

}  // namespace sonde::stem

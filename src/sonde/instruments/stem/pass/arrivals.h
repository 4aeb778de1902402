// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sonde/instruments/stem/pass/pass.h"

namespace sonde::stem {

/// Frames that come by themselves, such as those of a running detector, in any order.
class Arrivals {
 public:
  Arrivals() = default;
  Arrivals(const Arrivals&) = delete;
  Arrivals& operator=(const Arrivals&) = delete;
  virtual ~Arrivals() = default;

  /// Waits until frames have come and puts them into `frames`, in each one piece of one stored frame, `first` its
  /// number; `frames` holds buffers of earlier calls, which may be reused. False when no more will come. Called on a
  /// thread of the pass.
  [[nodiscard]] virtual bool next(std::vector<RawBatch>& frames) = 0;
};

/// What came, in frames: taken + repeated + outside is all of it.
struct ArrivalCounts {
  std::uint64_t taken = 0;
  std::uint64_t repeated = 0;  ///< their position had a frame: the first counts
  std::uint64_t outside = 0;   ///< beyond the scan, or of a position that is not asked for
  std::uint64_t missing = 0;   ///< positions for which none came
};

struct ArrivalResult {
  PassResult pass;  ///< its content hash is of the frames in the order in which they came
  ArrivalCounts counts;
};

/// run_pass for frames as they come: the operations see what has come so far after each batch (Operation::after_batch),
/// and at the end the positions that got no frame, as absent ones. Counts give the same bits as the file with these
/// frames; sums of floats over positions are rounded in the order of arrival. `source` decodes the frames and is not
/// read. Throws what run_pass and `arrivals` throw, and Error(not_supported) where several frames are one position.
[[nodiscard]] ArrivalResult run_pass(Source& source, Arrivals& arrivals, const PassSettings& settings,
                                     std::span<Operation* const> operations);

}  // namespace sonde::stem

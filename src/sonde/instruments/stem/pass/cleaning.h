// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/engine/base/index.h"

namespace sonde {
class Error;
}

namespace sonde::stem {

enum class BinMode { sum, mean };
enum class OnError { fail, zero };

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

}  // namespace sonde::stem

// SPDX-License-Identifier: Apache-2.0
// Private to the room: what a Dataset holds.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "sonde/instruments/stem/load/dataset.h"
#include "sonde/instruments/stem/load/load_pass.h"

namespace sonde::stem {

struct Dataset::State {
  std::unique_ptr<Source> source;
  mutable std::mutex reading;  // a Source reads for one thread at a time; const access to a Dataset is thread-safe
  LoadOptions options;
  PassSettings settings;  // as in the last pass: what pattern() and images from compressed bytes repeat
  ResidentSettings resident;
  LoadEstimate estimate;
  Budget budget{0, "none"};
  Reservation reservation;

  Array array;
  Moments moments;
  std::vector<std::uint32_t> mask_bits;
  std::vector<std::uint8_t> good, valid;
  std::vector<std::uint64_t> missing_per_pixel;
  std::vector<BadPixel> bad_pixels;
  Exactness exactness;
  Ledger ledger;
  Calibration calibration;
  StageSeconds seconds;
  std::vector<Choice<std::string>> choices;
  std::vector<FailedFrame> failed;
  std::size_t stored_bytes = 0;
  std::uint64_t content_hash = 0;
  Index sampled_frames = 0;  // of a survey
  int passes = 0;
  bool released = false;
};

}  // namespace sonde::stem
